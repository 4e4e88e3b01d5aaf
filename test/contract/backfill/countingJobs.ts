import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { withHash } from '#jobs/definition/hash.ts';
import { encodeOutput } from '#jobs/definition/outputType.ts';
import { readMark } from '#jobs/records/heartbeat.ts';
import { openJobs } from '#jobs/service/openJobs.ts';
import type { Jobs } from '#jobs/service/jobs.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { tempFolder } from '../../harness/temp.ts';
import { countingRunnerStandIn } from './countingRunner.ts';
import { Int32 } from '#arrow';

export const countingEntry = inRoot('test/contract/backfill/countingJob.ts');

// Use a separate folder, because functions accepted in this run must not affect the user's state.
process.env['XDG_DATA_HOME'] = tempFolder();

/** The runners that jobs start with: the stand-in under two names. */
export const countingRunners = {
  known: ['local', 'local-python'] as const,
  load: () => Promise.resolve(countingRunnerStandIn),
};

/** Returns a signal for calls that no test cancels, so that a hanging call ends. */
export const soon = (): AbortSignal => AbortSignal.timeout(60_000);

let made: Promise<string> | undefined;

/** Returns a directory with a table `words`, created once per file. */
const madeRoot = (): Promise<string> => (made ??= makeRoot());

async function makeRoot(): Promise<string> {
  const root = tempFolder();
  const db = await openDir({ root });
  await db.createTable('words', [{ text: 'one' }, { text: 'two' }]);
  await db.close();
  return root;
}

/** Jobs in a separate folder. Their runner waits until a test lets it continue. */
export type Counting = {
  readonly jobs: Jobs;
  readonly folder: string;
  readonly root: string;
  readonly gate: string;
  /** Allows fragments up to a number, or sets another action. */
  allow(word: number | string): void;
  request(more?: Partial<BackfillRequest>): BackfillRequest;
  /** Resolves with the job when the condition is true or the job has ended. */
  until(id: string, isFine: (view: JobView) => boolean): Promise<JobView>;
};

export async function countingJobs(folder: string = join(tempFolder(), 'jobs')): Promise<Counting> {
  const root = await madeRoot();
  const gate = join(tempFolder(), 'gate');
  const jobs = openJobs({ folder, entry: countingEntry, runners: countingRunners });
  const allow = (word: number | string): void => writeFileSync(gate, String(word));
  allow(0);
  // Processes that are started from now on inherit this variable.
  process.env['COUNTING_GATE'] = gate;
  const until = async (id: string, isFine: (view: JobView) => boolean): Promise<JobView> => {
    for await (const view of jobs.follow(id, soon())) if (isFine(view)) return view;
    return jobs.view(id, soon());
  };
  const request = (more: Partial<BackfillRequest> = {}): BackfillRequest => ({
    table: { catalog: { implementation: 'dir', root }, namespacePath: [], name: 'words' },
    column: 'length',
    runner: 'local',
    function: countingFunction,
    ...more,
  });
  return { jobs, folder, root, gate, allow, request, until };
}

/** A function that never runs, because the stand-in only counts. */
const countingFunction = withHash({
  kind: 'sql',
  expression: 'length(text)',
  name: 'length',
  version: '1',
  inputs: ['text'],
  output: encodeOutput('length', new Int32()),
  onError: { mode: 'fail' },
});

/** Returns the process id of a job. */
export function pidOf({ folder }: Counting, id: string): number {
  const mark = readMark(join(folder, id));
  assert.ok(mark, `job ${id} has a process`);
  return mark.pid;
}

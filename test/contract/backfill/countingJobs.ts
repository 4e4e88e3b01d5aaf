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

// What was agreed to on this machine is nobody's but this run's.
process.env['XDG_DATA_HOME'] = tempFolder();

/** The stand-in under the names of two runners, for who starts jobs. */
export const countingRunners = {
  known: ['local', 'local-python'] as const,
  load: () => Promise.resolve(countingRunnerStandIn),
};

/** A signal for calls that no test cancels; one that hangs is ended all the same. */
export const soon = (): AbortSignal => AbortSignal.timeout(60_000);

let made: Promise<string> | undefined;

/** A directory with a table `words`, made once for a file. */
const madeRoot = (): Promise<string> => (made ??= makeRoot());

async function makeRoot(): Promise<string> {
  const root = tempFolder();
  const db = await openDir({ root });
  await db.createTable('words', [{ text: 'one' }, { text: 'two' }]);
  await db.close();
  return root;
}

/** Jobs in a folder of their own, whose runner stands still until a test lets it go on. */
export type Counting = {
  readonly jobs: Jobs;
  readonly folder: string;
  readonly root: string;
  readonly gate: string;
  /** Lets fragments go up to a number, or says what else is to happen. */
  allow(word: number | string): void;
  request(more?: Partial<BackfillRequest>): BackfillRequest;
  /** The job as soon as it is as wanted, or has ended. */
  until(id: string, isFine: (view: JobView) => boolean): Promise<JobView>;
};

export async function countingJobs(folder: string = join(tempFolder(), 'jobs')): Promise<Counting> {
  const root = await madeRoot();
  const gate = join(tempFolder(), 'gate');
  const jobs = openJobs({ folder, entry: countingEntry, runners: countingRunners });
  const allow = (word: number | string): void => writeFileSync(gate, String(word));
  allow(0);
  // Inherited by the processes that are started from now on.
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

/** A function that nobody runs: the stand-in only counts. */
const countingFunction = withHash({
  kind: 'sql',
  expression: 'length(text)',
  name: 'length',
  version: '1',
  inputs: ['text'],
  output: encodeOutput('length', new Int32()),
  onError: { mode: 'fail' },
});

/** The process of a job. */
export function pidOf({ folder }: Counting, id: string): number {
  const mark = readMark(join(folder, id));
  assert.ok(mark, `job ${id} has a process`);
  return mark.pid;
}

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { Int32 } from '#arrow';
import { encodeOutput } from '#jobs/definition/outputType.ts';
import { withHash } from '#jobs/definition/hash.ts';
import { createRayRunner } from '#jobs/runners/ray/rayRunner.ts';
import type { NewEvent, RunContext } from '#jobs/runners/runner.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';
import type { RayPlace } from '#shared/jobs/backfill.ts';
import type { ComputedFunction, FunctionBody, OnError } from '#shared/jobs/computedFunction.ts';
import type { JobError } from '#shared/jobs/jobErrors.ts';
import { newJobId } from '#shared/jobs/jobId.ts';
import { temporaryFolder } from '../../../scripts/processes.ts';
import { until } from './processes.ts';

/** The length of a string, as a function of each kind. */
const bodies = {
  sql: { kind: 'sql', expression: 'CAST(character_length(text) AS INT)' },
  // Count characters, not UTF-16 code units, because Arrow counts characters, too.
  typescript: {
    kind: 'typescript',
    takes: 'row',
    code: 'export default ({ text }) => Array.from(text).length;',
    source: '({ text }) => Array.from(text).length',
  },
  python: { kind: 'python', takes: 'row', entry: 'length', code: 'def length(text):\n    return len(text)\n' },
} as const satisfies Record<string, FunctionBody>;

export type Kind = keyof typeof bodies;

/** Returns a function that computes the length of a string into a column. */
export const lengthFunction = (
  column: string,
  body: FunctionBody | Kind,
  { inputs = ['text'], onError = { mode: 'fail' } }: { inputs?: readonly string[]; onError?: OnError } = {},
): ComputedFunction =>
  withHash({
    name: 'length',
    version: '1',
    inputs,
    output: encodeOutput(column, new Int32()),
    onError,
    ...(typeof body === 'string' ? bodies[body] : body),
  });

/**
 * Returns a Python function over batches. It records how many rows it got, because a run that continues another run
 * must not compute a row twice. Before the batch that contains the row of a gate, the function waits until the gate's
 * file exists.
 */
export const countedFunction = (calls: string, { gates = [] }: { gates?: readonly Gate[] }): ComputedFunction =>
  lengthFunction(
    'length',
    {
      kind: 'python',
      takes: 'batch',
      entry: 'length',
      code: `
import os
import time
import pyarrow as pa
import pyarrow.compute as pc

gates = ${JSON.stringify(gates.map(({ from, file }) => [from, file]))}

def length(batch):
    for first, file in gates:
        while pc.max(batch["id"]).as_py() >= first and not os.path.exists(file):
            time.sleep(0.02)
    with open(${JSON.stringify(calls)}, "a") as file:
        file.write("%d\\n" % batch.num_rows)
    return pc.utf8_length(batch["text"]).cast(pa.int32())
`,
    },
    { inputs: ['id', 'text'] },
  );

/** A batch with an id of `from` or higher waits until `file` exists. */
export type Gate = { readonly from: number; readonly file: string };

export const gateAt = (from: number): Gate => ({ from, file: join(temporaryFolder('gate-'), 'open') });

export const open = ({ file }: Gate): void => writeFileSync(file, '');

/** Returns the total number of rows that a counted function got. */
export const rowsCalled = (calls: string): number =>
  (existsSync(calls) ? readFileSync(calls, 'utf8') : '').split('\n').reduce((sum, line) => sum + Number(line), 0);

export type RayRun = {
  readonly events: NewEvent[];
  /** Returns the log of the runner. */
  log(): string;
  /** The data that the runner stores for the next process. */
  readonly kept: Map<string, string>;
  readonly spec: JobSpec;
  /** Aborting this cancels the run. */
  readonly cancelled: AbortController;
  readonly ended: Promise<void>;
};

export type RayRunOptions = {
  readonly ray: RayPlace;
  readonly uri: string;
  /** Default: `length`. */
  readonly column?: string;
  readonly function: ComputedFunction;
  readonly more?: Partial<Pick<JobSpec, 'concurrency' | 'checkpointSize' | 'commitGranularity' | 'numFrags' | 'where'>>;
  /** Settings of the object store. */
  readonly storageOptions?: Readonly<Record<string, string>>;
  /** The earlier run that this run continues. */
  readonly after?: Pick<RayRun, 'kept' | 'spec'>;
  readonly onEvent?: (event: NewEvent) => void;
  readonly silence?: number | undefined;
};

const running = new Set<RayRun>();

/** Cancels the runs that have not ended. */
export function cancelRuns(): void {
  for (const { cancelled } of running) cancelled.abort();
}

/** Runs a job with the runner `ray` in this process instead of a separate one. */
export function runOnRay(options: RayRunOptions): RayRun {
  const { ray, uri, column = 'length', more = {}, after, onEvent, silence } = options;
  const events: NewEvent[] = [];
  const kept = after?.kept ?? new Map<string, string>();
  const cancelled = new AbortController();
  let log = '';
  const spec: JobSpec = {
    version: 1,
    jobId: after?.spec.jobId ?? newJobId(Date.now(), randomBytes(8)),
    table: { uri, storageOptions: options.storageOptions ?? {} },
    column,
    function: options.function,
    where: undefined,
    concurrency: 2,
    taskSize: undefined,
    checkpointSize: 4096,
    commitGranularity: 8,
    numFrags: undefined,
    readVersion: undefined,
    ...more,
  };
  const context: RunContext = {
    spec,
    request: {
      table: { catalog: { implementation: 'dir', root: join(uri, '..') }, namespacePath: [], name: 't' },
      column,
      ray,
      concurrency: spec.concurrency,
    },
    emit: (event) => {
      events.push(event);
      onEvent?.(event);
    },
    log: (text) => (log += text),
    folder: temporaryFolder('job-'),
    kept: { get: (name) => kept.get(name), set: (name, value) => void kept.set(name, value) },
    signal: cancelled.signal,
  };
  const ended = createRayRunner(silence).run(context);
  const run = { events, log: () => log, kept, spec, cancelled, ended };
  running.add(run);
  // A caller that awaits `ended` gets the failure. Handle it here, too, because without such a caller it would count as
  // unhandled.
  void ended.catch(() => {}).finally(() => running.delete(run));
  return run;
}

/** Returns the events of a kind. */
export const ofKind = <K extends NewEvent['kind']>(
  events: readonly NewEvent[],
  kind: K,
): Extract<NewEvent, { kind: K }>[] =>
  events.filter((event): event is Extract<NewEvent, { kind: K }> => event.kind === kind);

/** Waits until a counted function has received this many rows. */
export const untilRows = (calls: string, rows: number, run: RayRun): Promise<void> =>
  until(`${rows} rows`, async () => rowsCalled(calls) >= rows, {
    limit: 120_000,
    told: () => `${JSON.stringify(run.events)}\n${run.log()}`,
  });

/** Returns the error with which a run failed. */
export async function failureOf(run: RayRun): Promise<JobError> {
  const [result] = await Promise.allSettled([run.ended]);
  assert.ok(result.status === 'rejected', 'it succeeded');
  return result.reason as JobError;
}

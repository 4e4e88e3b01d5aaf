import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DataType, Int32 } from '#arrow';
import { withHash } from '#jobs/definition/hash.ts';
import { encodeOutput } from '#jobs/definition/outputType.ts';
import { type DriverRun, runDriver } from '#jobs/driver/driverProcess.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';
import type { FunctionBody, OnError } from '#shared/jobs/computedFunction.ts';
import { isJobError, type JobErrorKind } from '#shared/jobs/jobErrors.ts';
import type { JobEvent, JobEventKind } from '#shared/jobs/jobEvents.ts';
import { python } from '../../../harness/needs/python.ts';
import { tempFolder } from '../../../harness/temp.ts';
import type { At } from '../backfillTables.ts';

export const functionOf = (
  body: FunctionBody,
  options: { inputs?: readonly string[]; onError?: OnError; type?: DataType } = {},
) =>
  withHash({
    ...body,
    name: 'f',
    version: '1',
    inputs: options.inputs ?? ['text'],
    output: encodeOutput('c', options.type ?? new Int32()),
    onError: options.onError ?? { mode: 'fail' },
  });

export const sql = (expression: string): FunctionBody => ({ kind: 'sql', expression });
export const pythonRow = (code: string): FunctionBody => ({ kind: 'python', takes: 'row', entry: 'f', code });
export const pythonBatch = (code: string): FunctionBody => ({ kind: 'python', takes: 'batch', entry: 'f', code });
export const typescriptRow = (code: string): FunctionBody => ({ kind: 'typescript', takes: 'row', code, source: code });

/**
 * Returns a Python function that records every call in a file. For rows whose `id` is at least `from`, it waits until
 * the file `gate` exists.
 */
export function gatedPython(folder: string, from: number): { body: FunctionBody; calls: () => string[]; gate: string } {
  const [counts, gate] = [join(folder, 'calls'), join(folder, 'gate')];
  const code = `
import os, time
def f(id, text):
    with open(${JSON.stringify(counts)}, 'a') as file:
        file.write(f'{id}\\n')
    while id >= ${from} and not os.path.exists(${JSON.stringify(gate)}):
        time.sleep(0.01)
    return None if text is None else len(text)
`;
  const calls = (): string[] => {
    try {
      return readFileSync(counts, 'utf8').trimEnd().split('\n');
    } catch {
      return [];
    }
  };
  return { body: pythonRow(code), calls, gate };
}

/** Returns a validator for `assert.rejects` of the expected failure of a job. */
export const failing =
  (kind: JobErrorKind, words: RegExp) =>
  (error: unknown): boolean => {
    assert.ok(isJobError(error), String(error));
    assert.equal(error.kind, kind, error.message);
    assert.match(error.message, words);
    return true;
  };

let jobs = 0;

export const specOf = (at: At, fn: JobSpec['function'], more: Partial<JobSpec> = {}): JobSpec => ({
  version: 1,
  jobId: `bf-test-${process.pid}-${++jobs}`,
  table: { uri: at.uri, storageOptions: at.options ?? {} },
  column: 'c',
  function: fn,
  where: undefined,
  concurrency: 2,
  taskSize: undefined,
  checkpointSize: 200,
  commitGranularity: 3,
  numFrags: undefined,
  readVersion: undefined,
  ...more,
});

/** A running driver, with its events and its log so far. */
export type Driving = {
  readonly done: Promise<Record<string, unknown> | undefined>;
  readonly events: JobEvent[];
  readonly log: string[];
  readonly controller: AbortController;
  /** Resolves with the first event of a kind. Rejects if the driver ends without it. */
  first<K extends JobEventKind>(kind: K): Promise<Extract<JobEvent, { kind: K }>>;
  all<K extends JobEventKind>(kind: K): Extract<JobEvent, { kind: K }>[];
};

export function drive(spec: JobSpec, more: Partial<DriverRun> = {}): Driving {
  const events: JobEvent[] = [];
  const log: string[] = [];
  const controller = new AbortController();
  const waiting = new Set<() => void>();
  const folder = tempFolder();
  mkdirSync(folder, { recursive: true });
  const all = <K extends JobEventKind>(kind: K) =>
    events.filter((event): event is Extract<JobEvent, { kind: K }> => event.kind === kind);
  const done = runDriver({
    python: python(),
    spec,
    mode: 'run',
    folder,
    onEvent: (event) => {
      events.push(event);
      for (const look of waiting) look();
    },
    log: (text) => void log.push(text),
    signal: controller.signal,
    ...more,
  });
  // Callers of `done` get the failure. Handle it here, too, because without a caller it would count as unhandled.
  done.catch(() => {});
  return {
    done,
    events,
    log,
    controller,
    all,
    first: async (kind) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const [found] = all(kind);
          if (!found) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
        done.then(
          () => reject(new Error(`It ended without "${kind}".`)),
          (error: unknown) => reject(error as Error),
        );
      }),
  };
}

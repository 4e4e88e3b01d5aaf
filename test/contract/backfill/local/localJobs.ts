import { createHash } from 'node:crypto';
import { type DataType, Field, Int32, Schema, Table as ArrowTable, tableToIPC } from '#arrow';
import type { JobSpec } from '#jobs/jobSpec.ts';
import type { NewEvent, RunContext } from '#jobs/runners/runner.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import type { ComputedFunction, FunctionBody } from '#shared/jobs/computedFunction.ts';
import type { JobEvent } from '#shared/jobs/jobEvents.ts';
import { tempFolder } from '../../../harness/temp.ts';

/** Returns a function in its registered form, for tests of runners. */
export function functionOf(
  column: string,
  body: FunctionBody,
  inputs: readonly string[] = ['text'],
  type: DataType = new Int32(),
): ComputedFunction {
  const output = Buffer.from(tableToIPC(new ArrowTable(new Schema([new Field(column, type, true)])))).toString(
    'base64',
  );
  const hash = createHash('sha256')
    .update(JSON.stringify([body, inputs, output]))
    .digest('hex');
  return { name: column, version: '1', hash, inputs, output, onError: { mode: 'fail' }, ...body };
}

/** Returns a TypeScript function of a row. */
export const rowFunction = (
  column: string,
  code: string,
  inputs?: readonly string[],
  type?: DataType,
): ComputedFunction => functionOf(column, { kind: 'typescript', takes: 'row', code, source: code }, inputs, type);

export type LocalJob = {
  readonly catalog: CatalogConfig;
  readonly namespacePath?: readonly string[];
  readonly table: string;
  /** Default: the name of the function. */
  readonly column?: string;
  readonly function: ComputedFunction;
  readonly options?: Partial<BackfillRequest> & Partial<JobSpec>;
  readonly uri?: string;
  readonly folder?: string;
  /** Whether the job sets no commit granularity. Default: false; the job commits after each fragment. */
  readonly commitsByDefault?: boolean;
};

/** Returns the context for a runner; its events are collected in `events`. */
export function contextOf(job: LocalJob, onEvent: (event: NewEvent) => void = () => undefined) {
  const { catalog, namespacePath = [], table, function: fn, options = {}, uri = '' } = job;
  const {
    where,
    concurrency = 2,
    taskSize,
    checkpointSize = 1000,
    commitGranularity = job.commitsByDefault === true ? undefined : 1,
    numFrags,
    readVersion,
    jobId = 'bf-test',
  } = options;
  const { column = fn.name } = job;
  const spec: JobSpec = {
    version: 1,
    jobId,
    table: { uri, storageOptions: catalog.implementation === 'dir' ? (catalog.storageOptions ?? {}) : {} },
    column,
    function: fn,
    where,
    concurrency,
    taskSize,
    checkpointSize,
    commitGranularity,
    numFrags,
    readVersion,
  };
  const request: BackfillRequest = { ...options, table: { catalog, namespacePath, name: table }, column, function: fn };
  const events: NewEvent[] = [];
  const abort = new AbortController();
  const kept = new Map<string, string>();
  const context: RunContext = {
    spec,
    request,
    emit: (event) => {
      events.push(event);
      onEvent(event);
    },
    log: () => undefined,
    folder: job.folder ?? tempFolder(),
    kept: { get: (name) => kept.get(name), set: (name, value) => void kept.set(name, value) },
    signal: abort.signal,
  };
  return { context, events, abort };
}

/** Returns the events of a kind. */
export const eventsOf = <K extends JobEvent['kind']>(events: readonly NewEvent[], kind: K) =>
  events.filter((event): event is Extract<NewEvent, { kind: K }> => event.kind === kind);

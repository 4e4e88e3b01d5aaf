import { isCatalogConfig } from '#shared/catalogConfig.ts';
import { isRecord } from '#shared/records.ts';
import {
  type BackfillOptions,
  type BackfillRequest,
  type RayPlace,
  runnerNames,
  type TableReference,
} from './backfill.ts';
import type { ComputedFunction } from './computedFunction.ts';
import type { JobProgress } from './foldEvents.ts';
import type { RowError } from './jobEvents.ts';
import type { JobsHostMethods, JobsMethods } from './jobMessages.ts';
import type { JobState, JobTable, JobView } from './jobView.ts';

// Runtime checks of data from a wire or a file, before it is used as its type.

export type Check = (value: unknown) => boolean;

export const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
/** A finite number, not negative: rows, bytes, seconds, milliseconds since 1970. */
export const isAmount: Check = (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0;
export const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;

export const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

/** For files, which have null for `undefined`: JSON drops `undefined` in objects and can't have it in lists. */
export const nullable =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);

export const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

export const mapOf =
  (check: Check): Check =>
  (value) =>
    isRecord(value) && Object.values(value).every(check);

export const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);

const anyOf =
  (...checks: readonly Check[]): Check =>
  (value) =>
    checks.some((check) => check(value));

const allOf =
  (...checks: readonly Check[]): Check =>
  (value) =>
    checks.every((check) => check(value));

/** Checks the named fields of an object; other fields may be anything. */
export const shape =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isRecord(value) && Object.entries(fields).every(([name, check]) => check(value[name]));

/** Like `shape`, but complete for a type: a forgotten field does not compile. */
export const shapeOf = <T extends object>(fields: { readonly [K in keyof Required<T>]: Check }): Check => shape(fields);

const jobStates = [
  'queued',
  'starting',
  'running',
  'interrupted',
  'succeeded',
  'failed',
  'cancelled',
] as const satisfies readonly JobState[];

const isOnError = anyOf(
  shape({ mode: oneOf('fail', 'null', 'skip') }),
  shape({ mode: oneOf('retry'), attempts: isCount }),
);

/** Checks the shape of a `ComputedFunction`, but not its code. */
export const isComputedFunction: Check = allOf(
  shape({
    name: isText,
    version: isText,
    hash: isText,
    inputs: listOf(isText),
    output: isText,
    onError: isOnError,
  } satisfies { readonly [K in Exclude<keyof ComputedFunction, 'kind'>]: Check }),
  anyOf(
    shape({ kind: oneOf('sql'), expression: isText }),
    shape({ kind: oneOf('typescript'), takes: oneOf('row', 'batch'), code: isText, source: isText }),
    shape({ kind: oneOf('python'), takes: oneOf('row', 'batch'), code: isText, entry: isText }),
    shape({ kind: oneOf('server') }),
  ),
);

const isTableReference: Check = shapeOf<TableReference>({
  catalog: isCatalogConfig,
  connection: optional(isText),
  namespacePath: listOf(isText),
  name: isText,
});

export const isRunnerName: Check = oneOf(...runnerNames);

const hasRayPlace = anyOf(
  shape({ address: isText, token: optional(isText) }),
  shape({ profile: isText, rayCluster: optional(isText), folder: optional(isText) }),
  shape({ cluster: isRecord, rayCluster: isText }),
);

export function isRayPlace(value: unknown): value is RayPlace {
  return hasRayPlace(value);
}

export const isBackfillOptions: Check = shapeOf<BackfillOptions>({
  runner: optional(oneOf(...runnerNames, 'auto')),
  where: optional(isText),
  concurrency: optional(isCount),
  taskSize: optional(isCount),
  checkpointSize: optional(isCount),
  commitGranularity: optional(isCount),
  numFrags: optional(isCount),
  readVersion: optional(isCount),
  onError: optional(isOnError),
  key: optional(isText),
  ray: optional(isRayPlace),
  python: optional(isText),
});

/** Whether a value is a `BackfillRequest` with its catalog. */
export const isBackfillRequest: Check = allOf(
  isBackfillOptions,
  shapeOf<Omit<BackfillRequest, keyof BackfillOptions>>({
    table: isTableReference,
    column: isText,
    function: optional(isComputedFunction),
    allowStoredCode: optional(listOf(isText)),
  }),
);

export const isJobTable: Check = shapeOf<JobTable>({
  catalog: isText,
  implementation: oneOf('dir', 'rest'),
  namespacePath: listOf(isText),
  name: isText,
});

export const isRowError: Check = shapeOf<RowError>({
  fragment: isCount,
  row: isCount,
  message: isText,
  inputs: mapOf(isText),
});

export const isJobProgress: Check = shapeOf<JobProgress>({
  state: oneOf(...jobStates),
  sentence: isText,
  failure: optional(shape({ code: isText, message: isText, hint: isText })),
  startedAt: optional(isAmount),
  endedAt: optional(isAmount),
  rows: shape({ done: isCount, total: optional(isCount), reused: isCount }),
  fragments: shape({ done: isCount, total: optional(isCount) }),
  rowsPerSecond: optional(isAmount),
  secondsLeft: optional(isAmount),
  errors: shape({ count: isCount, samples: listOf(isRowError) }),
  skipped: isCount,
  conflicts: isCount,
  bytesWritten: isAmount,
  version: optional(isCount),
  bottleneck: optional(isText),
});

export const isJobView: Check = allOf(
  isJobProgress,
  shapeOf<Omit<JobView, keyof JobProgress>>({
    id: isText,
    table: isJobTable,
    column: isText,
    functionName: isText,
    functionHash: isText,
    runner: isRunnerName,
    runnerReason: isText,
    options: isBackfillOptions,
    createdAt: isAmount,
    can: shape({ cancel: isFlag, resume: isFlag, retry: isFlag, remove: isFlag }),
  }),
);

const isFunctionSource = allOf(
  shape({ name: optional(isText), version: optional(isText) }),
  anyOf(
    shape({ kind: oneOf('sql'), expression: isText }),
    shape({ kind: oneOf('typescript'), file: isText, export: optional(isText) }),
    shape({
      kind: oneOf('python'),
      file: isText,
      entry: isText,
      takes: oneOf('row', 'batch'),
      inputs: listOf(isText),
      output: isText,
    }),
  ),
);

const isNothing = oneOf(null);
const onId = shape({ id: isText });

/** Checks of the parameters of a request to the jobs process, before it is handled. */
export const jobsChecks: { readonly [K in keyof JobsMethods]: Check } = {
  readFunction: shape({ table: isTableReference, column: isText, source: isFunctionSource }),
  register: shape({ table: isTableReference, column: isText, function: isComputedFunction }),
  computedColumns: shape({ table: isTableReference }),
  accept: shape({ hash: isText }),
  isAccepted: shape({ hash: isText }),
  plan: isBackfillRequest,
  try: isBackfillRequest,
  start: isBackfillRequest,
  list: isNothing,
  log: shape({ id: isText, from: isCount }),
  cancel: onId,
  resume: shape({ id: isText, request: optional(isBackfillRequest), runner: optional(isRunnerName) }),
  remove: onId,
  watch: isNothing,
};

/** Checks of messages from the jobs process to an editor. */
export const jobsHostChecks: { readonly [K in keyof JobsHostMethods]: Check } = {
  ready: isNothing,
  jobsChanged: shape({ changed: listOf(isJobView), removed: listOf(isText) }),
};

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

export const isString: Check = (value) => typeof value === 'string';
const isBoolean: Check = (value) => typeof value === 'boolean';
/** A finite number, not negative: rows, bytes, seconds, milliseconds since 1970. */
export const isNonNegativeNumber: Check = (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0;
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
export const shapeFor = <T extends object>(fields: { readonly [K in keyof Required<T>]: Check }): Check =>
  shape(fields);

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
    name: isString,
    version: isString,
    hash: isString,
    inputs: listOf(isString),
    output: isString,
    onError: isOnError,
  } satisfies { readonly [K in Exclude<keyof ComputedFunction, 'kind'>]: Check }),
  anyOf(
    shape({ kind: oneOf('sql'), expression: isString }),
    shape({ kind: oneOf('typescript'), takes: oneOf('row', 'batch'), code: isString, source: isString }),
    shape({ kind: oneOf('python'), takes: oneOf('row', 'batch'), code: isString, entry: isString }),
    shape({ kind: oneOf('server') }),
  ),
);

const isTableReference: Check = shapeFor<TableReference>({
  catalog: isCatalogConfig,
  connection: optional(isString),
  namespacePath: listOf(isString),
  name: isString,
});

export const isRunnerName: Check = oneOf(...runnerNames);

const hasRayPlace = anyOf(
  shape({ address: isString, token: optional(isString) }),
  shape({ profile: isString, rayCluster: optional(isString), folder: optional(isString) }),
  shape({ cluster: isRecord, rayCluster: isString }),
);

export function isRayPlace(value: unknown): value is RayPlace {
  return hasRayPlace(value);
}

export const isBackfillOptions: Check = shapeFor<BackfillOptions>({
  runner: optional(oneOf(...runnerNames, 'auto')),
  where: optional(isString),
  concurrency: optional(isCount),
  taskSize: optional(isCount),
  checkpointSize: optional(isCount),
  commitGranularity: optional(isCount),
  numFrags: optional(isCount),
  readVersion: optional(isCount),
  onError: optional(isOnError),
  key: optional(isString),
  ray: optional(isRayPlace),
  python: optional(isString),
});

/** Whether a value is a `BackfillRequest` with its catalog. */
export const isBackfillRequest: Check = allOf(
  isBackfillOptions,
  shapeFor<Omit<BackfillRequest, keyof BackfillOptions>>({
    table: isTableReference,
    column: isString,
    function: optional(isComputedFunction),
    allowStoredCode: optional(listOf(isString)),
  }),
);

export const isJobTable: Check = shapeFor<JobTable>({
  catalog: isString,
  implementation: oneOf('dir', 'rest'),
  namespacePath: listOf(isString),
  name: isString,
});

export const isRowError: Check = shapeFor<RowError>({
  fragment: isCount,
  row: isCount,
  message: isString,
  inputs: mapOf(isString),
});

export const isJobProgress: Check = shapeFor<JobProgress>({
  state: oneOf(...jobStates),
  sentence: isString,
  failure: optional(shape({ code: isString, message: isString, hint: isString })),
  startedAt: optional(isNonNegativeNumber),
  endedAt: optional(isNonNegativeNumber),
  rows: shape({ done: isCount, total: optional(isCount), reused: isCount }),
  fragments: shape({ done: isCount, total: optional(isCount) }),
  rowsPerSecond: optional(isNonNegativeNumber),
  secondsLeft: optional(isNonNegativeNumber),
  errors: shape({ count: isCount, samples: listOf(isRowError) }),
  skipped: isCount,
  conflicts: isCount,
  bytesWritten: isNonNegativeNumber,
  version: optional(isCount),
  bottleneck: optional(isString),
});

export const isJobView: Check = allOf(
  isJobProgress,
  shapeFor<Omit<JobView, keyof JobProgress>>({
    id: isString,
    table: isJobTable,
    column: isString,
    functionName: isString,
    functionHash: isString,
    runner: isRunnerName,
    runnerReason: isString,
    options: isBackfillOptions,
    createdAt: isNonNegativeNumber,
    can: shape({ cancel: isBoolean, resume: isBoolean, retry: isBoolean, remove: isBoolean }),
  }),
);

const isFunctionSource = allOf(
  shape({ name: optional(isString), version: optional(isString) }),
  anyOf(
    shape({ kind: oneOf('sql'), expression: isString }),
    shape({ kind: oneOf('typescript'), file: isString, export: optional(isString) }),
    shape({
      kind: oneOf('python'),
      file: isString,
      entry: isString,
      takes: oneOf('row', 'batch'),
      inputs: listOf(isString),
      output: isString,
    }),
  ),
);

const isNothing = oneOf(null);
const onId = shape({ id: isString });

/** Checks of the parameters of a request to the jobs process, before it is handled. */
export const jobsChecks: { readonly [K in keyof JobsMethods]: Check } = {
  readFunction: shape({ table: isTableReference, column: isString, source: isFunctionSource }),
  register: shape({ table: isTableReference, column: isString, function: isComputedFunction }),
  computedColumns: shape({ table: isTableReference }),
  accept: shape({ hash: isString }),
  isAccepted: shape({ hash: isString }),
  plan: isBackfillRequest,
  try: isBackfillRequest,
  start: isBackfillRequest,
  list: isNothing,
  log: shape({ id: isString, from: isCount }),
  cancel: onId,
  resume: shape({ id: isString, request: optional(isBackfillRequest), runner: optional(isRunnerName) }),
  remove: onId,
  watch: isNothing,
};

/** Checks of messages from the jobs process to an editor. */
export const jobsHostChecks: { readonly [K in keyof JobsHostMethods]: Check } = {
  ready: isNothing,
  jobsChanged: shape({ changed: listOf(isJobView), removed: listOf(isString) }),
};

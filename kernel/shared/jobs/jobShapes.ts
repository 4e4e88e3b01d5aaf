import { isCatalogConfig } from '#shared/catalogConfig.ts';
import { isRecord } from '#shared/records.ts';
import {
  anyOf,
  bothOf,
  type Check,
  isBoolean,
  isCount,
  isNonNegativeNumber,
  isString,
  listOf,
  mapOf,
  oneOf,
  optional,
  shape,
  shapeFor,
} from '#shared/shape.ts';
import {
  type BackfillOptions,
  type BackfillRequest,
  type RayPlace,
  readOnError,
  runnerNames,
  type RunnerName,
  type TableReference,
} from './backfill.ts';
import type { ComputedFunction, FunctionBody, OnError } from './computedFunction.ts';
import type { JobProgress } from './foldEvents.ts';
import type { RowError } from './jobEvents.ts';
import type { FunctionSource, JobsHostMethods, JobsMethods } from './jobMessages.ts';
import type { JobState, JobTable, JobView } from './jobView.ts';

const jobStates = [
  'queued',
  'starting',
  'running',
  'interrupted',
  'succeeded',
  'failed',
  'cancelled',
] as const satisfies readonly JobState[];

const isOnError: Check<OnError> = (value): value is OnError => readOnError(value) !== undefined;

/** Checks the shape of a `ComputedFunction`, but not its code. */
export const isComputedFunction: Check<ComputedFunction> = bothOf(
  shapeFor<Omit<ComputedFunction, keyof FunctionBody>>({
    name: isString,
    version: isString,
    hash: isString,
    inputs: listOf(isString),
    output: isString,
    onError: isOnError,
  }),
  anyOf(
    shape({ kind: oneOf('sql'), expression: isString }),
    shape({ kind: oneOf('typescript'), takes: oneOf('row', 'batch'), code: isString, source: isString }),
    shape({ kind: oneOf('python'), takes: oneOf('row', 'batch'), code: isString, entry: isString }),
    shape({ kind: oneOf('server') }),
  ),
);

const isTableReference = shapeFor<TableReference>({
  catalog: isCatalogConfig,
  connection: optional(isString),
  namespacePath: listOf(isString),
  name: isString,
});

export const isRunnerName: Check<RunnerName> = oneOf(...runnerNames);

export const isRayPlace: Check<RayPlace> = anyOf(
  shape({ address: isString, token: optional(isString) }),
  shape({ profile: isString, rayCluster: optional(isString), folder: optional(isString) }),
  shape({ cluster: isRecord, rayCluster: isString }),
);

export const isBackfillOptions: Check<BackfillOptions> = shapeFor<BackfillOptions>({
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
export const isBackfillRequest: Check<BackfillRequest> = bothOf(
  isBackfillOptions,
  shapeFor<Omit<BackfillRequest, keyof BackfillOptions>>({
    table: isTableReference,
    column: isString,
    function: optional(isComputedFunction),
    allowStoredCode: optional(listOf(isString)),
  }),
);

export const isJobTable: Check<JobTable> = shapeFor<JobTable>({
  catalog: isString,
  implementation: oneOf('dir', 'rest'),
  namespacePath: listOf(isString),
  name: isString,
});

export const isRowError: Check<RowError> = shapeFor<RowError>({
  fragment: isCount,
  row: isCount,
  message: isString,
  inputs: mapOf(isString),
});

export const isJobProgress: Check<JobProgress> = shapeFor<JobProgress>({
  state: oneOf(...jobStates),
  sentence: isString,
  failure: optional(shape({ code: isString, message: isString, hint: isString })),
  startedAt: optional(isNonNegativeNumber),
  endedAt: optional(isNonNegativeNumber),
  phase: optional(oneOf('computing', 'writing')),
  written: optional(isCount),
  share: optional(isNonNegativeNumber),
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

export const isJobView: Check<JobView> = bothOf(
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

const isFunctionSource: Check<FunctionSource> = bothOf(
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
export const jobsChecks: { readonly [K in keyof JobsMethods]: Check<JobsMethods[K][0]> } = {
  readFunction: shape({ table: isTableReference, column: isString, source: isFunctionSource }),
  register: shape({ table: isTableReference, column: isString, function: isComputedFunction }),
  computedColumns: shape({ table: isTableReference }),
  accept: shape({ hash: isString }),
  isAccepted: shape({ hash: isString }),
  plan: isBackfillRequest,
  try: isBackfillRequest,
  sample: isBackfillRequest,
  start: isBackfillRequest,
  list: isNothing,
  log: shape({ id: isString, from: isCount }),
  cancel: onId,
  resume: shape({ id: isString, request: optional(isBackfillRequest), runner: optional(isRunnerName) }),
  remove: onId,
  watch: isNothing,
};

/** Checks of messages from the jobs process to an editor. */
export const jobsHostChecks: { readonly [K in keyof JobsHostMethods]: Check<JobsHostMethods[K][0]> } = {
  ready: isNothing,
  jobsChanged: shape({ changed: listOf(isJobView), removed: listOf(isString) }),
};

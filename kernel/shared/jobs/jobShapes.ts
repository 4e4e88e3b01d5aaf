import { isCatalogConfig } from '#shared/catalogConfig.ts';
import { isRecord } from '#shared/records.ts';
import {
  runnerNames,
  type BackfillOptions,
  type BackfillRequest,
  type RayPlace,
  type TableReference,
} from './backfill.ts';
import type { ComputedFunction } from './computedFunction.ts';
import type { JobProgress } from './foldEvents.ts';
import type { RowError } from './jobEvents.ts';
import type { JobState, JobTable, JobView } from './jobView.ts';
import {
  allOf,
  anyOf,
  isAmount,
  isCount,
  isFlag,
  isText,
  listOf,
  mapOf,
  oneOf,
  optional,
  shape,
  shapeOf,
  type Check,
} from './shapes.ts';

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

/** Whether something is a `ComputedFunction`: of its code nothing is known. */
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

export const isTableReference: Check = shapeOf<TableReference>({
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

/** Whether something is a `RayPlace`. */
export function isRayPlace(value: unknown): value is RayPlace {
  return hasRayPlace(value);
}

/** Whether something is a `BackfillOptions`. */
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

/** Whether something is a `BackfillRequest` with its catalog. */
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

/** Whether something is a `JobProgress`. */
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

/** Whether something is a `JobView`. */
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

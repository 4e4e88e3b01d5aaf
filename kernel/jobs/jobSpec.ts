import { availableParallelism } from 'node:os';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { toSnake } from '#shared/jobs/caseKeys.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { onCatalog } from './openCatalog.ts';

/**
 * One backfill as all runners understand it, with everything decided. On the wire and in files it is JSON with the
 * specification's names in snake_case ("BackfillColumnRequest").
 */
export type JobSpec = {
  /** Version of this shape. */
  readonly version: 1;
  readonly jobId: string;
  readonly table: {
    /** Directory or object store address of the Lance dataset. */
    readonly uri: string;
    /** Settings of the object store. They may hold secrets: by a pipe or the environment alone, never in a record. */
    readonly storageOptions: Readonly<Record<string, string>>;
  };
  readonly column: string;
  readonly function: ComputedFunction;
  /** SQL that says which rows; those where the column is null when nothing is said. */
  readonly where: string | undefined;
  /** How many compute at once. */
  readonly concurrency: number;
  /** Rows of a task at most; a fragment is one task where nothing is said. */
  readonly taskSize: number | undefined;
  /** Rows after which what was computed is kept. */
  readonly checkpointSize: number;
  /** Fragments after which what was computed is committed. */
  readonly commitGranularity: number;
  /** Only so many fragments. */
  readonly numFrags: number | undefined;
  /** The version of the table that inputs are read at; the latest where nothing is said. */
  readonly readVersion: number | undefined;
};

/** Whether a job is about all rows without a value, those too that come while it runs. */
export const isOpenEnded = ({ where, numFrags, readVersion }: JobSpec): boolean =>
  where === undefined && numFrags === undefined && readVersion === undefined;

/** A job with its keys in snake_case, as drivers read it. It holds the settings of the object store: by a pipe alone. */
export const specToJson = (spec: JobSpec): Record<string, unknown> => toSnake(spec) as Record<string, unknown>;

/** The same without anything that may be a secret, for files. */
export const specWithoutSecrets = (spec: JobSpec): Record<string, unknown> =>
  specToJson({ ...spec, table: { ...spec.table, storageOptions: {} } });

/** What is taken where a request says nothing. Plans say the same. */
const jobDefaults = {
  /** More than this seldom pays on one machine: reading and writing are shared. */
  concurrency: Math.min(8, availableParallelism()),
  /** Rows; of a function that takes a second a row, what is lost at worst is an hour of one worker. */
  checkpointSize: 4096,
  /** Fragments. */
  commitGranularity: 8,
} as const;

/**
 * The job that a request means, with everything decided. The catalog is asked where the table is.
 * @param request with its function
 * @throws JobError FunctionMissing; CatalogError as `describeTable`
 */
export async function specOf(jobId: string, request: BackfillRequest, signal: AbortSignal): Promise<JobSpec> {
  const { table, column, where, taskSize, numFrags, readVersion, onError } = request;
  if (!request.function)
    throw new JobError('FunctionMissing', `Nothing says how "${column}" is computed.`, 'Give a function.');
  const { catalog, namespacePath, name } = table;
  if (where?.trim() === '')
    throw new JobError(
      'RequestInvalid',
      'The rows are said by an empty "where".',
      `Leave it out for the rows in which "${column}" is null, or write "true" for all.`,
    );
  const { location } = await onCatalog(catalog, signal, (opened) =>
    opened.describeTable(name, { namespacePath, signal }),
  );
  const storageOptions = catalog.implementation === 'dir' ? (catalog.storageOptions ?? {}) : {};
  return {
    version: 1,
    jobId,
    // A server may keep to itself where its tables are; runners that need to know refuse such tables.
    table: { uri: location ?? '', storageOptions },
    column,
    function: onError ? { ...request.function, onError } : request.function,
    where,
    concurrency: request.concurrency ?? jobDefaults.concurrency,
    taskSize,
    checkpointSize: request.checkpointSize ?? jobDefaults.checkpointSize,
    commitGranularity: request.commitGranularity ?? jobDefaults.commitGranularity,
    numFrags,
    readVersion,
  };
}

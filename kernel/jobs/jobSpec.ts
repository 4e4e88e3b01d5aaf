import { availableParallelism } from 'node:os';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { toSnake } from '#shared/jobs/caseKeys.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { withCatalog } from './openCatalog.ts';

/**
 * One backfill with all defaults resolved. Its JSON form uses snake_case. An option that also exists in the Lance
 * Namespace specification ("BackfillColumnRequest") has the same name there.
 */
export type JobSpec = {
  readonly version: 1;
  readonly jobId: string;
  readonly table: {
    /** Directory or URL of the Lance dataset. */
    readonly uri: string;
    /** May hold secrets: pass them by a pipe or the environment only, never in a record. */
    readonly storageOptions: Readonly<Record<string, string>>;
  };
  readonly column: string;
  readonly function: ComputedFunction;
  /** SQL filter. Default: rows where the column is null. */
  readonly where: string | undefined;
  /** Number of workers. */
  readonly concurrency: number;
  /** Maximum rows of a task. Default: a task is one fragment. */
  readonly taskSize: number | undefined;
  /** Rows between two checkpoints. */
  readonly checkpointSize: number;
  /** Fragments between two commits. Default: the result of `fragmentsPerCommit`. */
  readonly commitGranularity: number | undefined;
  /** Maximum number of fragments. */
  readonly numFrags: number | undefined;
  /** Version that inputs are read from. Default: the latest. */
  readonly readVersion: number | undefined;
};

/** Whether a job includes rows that are added while it runs. */
export const isOpenEnded = ({ where, numFrags, readVersion }: JobSpec): boolean =>
  where === undefined && numFrags === undefined && readVersion === undefined;

/** Converts a job to JSON for drivers. May hold secrets: send it through a pipe only. */
export const specToJson = (spec: JobSpec): Record<string, unknown> => toSnake(spec) as Record<string, unknown>;

/** Converts a job to JSON for files, without secrets. */
export const specWithoutSecrets = (spec: JobSpec): Record<string, unknown> =>
  specToJson({ ...spec, table: { ...spec.table, storageOptions: {} } });

const jobDefaults = {
  /** Limited to 8, because on one machine more workers rarely help: they share reading and writing. */
  concurrency: Math.min(8, availableParallelism()),
  /** Rows. At one second per row, a crash costs about an hour of one worker. */
  checkpointSize: 4096,
} as const;

const leastFragments = 8;
const mostCommits = 32;

/**
 * Returns how many of a job's fragments are committed together. Each commit writes a manifest with all fragments of the
 * table. With a fixed number of fragments per commit, the bytes of all manifests would grow with the square of the
 * number of fragments. Rare commits lose nothing, because a killed job finds computed rows in its checkpoints.
 */
export const fragmentsPerCommit = (
  { commitGranularity }: Pick<JobSpec, 'commitGranularity'>,
  fragments: number,
): number => commitGranularity ?? Math.max(leastFragments, Math.ceil(fragments / mostCommits));

/**
 * Converts a request to a job. The request must have a function.
 * @throws JobError FunctionMissing if the request has no function, RequestInvalid if `where` is empty; CatalogError as
 * `describeTable`
 */
export async function specOf(jobId: string, request: BackfillRequest, signal: AbortSignal): Promise<JobSpec> {
  const { table, column, where, taskSize, numFrags, readVersion, onError } = request;
  if (!request.function)
    throw new JobError('FunctionMissing', `No function is set for column "${column}".`, 'Set a function.');
  const { catalog, namespacePath, name } = table;
  if (where?.trim() === '')
    throw new JobError(
      'RequestInvalid',
      'Expected a condition for "where", got an empty string.',
      `Omit it for the rows in which "${column}" is null, or write "true" for all.`,
    );
  const { location } = await withCatalog(catalog, signal, (opened) =>
    opened.describeTable(name, { namespacePath, signal }),
  );
  const storageOptions = catalog.implementation === 'dir' ? (catalog.storageOptions ?? {}) : {};
  return {
    version: 1,
    jobId,
    // A server may not expose the location. Runners that need it refuse such tables.
    table: { uri: location ?? '', storageOptions },
    column,
    function: onError ? { ...request.function, onError } : request.function,
    where,
    concurrency: request.concurrency ?? jobDefaults.concurrency,
    taskSize,
    checkpointSize: request.checkpointSize ?? jobDefaults.checkpointSize,
    commitGranularity: request.commitGranularity,
    numFrags,
    readVersion,
  };
}

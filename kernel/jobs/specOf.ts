import { availableParallelism } from 'node:os';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import type { JobSpec } from './jobSpec.ts';
import { onCatalog } from './openCatalog.ts';

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

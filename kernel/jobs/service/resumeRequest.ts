import { sqlName } from '#catalog/sqlText.ts';
import type { JobFolders } from '#jobs/records/jobFolder.ts';
import type { JobRecord } from '#jobs/records/jobRecord.ts';
import type { BackfillRequest, RunnerName } from '#shared/jobs/backfill.ts';
import type { OnError } from '#shared/jobs/computedFunction.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { jobTableText } from '#shared/jobs/jobLabels.ts';
import { jobKey, withAbsolutePaths } from './stateFolders.ts';

export type ResumeOptions = {
  readonly request?: BackfillRequest | undefined;
  readonly runner?: RunnerName | undefined;
  /** Overrides the handling of failed rows, also in later runs. */
  readonly onError?: OnError | undefined;
};

/**
 * Builds the request that resumes a job: the stored one with the given catalog and keys. A succeeded job computes the
 * rows that it left null.
 * @throws JobError RequestInvalid if keys are missing, or if the given request is for another table, column or
 * function
 */
export function requestToResume(
  record: JobRecord,
  kept: ReturnType<JobFolders['readRequest']>,
  { request, runner, onError }: ResumeOptions,
): BackfillRequest {
  const asked = whole(record, kept, request);
  const { progress, id, column } = record;
  const fn = asked.function ?? kept?.request.function;
  if (request?.function && request.function.hash !== record.functionHash)
    throw new JobError('RequestInvalid', `Job ${id} computes with another function.`, 'Start a new job with this one.');
  const where = progress.state === 'succeeded' ? stillNull(asked.where, column) : asked.where;
  const errors = onError && { onError };
  return { ...asked, ...errors, function: fn, where, runner: runner ?? record.runner };
}

function whole(
  { id, table, column, place }: JobRecord,
  kept: ReturnType<JobFolders['readRequest']>,
  given: BackfillRequest | undefined,
): BackfillRequest {
  if (given) {
    // The catalogs are compared too, because a table of the same name may be in another catalog.
    if (jobKey(withAbsolutePaths(given)) !== place) {
      const what = `Job ${id} computes "${column}" of ${jobTableText(table)} in "${table.catalog}", not the requested column.`;
      throw new JobError('RequestInvalid', what, 'Resume it with that table, or start a new job.');
    }
    // The stored request determines the work, and the given request provides the credentials.
    return kept ? { ...kept.request, table: given.table, ray: given.ray ?? kept.request.ray } : given;
  }
  if (!kept) throw new JobError('RequestInvalid', `Can't read the request of job ${id}.`, 'Start a new job.');
  if (kept.isWhole) return kept.request;
  const what = `Job ${id} needs the credentials of "${table.catalog}" again, because job records do not store them.`;
  throw new JobError(
    'RequestInvalid',
    what,
    'Resume it from an editor, notebook or terminal that is connected to the catalog.',
  );
}

/**
 * Restricts a filter to rows in which the column is null. Without a filter, every job selects only these rows anyway.
 */
function stillNull(where: string | undefined, column: string): string | undefined {
  if (where === undefined) return undefined;
  const isNull = `${sqlName(column)} IS NULL`;
  return where.endsWith(isNull) ? where : `(${where}) AND ${isNull}`;
}

import { sqlName } from '#catalog/sqlText.ts';
import type { JobFolders } from '#jobs/records/jobFolder.ts';
import type { JobRecord } from '#jobs/records/jobRecord.ts';
import type { BackfillRequest, RunnerName } from '#shared/jobs/backfill.ts';
import type { OnError } from '#shared/jobs/computedFunction.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { jobTableText } from '#shared/jobs/jobLabels.ts';
import { placeOf, withAbsolutePaths } from './stateFolders.ts';

/** What a job is resumed by. */
export type How = {
  readonly request?: BackfillRequest | undefined;
  readonly runner?: RunnerName | undefined;
  /** In place of what the job did so far with rows that fail; kept for the next time. */
  readonly onError?: OnError | undefined;
};

/**
 * The request of a job that goes on: the one that is kept, with the catalog and its keys of the one that is given. A job that
 * is done goes over the rows that it left null.
 * @throws JobError RequestInvalid where keys are missing, or what is given is another job
 */
export function requestToResume(
  record: JobRecord,
  kept: ReturnType<JobFolders['readRequest']>,
  { request, runner, onError }: How,
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
    // A table of the same name elsewhere is another one.
    if (placeOf(withAbsolutePaths(given)) !== place) {
      const what = `Job ${id} is at "${column}" of ${jobTableText(table)} in "${table.catalog}", not at what was given.`;
      throw new JobError('RequestInvalid', what, 'Resume it with that table, or start a new job.');
    }
    // What it does is up to the record; what lets it in comes from the person.
    return kept ? { ...kept.request, table: given.table, ray: given.ray ?? kept.request.ray } : given;
  }
  if (!kept) throw new JobError('RequestInvalid', `What job ${id} was asked can't be read.`, 'Start a new job.');
  if (kept.isWhole) return kept.request;
  const what = `Job ${id} needs the keys of "${table.catalog}" again, since records hold none.`;
  throw new JobError('RequestInvalid', what, 'Resume it where that catalog is connected.');
}

/** Rows that a job over some rows left null; without a condition of its own these are what every job looks for. */
function stillNull(where: string | undefined, column: string): string | undefined {
  if (where === undefined) return undefined;
  const isNull = `${sqlName(column)} IS NULL`;
  return where.endsWith(isNull) ? where : `(${where}) AND ${isNull}`;
}

import { JobError } from '#shared/jobs/jobErrors.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { asRecord } from '#shared/records.ts';
import type { JobListState } from './jobBoard.ts';

/** A row of the Jobs view, as VS Code passes it to a command. Each command validates the row. */
export type JobNode = { readonly kind: 'job'; readonly id: string };

/**
 * Returns the job of a row or an id.
 * @throws JobError RequestInvalid if `given` is neither, JobMissing if the job no longer exists
 */
export function jobOf(board: JobListState, given: unknown): JobView {
  const id = typeof given === 'string' ? given : asRecord(given)['id'];
  if (typeof id !== 'string')
    throw new JobError('RequestInvalid', 'No job is selected.', 'Select one in the Jobs view.');
  const view = board.get(id);
  if (view) return view;
  throw new JobError('JobMissing', `The job "${id}" no longer exists.`, 'Choose another in the Jobs view.');
}

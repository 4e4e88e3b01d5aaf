import { JobError } from '#shared/jobs/jobErrors.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { fieldsOf } from '#shared/records.ts';
import type { JobBoard } from './jobBoard.ts';

/** A row of the Jobs view, as commands get it: checked where it arrives. */
export type JobNode = { readonly kind: 'job'; readonly id: string };

/**
 * The job that a row or an id stands for.
 * @throws JobError RequestInvalid for what is neither, JobMissing for a job that is not there any more
 */
export function jobOf(board: JobBoard, given: unknown): JobView {
  const id = typeof given === 'string' ? given : fieldsOf(given)['id'];
  if (typeof id !== 'string')
    throw new JobError('RequestInvalid', 'No job is selected.', 'Select one in the Jobs view.');
  const view = board.get(id);
  if (view) return view;
  throw new JobError('JobMissing', `The job ${id} is not there any more.`, 'Choose another in the Jobs view.');
}

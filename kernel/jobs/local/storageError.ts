import { messageOf } from '#shared/errors.ts';
import { isJobError, JobError } from '#shared/jobs/jobErrors.ts';

const isFull = /no space left on device|os error 28|ENOSPC|EDQUOT|quota exceeded/i;

/** Converts a write error to a job error. `what` names the written object. */
export function storageError(error: unknown, what: string): Error {
  if (isJobError(error) || !(error instanceof Error)) return error instanceof Error ? error : new Error(String(error));
  const texts = [messageOf(error), ...(error.cause === undefined ? [] : [messageOf(error.cause)])];
  if (texts.some((text) => isFull.test(text))) {
    return new JobError(
      'StorageFull',
      `There is no space left for ${what}.`,
      'Free some space, then resume the job: finished rows are kept.',
      { cause: error },
    );
  }
  if (!('code' in error) || !('syscall' in error)) return error;
  return new JobError(
    'StorageFailed',
    `Can't write ${what}: ${error.message}.`,
    'Fix the folder, then resume the job: finished rows are kept.',
    { cause: error },
  );
}

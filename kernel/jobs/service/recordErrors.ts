import { JobError } from '#shared/jobs/jobErrors.ts';

/**
 * Runs what writes records; an error of their file system says what it is about.
 * @throws JobError StorageFull or StorageFailed for those, anything else as it was thrown
 */
export async function writingRecords<T>(root: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw recordError(error, root) ?? error;
  }
}

function recordError(error: unknown, root: string): JobError | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  // Those that name no path come of a write to a file that was opened for it.
  if ('path' in error && typeof error.path === 'string' && !error.path.startsWith(root) && !root.startsWith(error.path))
    return undefined;
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT') {
    const what = `There is no room for the record of a job in "${root}".`;
    return new JobError('StorageFull', what, 'Make room there, or remove jobs that have ended.', { cause: error });
  }
  const what = `The records of jobs in "${root}" can't be written: ${error.message}.`;
  return new JobError('StorageFailed', what, 'See who may write there.', { cause: error });
}

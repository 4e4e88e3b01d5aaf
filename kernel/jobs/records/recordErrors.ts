import { JobError } from '#shared/jobs/jobErrors.ts';

/** Description in messages, and hint if the disk is full. */
const keptThings = {
  records: ['the record of a job', 'Free some space there, or remove finished jobs.'],
  accepted: ['the hash of an accepted function', 'Free some space there, then start the backfill again.'],
} as const;

/**
 * Converts file system errors of a callback that writes below `root`.
 * @throws JobError StorageFull or StorageFailed for such an error; any other error unchanged
 */
export async function withRecordErrors<T>(root: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw recordWriteError(error, root, 'records') ?? error;
  }
}

/** Returns `undefined` if the error is not from a write below `root`. */
export function recordWriteError(error: unknown, root: string, kept: keyof typeof keptThings): JobError | undefined {
  const [thing, hint] = keptThings[kept];
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  // An error without a path counts too, because it comes from a write to an open file descriptor.
  if ('path' in error && typeof error.path === 'string' && !error.path.startsWith(root) && !root.startsWith(error.path))
    return undefined;
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT') {
    return new JobError('StorageFull', `There is no space left for ${thing} in "${root}".`, hint, { cause: error });
  }
  const what = `Can't write ${thing} to "${root}": ${error.message}.`;
  return new JobError('StorageFailed', what, 'Check the permissions of the folder.', { cause: error });
}

import { JobError } from '#shared/jobs/jobErrors.ts';

/** What is kept in a folder of the person, as it is called where that can't be written, and what makes room for it. */
const keptThings = {
  records: ['the record of a job', 'Make room there, or remove jobs that have ended.'],
  accepted: ['the hash of a function that may run here', 'Make room there, and begin the backfill again.'],
} as const;

/**
 * Runs what writes records; an error of their file system says what it is about.
 * @throws JobError StorageFull or StorageFailed for those, anything else as it was thrown
 */
export async function writingRecords<T>(root: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw notKept(error, root, 'records') ?? error;
  }
}

/** What is told of an error of the file system that came of writing to `root`; `undefined` for any other error. */
export function notKept(error: unknown, root: string, kept: keyof typeof keptThings): JobError | undefined {
  const [thing, hint] = keptThings[kept];
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  // Those that name no path come of a write to a file that was opened for it.
  if ('path' in error && typeof error.path === 'string' && !error.path.startsWith(root) && !root.startsWith(error.path))
    return undefined;
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT') {
    return new JobError('StorageFull', `There is no room for ${thing} in "${root}".`, hint, { cause: error });
  }
  const what = `"${root}" can't be written to, where ${thing} is kept: ${error.message}.`;
  return new JobError('StorageFailed', what, 'See who may write there.', { cause: error });
}

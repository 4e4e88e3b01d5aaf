import { messageOf } from '#shared/errors.ts';

/** What a code of the system says about a file, for the end of a sentence. */
const problems: ReadonlyMap<unknown, string> = new Map([
  ['EACCES', 'permission denied'],
  ['EDQUOT', 'no space is left for this user'],
  ['EISDIR', 'it is a folder'],
  ['ENOENT', 'it does not exist'],
  ['ENOSPC', 'no space is left on the disk'],
  ['ENOTDIR', 'a part of its path is a file'],
  ['EPERM', 'permission denied'],
  ['EROFS', 'the disk is read-only'],
]);

/** Returns why a file can't be read or written: `it does not exist`. */
export const fileProblem = (error: unknown): string => problems.get(Object(error).code) ?? messageOf(error);

/** Whether a write failed because the disk is full, so that another path on it does not help. */
export const isDiskFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(String(Object(error).code));

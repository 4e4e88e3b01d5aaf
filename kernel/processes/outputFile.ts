import { access, constants, realpath, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileProblem, isDiskFull } from './fileProblem.ts';
import { type FileContent, replaceFileAsync } from './files.ts';
import { CatalogError } from '#shared/errors.ts';

/**
 * Checks that a file can be written at `path`, because otherwise a command that runs for an hour could fail when it
 * writes its result at the end.
 * @param what what is written, for messages
 * @returns `false` for an existing device or pipe, which can be written only once
 * @throws CatalogError PermissionDenied (15) naming the folder, InvalidInput (13) if `path` is a folder
 */
export async function checkOutputFile(path: string, what: 'notebook' | 'result'): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory())
    throw new CatalogError(
      'InvalidInput',
      `Can't write the ${what} to "${path}": it is a folder.`,
      what === 'notebook' ? 'Use the path of an .ipynb file.' : 'Use the path of a file.',
    );
  if (found && !found.isFile()) return false;
  const folder = dirname(resolve(path));
  try {
    await access(folder, constants.W_OK);
  } catch (cause) {
    throw new CatalogError(
      'PermissionDenied',
      `Can't write "${path}": the folder "${folder}" does not exist or is not writable.`,
      'Create the folder, make it writable, or use another path.',
      { cause },
    );
  }
  return true;
}

/**
 * Replaces the file atomically: a reader sees the old or the new content, also after a crash. A device or pipe
 * (`/dev/null`) is written to and never replaced.
 * @param mode permissions of a new file; an existing file keeps its permissions
 * @throws CatalogError PermissionDenied (15) naming the file, or the error of `content`
 */
export async function writeOutputFile(path: string, content: FileContent, mode = 0o666): Promise<void> {
  const before = await stat(path).catch(() => undefined);
  try {
    if (before && !before.isFile()) return await writeFile(path, content);
    // Writes to the target of a symbolic link, so that the link itself is not replaced.
    const target = await realpath(path).catch(() => resolve(path));
    const permissions = before ? { mode: before.mode & 0o777, isExact: true } : { mode };
    await replaceFileAsync(target, content, { isLasting: true, ...permissions });
  } catch (cause) {
    // Errors of the file system name the call. All others are errors of the content.
    if (typeof Object(cause).syscall !== 'string') throw cause;
    const step = isDiskFull(cause) ? 'Free up disk space, or use another path.' : 'Use another path.';
    throw new CatalogError('PermissionDenied', `Can't write "${path}": ${fileProblem(cause)}.`, step, { cause });
  }
}

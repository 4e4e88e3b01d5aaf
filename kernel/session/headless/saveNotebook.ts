import { access, constants, realpath, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { replaceFileAsync } from '#processes/files.ts';
import { CatalogError, messageOf } from '#shared/errors.ts';

/**
 * Checks that a notebook can be saved at `path`, because otherwise a run of an hour could fail when it saves at the
 * end.
 * @returns `false` for an existing device or pipe, which can be written only once
 * @throws CatalogError PermissionDenied (15) naming the folder, InvalidInput (13) if `path` is a folder
 */
export async function checkTarget(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory())
    throw new CatalogError(
      'InvalidInput',
      `Can't write the notebook to "${path}": it is a folder.`,
      'Use the path of an .ipynb file.',
    );
  if (found && !found.isFile()) return false;
  const folder = dirname(resolve(path));
  try {
    await access(folder, constants.W_OK);
  } catch (cause) {
    const what = `Can't write "${path}": the folder "${folder}" does not exist or is not writable.`;
    throw new CatalogError('PermissionDenied', what, 'Create the folder, make it writable, or use another path.', {
      cause,
    });
  }
  return true;
}

/**
 * Replaces the file atomically: a reader sees the old or the new text, also after a crash. A device or pipe
 * (`/dev/null`) is written to and never replaced.
 * @param mode permissions of a new file; an existing file keeps its permissions
 * @throws CatalogError PermissionDenied (15) naming the file
 */
export async function saveNotebook(path: string, text: string, mode = 0o666): Promise<void> {
  const before = await stat(path).catch(() => undefined);
  if (before && !before.isFile())
    return writeFile(path, text).catch((cause: unknown) => Promise.reject(failure(path, cause)));
  // Writes to the target of a symbolic link, so that the link itself is not replaced.
  const target = await realpath(path).catch(() => resolve(path));
  try {
    await replaceFileAsync(target, text, { isLasting: true, mode: before ? before.mode & 0o777 : mode });
  } catch (cause) {
    throw failure(path, cause);
  }
}

const failure = (path: string, cause: unknown): CatalogError =>
  new CatalogError('PermissionDenied', `Can't write "${path}": ${messageOf(cause)}.`, 'Use another path.', {
    cause,
  });

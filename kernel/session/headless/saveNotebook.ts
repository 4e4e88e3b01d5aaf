import { access, constants, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { CatalogError, messageOf } from '#shared/errors.ts';

/**
 * Looks whether a notebook can be saved there, before a run of an hour finds out that it can't.
 * @returns `false` for a device or a pipe, which is there already and takes the text once
 * @throws CatalogError PermissionDenied (15) naming the folder, InvalidInput (13) for a folder in place of a file
 */
export async function checkTarget(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory())
    throw new CatalogError('InvalidInput', `"${path}" is a folder.`, 'Give the path of an .ipynb file.');
  if (found && !found.isFile()) return false;
  const folder = dirname(resolve(path));
  try {
    await access(folder, constants.W_OK);
  } catch (cause) {
    const what = `"${path}" can't be written: there is no folder "${folder}" to write to.`;
    throw new CatalogError('PermissionDenied', what, 'Make it, or give another path.', { cause });
  }
  return true;
}

/**
 * Writes the whole text or nothing: whoever reads the file meanwhile, or after a crash, has the one before or this one.
 * A device or a pipe (`/dev/null`) is written to and never replaced.
 * @throws CatalogError PermissionDenied (15) naming the file
 */
export async function saveNotebook(path: string, text: string): Promise<void> {
  const before = await stat(path).catch(() => undefined);
  if (before && !before.isFile())
    return writeFile(path, text).catch((cause: unknown) => Promise.reject(failure(path, cause)));
  // Behind a link, so that the link stays one.
  const target = await realpath(path).catch(() => resolve(path));
  const draft = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`);
  try {
    const file = await open(draft, 'w', before ? before.mode & 0o777 : 0o666);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, target);
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw failure(path, cause);
  }
}

const failure = (path: string, cause: unknown): CatalogError =>
  new CatalogError('PermissionDenied', `"${path}" can't be written: ${messageOf(cause)}.`, 'Give another path.', {
    cause,
  });

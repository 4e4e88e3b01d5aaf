import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { threadId } from 'node:worker_threads';

/**
 * Creates a folder, by default private to the user, and its missing parents. Does not use Node's `recursive`, which
 * loops forever if a file system reports that a new folder does not exist, as `/proc` and some mounts of a home
 * folder do. Several processes may create the same folders at the same time.
 * @throws an error of the file system
 */
export function makeFolder(path: string, mode = 0o700): void {
  try {
    makeOne(path, mode);
  } catch (error) {
    const above = dirname(path);
    if ((error as { code?: unknown }).code !== 'ENOENT' || above === path) throw error;
    makeFolder(above, mode);
    makeOne(path, mode);
  }
}

function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (!isFolder(path)) throw error;
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

let made = 0;

/**
 * Replaces a file atomically with one private to the user: a reader finds the whole old file or the whole new one at
 * any moment, even after a crash of the machine.
 * @param isLasting whether to wait until the file is on the disk
 * @throws an error of the file system; the old file is then unchanged
 */
export function replaceFile(path: string, text: string, { isLasting }: { readonly isLasting: boolean }): void {
  // In the same folder, since a rename does not cross file systems.
  const other = `${path}.${process.pid}-${threadId}-${made++}`;
  try {
    const file = openSync(other, 'wx', 0o600);
    try {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
      if (isLasting) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(other, path);
  } catch (error) {
    rmSync(other, { force: true });
    throw error;
  }
}

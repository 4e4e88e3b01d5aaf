import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { threadId } from 'node:worker_threads';

/**
 * Makes a folder, by default of the person's alone, and those above it that are missing. Not by `recursive` of Node, which
 * tries for ever where a file system says of a new folder that it does not exist, as `/proc` and some mounts of a home do.
 * Several processes may make the same ones at the same time.
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
 * Puts a file in place of another, of the person alone: who reads at any moment, also after the machine went down, finds the
 * whole old one or the whole new one.
 * @param isLasting whether it is waited for until it is on the disk
 * @throws an error of the file system, and the old file is as it was
 */
export function replaceFile(path: string, text: string, { isLasting }: { readonly isLasting: boolean }): void {
  // Beside it, since a rename does not cross file systems.
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

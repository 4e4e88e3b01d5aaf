import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { threadId } from 'node:worker_threads';

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

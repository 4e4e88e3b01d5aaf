import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders = new Set<string>();

/** Whether a root names a catalog in memory. */
export const isMemoryRoot = (root: string): boolean => /^memory:\/\//i.test(root);

/**
 * Creates an empty folder for a catalog in memory. Only this user can enter the folder, and it is removed when this
 * process ends. The engine's own storage in memory is not used: its content is lost when the connection to it ends, and
 * other processes, such as those of jobs, can't read it.
 */
export function createMemoryRoot(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lance-memory-'));
  if (folders.size === 0) process.once('exit', removeFolders);
  folders.add(folder);
  return folder;
}

function removeFolders(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isProcessRunning } from './running.ts';
import { CatalogError, messageOf } from '#shared/errors.ts';

const prefix = 'lance-catalog-spill-';

/** The folders of this process. */
const folders = new Set<string>();

/**
 * Creates a private folder for data that exceeds the memory of a process. The name has the id of this process, so
 * that later processes find the folders of processes that were killed.
 * @throws CatalogError ServiceUnavailable (17) if the folder can't be created
 */
export function createSpillFolder(): string {
  removeStaleFolders();
  try {
    const folder = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
    if (folders.size === 0) process.once('exit', removeAll);
    folders.add(folder);
    return folder;
  } catch (cause) {
    throw new CatalogError(
      'ServiceUnavailable',
      `Can't create a folder for temporary data: ${messageOf(cause)}.`,
      `Free space in "${tmpdir()}" or make it writable, or set the environment variable TMPDIR to another folder.`,
      { cause },
    );
  }
}

/**
 * Removes a folder with its files, in the background, because large files take long. A file that can't be removed yet
 * is removed by a later process: on Windows, files of a process that is just ending may still be open.
 */
export async function removeSpillFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  folders.delete(folder);
  if (folders.size === 0) process.off('exit', removeAll);
}

function removeAll(): void {
  for (const folder of folders) removeNow(folder);
}

function removeNow(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // As above.
  }
}

function removeStaleFolders(): void {
  let names: string[];
  try {
    names = readdirSync(tmpdir());
  } catch {
    return;
  }
  for (const name of names) {
    const pid = Number(/^lance-catalog-spill-(\d+)-/.exec(name)?.[1]);
    // Folders of other users can't be removed, which does no harm.
    if (Number.isSafeInteger(pid) && !isProcessRunning(pid)) removeNow(join(tmpdir(), name));
  }
}

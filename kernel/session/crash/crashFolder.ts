import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isCrashNote, type CrashNote } from '#shared/protocol/crashNote.ts';
import type { Front } from '#session/threads/coreMessages.ts';
import { dataFolder } from '#processes/userFolders.ts';
import { makeFolder } from '#processes/files.ts';
import { isProcessRunning } from '#processes/running.ts';

/** How long notes are kept; no client reads a note later. */
const keptMs = 24 * 60 * 60 * 1000;

/**
 * Returns the path of a kernel's crash note. Jupyter restarts a dead kernel with the same connection file. So the path
 * is made from the connection file, and the next kernel finds the note of the previous kernel. For an editor the name
 * is random, and the editor receives the path.
 */
export function crashNotePath(front: Front): string {
  const name = front.kind === 'pipe' ? randomUUID() : `jupyter-${hash(resolve(front.connectionFile))}`;
  return join(folder(), `${name}.json`);
}

/** Reads the note of an earlier kernel; undefined if there is none. */
export function readCrashNote(path: string): CrashNote | undefined {
  try {
    const note: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isCrashNote(note) ? note : undefined;
  } catch {
    // The note is missing or unreadable, so there is nothing to report.
    return undefined;
  }
}

/** Creates the folder, and removes old notes of dead kernels. */
export function prepareCrashFolder(): void {
  makeFolder(folder());
  for (const name of readdirSync(folder())) {
    const path = join(folder(), name);
    try {
      if (Date.now() - statSync(path).mtimeMs < keptMs || isOfLiving(path)) continue;
      rmSync(path, { force: true });
    } catch {
      // The error is dropped, because another kernel may clean up at the same time.
    }
  }
}

const folder = (): string => join(dataFolder(), 'crash');
const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 24);

function isOfLiving(path: string): boolean {
  const pid = readCrashNote(path)?.pid;
  return pid !== undefined && isProcessRunning(pid);
}

import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isCrashNote, type CrashNote } from '#shared/protocol/crashNote.ts';
import type { Front } from '#session/threads/coreMessages.ts';
import { dataFolder } from '#processes/userFolders.ts';
import { makeFolder } from '#processes/files.ts';
import { isRunning } from '#processes/running.ts';

/** After this long nobody asks any more what a kernel was doing when it ended. */
const keptMs = 24 * 60 * 60 * 1000;

/**
 * Where a kernel keeps its crash note. Jupyter starts a kernel that died again on the same connection file, so there the
 * next kernel finds the note of the last one; an editor is told the path.
 */
export function crashNotePath(front: Front): string {
  const name = front.kind === 'pipe' ? randomUUID() : `jupyter-${hash(resolve(front.connectionFile))}`;
  return join(folder(), `${name}.json`);
}

/** Reads the note that an earlier kernel left there; undefined where it left none. */
export function readCrashNote(path: string): CrashNote | undefined {
  try {
    const note: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isCrashNote(note) ? note : undefined;
  } catch {
    // None, or one that can't be read: nothing to tell either way.
    return undefined;
  }
}

/** Makes the folder, and removes from it what was left by kernels whose front never came back. */
export function prepareCrashFolder(): void {
  makeFolder(folder());
  for (const name of readdirSync(folder())) {
    const path = join(folder(), name);
    try {
      if (Date.now() - statSync(path).mtimeMs < keptMs || isOfLiving(path)) continue;
      rmSync(path, { force: true });
    } catch {
      // Another kernel tidies up at the same time.
    }
  }
}

const folder = (): string => join(dataFolder(), 'crash');
const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 24);

function isOfLiving(path: string): boolean {
  const pid = readCrashNote(path)?.pid;
  return pid !== undefined && isRunning(pid);
}

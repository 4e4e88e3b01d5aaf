import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { notebookText, type Notebook } from '#session/headless/notebookFile.ts';
import { saveNotebook } from '#session/headless/saveNotebook.ts';
import { CatalogError, messageOf } from '#shared/errors.ts';

export type RunSaver = {
  /** Saves what there is when that was not done for a while. One that fails is told, and does not end the run. */
  soon(): Promise<void>;
  /**
   * Saves the whole.
   * @throws CatalogError PermissionDenied (15), which says where the notebook is in place of where it should be
   */
  now(): Promise<void>;
};

/**
 * Saves the notebook of a run: at the end, and now and then before, so that a run that is killed leaves what it had.
 * @param target a path, `-` for stdout, undefined when nothing is to be saved
 * @param isFile false for a pipe or a device, which takes the text once
 * @param everyMs how long `soon` leaves what was saved before
 */
export function saverOf(
  target: string | undefined,
  notebook: Notebook,
  { isFile, everyMs = 5000 }: { isFile: boolean; everyMs?: number },
): RunSaver {
  let last = performance.now();
  let isTold = false;
  const save = async (path: string): Promise<void> => {
    await saveNotebook(path, notebookText(notebook));
    last = performance.now();
  };
  return {
    async now() {
      if (target === '-') process.stdout.write(notebookText(notebook));
      else if (target !== undefined) await save(target).catch((error: unknown) => elsewhere(error, target, save));
    },
    async soon() {
      if (!isFile || target === undefined || performance.now() - last < everyMs) return;
      try {
        await save(target);
      } catch (error) {
        // A disk that is full now may have room at the end.
        last = performance.now();
        if (!isTold) console.error(`${messageOf(error)} The run goes on, and saves at its end.`);
        isTold = true;
      }
    },
  };
}

/** What a run of hours gave is not to be lost for want of a place. */
async function elsewhere(error: unknown, target: string, save: (path: string) => Promise<void>): Promise<never> {
  const refuge = join(tmpdir(), `${basename(target, '.ipynb')}-${process.pid}.ipynb`);
  try {
    await save(refuge);
  } catch {
    // The first reason is the one that can be mended.
    throw error;
  }
  throw new CatalogError('PermissionDenied', messageOf(error), `The notebook with its outputs is in "${refuge}".`, {
    cause: error,
  });
}

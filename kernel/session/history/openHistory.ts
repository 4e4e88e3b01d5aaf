import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '#shared/errors.ts';
import type { Front } from '#session/coreMessages.ts';
import { dataFolder } from '#client/personFolders.ts';
import { History } from './history.ts';
import { HistoryFolder } from './historyFolder.ts';

/** The history for a front. An editor has its own, so only a Jupyter kernel keeps cells for the next one. */
export function openHistory(front: Front): History {
  if (front.kind !== 'jupyter' || !front.keepsHistory) return new History();
  const folder = join(dataFolder(), 'history');
  return new History(new HistoryFolder(folder), (error) => {
    // To the log of the Jupyter server: no cell is at fault, and none should fail for it.
    writeSync(2, `The history of this kernel can't be kept in ${folder}: ${messageOf(error)}\n`);
  });
}

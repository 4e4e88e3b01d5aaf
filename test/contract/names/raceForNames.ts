// A process that runs one operation of the catalog model at a given time: receives a root, an operation and a time, and
// sends back the result.
import { setTimeout as sleep } from 'node:timers/promises';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { loadNative } from '#engine/native.ts';
import { messageOf } from '#shared/errors.ts';
import type { Operation } from '../model/operations.ts';
import { perform } from '../model/perform.ts';

export type RaceRequest = {
  root: string;
  storageOptions?: Record<string, string>;
  operation: Operation;
  startAt: number;
};

/** How late a timer may be; after that the process counts the milliseconds itself. */
const timerMs = 5;

await loadNative();
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- from the test that started this process
process.on('message', (message: unknown) => void race(message as RaceRequest));
process.send?.('ready');

async function race({ operation, startAt, ...place }: RaceRequest): Promise<void> {
  const db = await openDir(place);
  try {
    // List once, so that the engine's connection is open before the race.
    await db.listTables();
    await sleep(startAt - timerMs - Date.now());
    while (Date.now() < startAt) await new Promise(setImmediate);
    process.send?.(await perform(db, operation, new Map()));
  } catch (error) {
    process.send?.({ error: messageOf(error) });
  } finally {
    await db.close();
  }
}

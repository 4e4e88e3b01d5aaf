import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Schema } from '#arrow';
import { isCatalogError } from '#shared/errors.ts';
import { datasetName, onDataset } from './dataset.ts';
import type { Place } from './dirConnection.ts';
import { isFirst } from './dirCreate.ts';
import { engineError, namespaceSubject, tableSubject } from '#engine/errors/engineErrors.ts';
import { hiddenFolder, moveTo } from './folders.ts';
import { hasManifest, manifestFolder } from './manifestTable.ts';
import { loadNative } from '#engine/native.ts';
import { inTurn } from './dirConnection.ts';

/**
 * Makes the list of namespaces and tables of a root that has none yet, so that of those who do so at once one makes it and
 * the others use it. The engine, left to itself, writes an empty one over the one that somebody else has just made, and
 * what that had in it is gone without an error.
 */
export async function ensureList(place: Place): Promise<void> {
  if (await hasManifest(place)) return;
  await inTurn(`first list of ${place.location}`, async () => {
    // Who was first in this process has made it meanwhile.
    if (!(await hasManifest(place))) await (place.isLocal ? makeLocal(place) : makeInStore(place));
  });
}

/** It comes into the root by one rename, which only the first can do. */
async function makeLocal({ location }: Place): Promise<void> {
  const workshop = join(location, hiddenFolder('unfinished'));
  await mkdir(workshop);
  try {
    await makeEmptyList(workshop);
    await moveTo(join(workshop, manifestFolder), join(location, manifestFolder));
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
}

/** In an object store: where those who would make its list learn who of them does. Nothing is ever written there. */
export const claimFolder = '__manifest.first';
const lookMs = 100;

/**
 * A store has no rename, and who makes a table where somebody else has just made one empties it. So all make an empty
 * one elsewhere first, and only the one whose is version 1 makes the list.
 * @param waitMs how long the others wait for it: the first may have ended before it came to that
 */
export async function makeInStore(place: Place, waitMs = 10_000): Promise<void> {
  const schema = await schemaOfList();
  const isChosen = await claim(place, schema);
  try {
    const isThereNow = isChosen ? await hasManifest(place) : await appears(place, waitMs);
    if (!isThereNow) await makeOrLeave(place, schema);
  } finally {
    // What stays of it when this fails costs who comes next a wait, and nobody a list.
    if (isChosen) await onDataset(place, claimFolder, (claims) => claims.dropTable(datasetName)).catch(() => undefined);
  }
}

/** Whether nobody else makes the list of a store at this time. */
async function claim(place: Place, schema: Schema): Promise<boolean> {
  try {
    return await onDataset(place, claimFolder, async (claims) => {
      const made = await claims.createEmptyTable(datasetName, schema);
      try {
        return (await made.version()) === 1;
      } finally {
        made.close();
      }
    });
  } catch (error) {
    const told = engineError(error, tableSubject(claimFolder, []));
    if (isCatalogError(told, 'TableAlreadyExists') || isCatalogError(told, 'ConcurrentModification')) return false;
    throw engineError(error, namespaceSubject([]));
  }
}

async function appears(place: Place, waitMs: number): Promise<boolean> {
  for (const end = performance.now() + waitMs; performance.now() < end; await sleep(lookMs))
    if (await hasManifest(place)) return true;
  return false;
}

/** Of two that make a list nonetheless, who finds that it was second puts back what the first one had. */
export async function makeOrLeave(place: Place, schema: Schema): Promise<void> {
  try {
    await onDataset(place, manifestFolder, async (connection) => {
      const made = await connection.createEmptyTable(datasetName, schema);
      try {
        await isFirst(made);
      } finally {
        made.close();
      }
    });
  } catch (error) {
    // Somebody else was faster.
    if (!(await hasManifest(place))) throw engineError(error, namespaceSubject([]));
  }
}

/** The columns of a list as this engine makes them, with all that it notes of them. */
export async function schemaOfList(): Promise<Schema> {
  const folder = await mkdtemp(join(tmpdir(), 'lance-catalog-'));
  try {
    await makeEmptyList(folder);
    return await onDataset({ location: folder, isLocal: true }, manifestFolder, async (connection) => {
      const table = await connection.openTable(datasetName);
      try {
        return await table.schema();
      } finally {
        table.close();
      }
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The engine makes a list with the first namespace. */
async function makeEmptyList(root: string): Promise<void> {
  const { connectNamespace } = await loadNative();
  const connection = await connectNamespace('dir', { root });
  try {
    await connection.createNamespace(['first']);
    await connection.dropNamespace(['first']);
  } finally {
    connection.close();
  }
}

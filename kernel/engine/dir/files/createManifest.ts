import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Schema } from '#arrow';
import { engineError, namespaceSubject, tableSubject } from '#engine/errors/engineErrors.ts';
import { loadNative } from '#engine/native.ts';
import { withTempFolder } from '#processes/files.ts';
import { isCatalogError } from '#shared/errors.ts';
import { datasetName, withDataset } from '#engine/dir/dataset.ts';
import { type Root, runExclusive } from '#engine/dir/dirConnection.ts';
import { isFirst } from '#engine/dir/dirCreate.ts';
import { hiddenFolder, moveTo } from './folders.ts';
import { hasManifest, manifestFolder } from './manifestTable.ts';

/**
 * Creates the manifest of a root if there is none, exactly once even if several clients try at the same time. Without
 * this, the engine of one client would write an empty manifest over the manifest of another client, whose tables would
 * be lost without an error.
 */
export async function ensureManifest(place: Root): Promise<void> {
  if (await hasManifest(place)) return;
  await runExclusive(`first list of ${place.location}`, async () => {
    // Checks again, because an earlier call in this process may have created the manifest meanwhile.
    if (!(await hasManifest(place))) await (place.isLocal ? makeLocal(place) : createInObjectStore(place));
  });
}

/**
 * Creates the manifest in another folder and moves it into the root by one rename. The rename succeeds for the first
 * client only.
 */
async function makeLocal({ location }: Root): Promise<void> {
  const workshop = join(location, hiddenFolder('unfinished'));
  await mkdir(workshop);
  try {
    await makeEmptyList(workshop);
    await moveTo(join(workshop, manifestFolder), join(location, manifestFolder));
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
}

/**
 * Folder of an object store whose versions decide which client creates the manifest. No rows are ever written there.
 */
export const manifestClaimFolder = '__manifest.first';
const lookMs = 100;

/**
 * Creates the manifest in an object store. A store can't rename, and if two clients create the same table, the second
 * empties the table of the first. So every client first creates an empty table at another location, and only the client
 * that gets version 1 creates the manifest.
 * @param waitMs how long the other clients wait for the manifest before they create it themselves, because the first
 * client may have ended
 */
export async function createInObjectStore(place: Root, waitMs = 10_000): Promise<void> {
  const schema = await manifestSchema();
  const isChosen = await claim(place, schema);
  try {
    const isThereNow = isChosen ? await hasManifest(place) : await appears(place, waitMs);
    if (!isThereNow) await createUnlessExists(place, schema);
  } finally {
    // An error is ignored: the next client then has to wait, but no manifest is lost.
    if (isChosen)
      await withDataset(place, manifestClaimFolder, (claims) => claims.dropTable(datasetName)).catch(() => undefined);
  }
}

/** Claims the creation of the manifest. Returns whether this client may create it. */
async function claim(place: Root, schema: Schema): Promise<boolean> {
  try {
    return await withDataset(place, manifestClaimFolder, async (claims) => {
      const made = await claims.createEmptyTable(datasetName, schema);
      try {
        return (await made.version()) === 1;
      } finally {
        made.close();
      }
    });
  } catch (error) {
    const told = engineError(error, tableSubject(manifestClaimFolder, []));
    if (isCatalogError(told, 'TableAlreadyExists') || isCatalogError(told, 'ConcurrentModification')) return false;
    throw engineError(error, namespaceSubject([]));
  }
}

async function appears(place: Root, waitMs: number): Promise<boolean> {
  for (const end = performance.now() + waitMs; performance.now() < end; await sleep(lookMs))
    if (await hasManifest(place)) return true;
  return false;
}

/** Creates the manifest. If two clients create it after all, the second client restores what the first had written. */
export async function createUnlessExists(place: Root, schema: Schema): Promise<void> {
  try {
    await withDataset(place, manifestFolder, async (connection) => {
      const made = await connection.createEmptyTable(datasetName, schema);
      try {
        await isFirst(made);
      } finally {
        made.close();
      }
    });
  } catch (error) {
    // If a manifest exists now, another client has created it first, and the error is ignored.
    if (!(await hasManifest(place))) throw engineError(error, namespaceSubject([]));
  }
}

/** Returns the columns of a manifest as this engine creates them, with their metadata. */
export const manifestSchema = (): Promise<Schema> =>
  withTempFolder('manifest', async (folder) => {
    await makeEmptyList(folder);
    return withDataset({ location: folder, isLocal: true }, manifestFolder, async (connection) => {
      const table = await connection.openTable(datasetName);
      try {
        return await table.schema();
      } finally {
        table.close();
      }
    });
  });

/**
 * Creates an empty manifest. The engine creates the manifest with the first namespace, so a namespace is created and
 * dropped.
 */
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

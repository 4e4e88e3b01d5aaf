import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection } from '@lancedb/lancedb';
import type { Place } from './dirConnection.ts';
import { loadNative } from '#engine/native.ts';

/** What a dataset is called on the connection that shows it. */
export const datasetName = 'dataset';

/**
 * Runs a call on a connection that has one table, called `datasetName`: the dataset in `folder` of the root, whatever the
 * folder is called. The engine's own connections reach only folders that are called `<table>.lance` or stand in the list
 * of tables, and neither is true for that list itself, nor for a table before it is in the list.
 */
export async function onDataset<T>(
  place: Place,
  folder: string,
  call: (connection: Connection) => Promise<T>,
): Promise<T> {
  return place.isLocal ? onLocal(place, folder, call) : onStore(place, folder, call);
}

/** By a link that has the name that the engine looks for; a junction on Windows, which everybody may make. */
async function onLocal<T>(place: Place, folder: string, call: (connection: Connection) => Promise<T>): Promise<T> {
  const links = await mkdtemp(join(tmpdir(), 'lance-catalog-'));
  try {
    await symlink(join(place.location, folder), join(links, `${datasetName}.lance`), 'junction');
    return await on(links, {}, call);
  } finally {
    await rm(links, { recursive: true, force: true });
  }
}

/** An object store has no links. The engine adds the name to the address, here behind a `#`, where a store looks no more. */
const onStore = <T>(place: Place, folder: string, call: (connection: Connection) => Promise<T>): Promise<T> =>
  on(`${place.location.replace(/\/+$/, '')}/${folder}#`, { ...place.storageOptions }, call);

async function on<T>(
  uri: string,
  storageOptions: Record<string, string>,
  call: (connection: Connection) => Promise<T>,
): Promise<T> {
  const { connect } = await loadNative();
  // Without an interval a handle stays at what it has read or written itself.
  const connection = await connect(uri, { storageOptions });
  try {
    return await call(connection);
  } finally {
    connection.close();
  }
}

import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Connection } from '@lancedb/lancedb';
import { loadNative } from '#engine/native.ts';
import { withTempFolder } from '#processes/files.ts';
import type { Root } from './dirConnection.ts';

/** The table name of the dataset on the connection of `withDataset`. */
export const datasetName = 'dataset';

/**
 * Runs a call on a connection whose only table, `datasetName`, is the dataset in `folder` of the root. A plain
 * connection of the engine can open only folders that are named `<table>.lance` or listed in the manifest. So a plain
 * connection can't open the manifest itself, or a table that is not listed yet.
 */
export async function withDataset<T>(
  place: Root,
  folder: string,
  call: (connection: Connection) => Promise<T>,
): Promise<T> {
  return place.isLocal ? onLocal(place, folder, call) : onStore(place, folder, call);
}

/**
 * Links to the dataset under the name that the engine looks for. On Windows the link is a junction, which needs no
 * privileges.
 */
const onLocal = <T>(place: Root, folder: string, call: (connection: Connection) => Promise<T>): Promise<T> =>
  withTempFolder('links', async (links) => {
    await symlink(join(place.location, folder), join(links, `${datasetName}.lance`), 'junction');
    return on(links, {}, call);
  });

/**
 * An object store has no links. The engine appends the table name to the address; the address ends with `#`, so the
 * store ignores the name.
 */
const onStore = <T>(place: Root, folder: string, call: (connection: Connection) => Promise<T>): Promise<T> =>
  on(`${place.location.replace(/\/+$/, '')}/${folder}#`, { ...place.storageOptions }, call);

async function on<T>(
  uri: string,
  storageOptions: Record<string, string>,
  call: (connection: Connection) => Promise<T>,
): Promise<T> {
  const { connect } = await loadNative();
  // The connection has no consistency interval, so a handle sees only what it has read or written itself.
  const connection = await connect(uri, { storageOptions });
  try {
    return await call(connection);
  } finally {
    connection.close();
  }
}

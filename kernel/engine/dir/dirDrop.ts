import { join } from 'node:path';
import type { Connection } from '@lancedb/lancedb';
import { isCatalogError } from '#shared/errors.ts';
import type { Root } from './dirConnection.ts';
import { tableNotFound, type TableId } from './dirRename.ts';
import { engineError, tableSubject } from '#engine/errors/engineErrors.ts';
import {
  foldersOf,
  isDeregistered,
  isSinglePathSegment,
  isTableLocation,
  pathExists,
  removeFolder,
  rootFolder,
} from './files/folders.ts';
import { loadNative } from '#engine/native.ts';
import { withManifestLock, manifestFolder, objectId, updateManifest } from './files/manifestTable.ts';

/**
 * Drops a table and its files ("DropTable"). First the row of the manifest is removed, then the files. Each of these is
 * one step, so that half a table never exists. The engine's own drop deletes file by file, misses files if it escapes
 * the name of the table, and fails for a table in the root that has no row.
 * @throws CatalogError TableNotFound (4)
 */
export async function dropTable(place: Root, connection: Connection, table: TableId): Promise<void> {
  // A name with several path segments is left to the engine, because only the engine knows the folder of such a name.
  const isPath = table.path.length === 0 && !isSinglePathSegment(table.name);
  if (isPath && !table.name.split(/[/\\]/).every(isSinglePathSegment)) throw tableNotFound(table);
  if (!place.isLocal || isPath) return dropByEngine(place, connection, table);
  const entry = await unlist(place, table);
  const folder = table.path.length === 0 ? rootFolder(table.name) : entry?.location;
  // If the row names a location that can't hold a table, only the row is removed and no files are deleted.
  if (entry && !isTableLocation(entry.location)) return;
  const folders = folder === undefined ? [] : await foldersOf(place.location, folder);
  // A deregistered table keeps its files, even if the manifest still has its row.
  const isForgotten = table.path.length === 0 && (await isDeregistered(place.location, rootFolder(table.name)));
  if (isForgotten || (!entry && folders.length === 0)) throw tableNotFound(table);
  for (const one of folders) await removeFolder(place.location, one);
}

async function unlist(place: Root, { name, path }: TableId) {
  if (!(await pathExists(join(place.location, manifestFolder)))) return undefined;
  const id = objectId(name, path);
  return updateManifest(place, (manifest) => manifest.take(id));
}

async function dropByEngine(place: Root, connection: Connection, { name, path }: TableId): Promise<void> {
  try {
    await withManifestLock(place, () => connection.dropTable(name, [...path]));
  } catch (error) {
    const isMissing = isCatalogError(engineError(error, tableSubject(name, path)), 'TableNotFound');
    if (!isMissing || path.length > 0 || !isSinglePathSegment(name)) throw error;
    // A table in the root can exist without a row. Opening it throws if it does not exist. If it exists, a row is
    // added, because the engine drops only tables with a row.
    (await connection.openTable(name)).close();
    const taken = await updateManifest(place, (manifest) =>
      manifest.insert(objectId(name, []), { location: rootFolder(name), metadata: null }, undefined),
    );
    if (taken === 'namespace') await dropFiles(place, name);
    else await withManifestLock(place, () => connection.dropTable(name));
  }
}

/**
 * Drops a table of the root by its folder and not by the manifest, because in the manifest a namespace has the name.
 */
async function dropFiles({ location, storageOptions }: Root, name: string): Promise<void> {
  const { connect } = await loadNative();
  const connection = await connect(location, { storageOptions: { ...storageOptions } });
  try {
    await connection.dropTable(name);
  } finally {
    connection.close();
  }
}

import { join } from 'node:path';
import type { Connection } from '@lancedb/lancedb';
import { isCatalogError } from '#shared/errors.ts';
import type { Place } from './dirConnection.ts';
import { markers } from './dirRegister.ts';
import { notThere, type Named } from './dirRename.ts';
import { engineError, tableSubject } from './engineErrors.ts';
import { foldersOf, isThere, removeFolder, rootFolder } from './folders.ts';
import { manifestFolder, objectId, onManifest } from './manifestTable.ts';

/**
 * Drops a table and its files ("DropTable"): what is listed first and then the files, each in one step, so that there is
 * never half a table. The engine itself deletes file by file, loses those of names that it escapes, and can't drop a
 * table in the root that its list does not have, as those that other ways of connecting make.
 * @throws CatalogError TableNotFound (4)
 */
export async function dropTable(place: Place, connection: Connection, table: Named): Promise<void> {
  if (!place.isLocal) return dropInStore(place, connection, table);
  const entry = await unlist(place, table);
  const folder = table.path.length === 0 ? rootFolder(table.name) : entry?.location;
  const folders = folder === undefined ? [] : await foldersOf(place.location, folder);
  const isForgotten =
    !entry && folder !== undefined && (await isThere(join(place.location, folder, markers.forgotten)));
  if (!entry && (folders.length === 0 || isForgotten)) throw notThere(table);
  for (const one of folders) await removeFolder(place.location, one);
}

async function unlist(place: Place, { name, path }: Named) {
  if (!(await isThere(join(place.location, manifestFolder)))) return undefined;
  const id = objectId(name, path);
  return onManifest(place, async (manifest) => {
    const found = await manifest.find(id);
    return found && (await manifest.remove(id)) ? found : undefined;
  });
}

async function dropInStore(place: Place, connection: Connection, { name, path }: Named): Promise<void> {
  try {
    await connection.dropTable(name, [...path]);
  } catch (error) {
    const isMissing = isCatalogError(engineError(error, tableSubject(name, path)), 'TableNotFound');
    if (!isMissing || path.length > 0) throw error;
    // In the root it may be there all the same.
    (await connection.openTable(name)).close();
    await onManifest(place, (manifest) =>
      manifest.insert(objectId(name, []), { location: rootFolder(name), metadata: null }, undefined),
    );
    await connection.dropTable(name);
  }
}

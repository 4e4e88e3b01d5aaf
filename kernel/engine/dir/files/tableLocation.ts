import { join } from 'node:path';
import type { Root } from '#engine/dir/dirConnection.ts';
import { fullLocation } from '#engine/dir/dirRegister.ts';
import type { TableId } from '#engine/dir/dirRename.ts';
import { entryOf, objectId } from './manifestTable.ts';
import { inRoot, isSinglePathSegment, pathExists, markers, rootFolder } from './folders.ts';

/**
 * Returns the full path or address of a table's files; `undefined` if the manifest or the local root has no such table.
 */
export async function tableLocation(place: Root, { name, path }: TableId): Promise<string | undefined> {
  if (path.length > 0) {
    const entry = await entryOf(place, objectId(name, path));
    return entry && fullLocation(place, entry.location);
  }
  if (!isSinglePathSegment(name)) return undefined;
  const folder = rootFolder(name);
  // If the engine escaped characters of the name, the folder has another name. Then the result is `undefined`.
  return !place.isLocal || (await pathExists(inRoot(place.location, folder))) ? fullLocation(place, folder) : undefined;
}

/**
 * Returns the location of a table that is declared but not yet written, or `undefined` for other tables of a local
 * root. An object store has no markers, so there the location of every table is returned, and the caller checks for
 * data.
 */
export async function declaredLocation(place: Root, table: TableId): Promise<string | undefined> {
  const location = await tableLocation(place, table);
  if (location === undefined || !place.isLocal) return location;
  const isWritten = await pathExists(join(location, '_versions'));
  return !isWritten && (await pathExists(join(location, markers.declared))) ? location : undefined;
}

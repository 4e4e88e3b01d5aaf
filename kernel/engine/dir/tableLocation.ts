import { join } from 'node:path';
import type { Place } from './dirConnection.ts';
import { fullLocation } from './dirRegister.ts';
import type { Named } from './dirRename.ts';
import { entryOf, objectId } from './manifestTable.ts';
import { inRoot, isOneStep, isThere, markers, rootFolder } from './folders.ts';

/** Returns the full path or address of a table's files; `undefined` if the manifest has no location. */
export async function tableLocation(place: Place, { name, path }: Named): Promise<string | undefined> {
  if (path.length > 0) {
    const entry = await entryOf(place, objectId(name, path));
    return entry && fullLocation(place, entry.location);
  }
  if (!isOneStep(name)) return undefined;
  const folder = rootFolder(name);
  // A name with characters that the engine escapes is in a folder with another name.
  return !place.isLocal || (await isThere(inRoot(place.location, folder))) ? fullLocation(place, folder) : undefined;
}

/**
 * Returns the location of a declared, not yet written table, or `undefined` for other tables. In an object store a
 * table whose files are missing looks the same.
 */
export async function declaredLocation(place: Place, table: Named): Promise<string | undefined> {
  const location = await tableLocation(place, table);
  if (location === undefined || !place.isLocal) return location;
  const isWritten = await isThere(join(location, '_versions'));
  return !isWritten && (await isThere(join(location, markers.declared))) ? location : undefined;
}

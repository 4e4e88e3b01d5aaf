import { join } from 'node:path';
import type { Place } from './dirConnection.ts';
import { fullLocation } from './dirRegister.ts';
import type { Named } from './dirRename.ts';
import { entryOf, objectId } from './manifestTable.ts';
import { inRoot, isOneStep, isThere, markers, rootFolder } from './folders.ts';

/** Where the files of a table are, as a whole path or address; `undefined` where the list says nothing. */
export async function tableLocation(place: Place, { name, path }: Named): Promise<string | undefined> {
  if (path.length > 0) {
    const entry = await entryOf(place, objectId(name, path));
    return entry && fullLocation(place, entry.location);
  }
  if (!isOneStep(name)) return undefined;
  const folder = rootFolder(name);
  // Names with characters of their own are in a folder that is called otherwise.
  return !place.isLocal || (await isThere(inRoot(place.location, folder))) ? fullLocation(place, folder) : undefined;
}

/**
 * Where a table will be whose name is taken and that nobody has written yet; `undefined` for any other. In an object store
 * a table whose files are gone looks the same.
 */
export async function declaredLocation(place: Place, table: Named): Promise<string | undefined> {
  const location = await tableLocation(place, table);
  if (location === undefined || !place.isLocal) return location;
  const isWritten = await isThere(join(location, '_versions'));
  return !isWritten && (await isThere(join(location, markers.declared))) ? location : undefined;
}

import { isCatalogError, messageOf } from '#shared/errors.ts';
import type { Place } from './dirConnection.ts';
import type { Named } from './dirRename.ts';
import type { DirTable } from './dirTable.ts';
import { isUnwritten } from './engineErrors.ts';
import { declaredLocation } from './tableLocation.ts';

type Open = () => Promise<DirTable>;

/**
 * Where a table will be whose name is taken and that nobody has written yet; `undefined` for any other. A local folder
 * has a mark for it. In an object store it is a place where the engine finds no version; a table whose files somebody has
 * deleted looks the same there, a broken one does not.
 */
export async function declaredAt(place: Place, table: Named, open: Open): Promise<string | undefined> {
  const location = await declaredLocation(place, table);
  if (location === undefined || place.isLocal) return location;
  const failure = await failureOf(open);
  return failure !== undefined && isUnwritten(failure) ? location : undefined;
}

/** @throws CatalogError TableNotFound (4), NamespaceNotFound (1) */
export async function isOnlyDeclared(place: Place, table: Named, open: Open): Promise<boolean> {
  const failure = await failureOf(open);
  if (failure === undefined) return false;
  if (!isCatalogError(failure, 'InvalidTableState')) throw failure;
  if (!place.isLocal && !isUnwritten(failure)) return false;
  return (await declaredLocation(place, table)) !== undefined;
}

/** Whether a table is there, also one of which nothing can be read, or in which nothing is written yet. */
export async function isListed(open: Open): Promise<boolean> {
  const failure = await failureOf(open);
  if (failure === undefined || isCatalogError(failure, 'InvalidTableState')) return true;
  if (isCatalogError(failure, 'TableNotFound') || isCatalogError(failure, 'NamespaceNotFound')) return false;
  throw failure;
}

async function failureOf(open: Open): Promise<Error | undefined> {
  try {
    (await open()).close();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(messageOf(error), { cause: error });
  }
}

import type { Connection, Table as NativeTable } from '@lancedb/lancedb';
import { isCatalogError } from '#shared/errors.ts';
import { engineError, tableSubject } from './engineErrors.ts';

/**
 * Makes a table that must be new. The engine lists a table before it writes it, and leaves it in the list when it can't
 * write it; what it left is removed here. A table that was there before, even a broken one, is never removed.
 */
export async function createNew(
  connection: Connection,
  name: string,
  path: string[],
  create: () => Promise<NativeTable>,
): Promise<NativeTable> {
  const isNew = (await stateOf(connection, name, path)) === 'missing';
  try {
    return await create();
  } catch (error) {
    if (isNew && (await stateOf(connection, name, path)) === 'unreadable') {
      // Why it was not made matters more than that it was not tidied up.
      await connection.dropTable(name, path).catch(() => undefined);
    }
    throw error;
  }
}

async function stateOf(
  connection: Connection,
  name: string,
  path: string[],
): Promise<'readable' | 'missing' | 'unreadable' | 'unknown'> {
  try {
    (await connection.openTable(name, path)).close();
    return 'readable';
  } catch (error) {
    const told = engineError(error, tableSubject(name, path));
    if (isCatalogError(told, 'TableNotFound')) return 'missing';
    return isCatalogError(told, 'InvalidTableState') ? 'unreadable' : 'unknown';
  }
}

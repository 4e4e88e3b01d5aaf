import type { Catalog, OpenTableOptions } from '#catalog/catalog.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import type { Table } from './table.ts';

/** Opens a table at a version or a tag, or at the version that is the newest now, so that later writes don't change it. */
export async function openPinned(
  catalog: Catalog,
  path: readonly string[],
  { version, tag, branch, signal }: Pick<OpenTableOptions, 'version' | 'tag' | 'branch' | 'signal'>,
): Promise<{ table: Table; version: number | undefined }> {
  const name = path.at(-1);
  if (name === undefined)
    throw new CatalogError('InvalidInput', 'The path of the table is empty.', "Pass for instance ['shop', 'orders'].");
  const namespacePath = path.slice(0, -1);
  const open = (at: { version?: number | undefined; tag?: string | undefined }): Promise<Table> =>
    catalog.openTable(name, { namespacePath, branch, signal, ...at });
  const newest = await open({ version, tag });
  const current = await versionOf(newest, signal);
  // A tag or a version can't change.
  const isPinned = version !== undefined || tag !== undefined || current === undefined;
  return { table: isPinned ? newest : await open({ version: current }), version: current };
}

/** Returns the version of a table; undefined if the server reports none. */
async function versionOf(table: Table, signal: AbortSignal | undefined): Promise<number | undefined> {
  try {
    return await table.version({ signal });
  } catch (error) {
    if (isCatalogError(error, 'Unsupported')) return undefined;
    throw error;
  }
}

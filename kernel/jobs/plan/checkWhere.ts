import type { Catalog } from '#catalog/catalog.ts';
import type { Table } from '#catalog/table/table.ts';
import { withCatalog } from '#jobs/openCatalog.ts';
import { isCatalogError } from '#shared/errors.ts';
import type { ChoosingRequest } from './chooseRunner.ts';

/**
 * Checks the user's filter alone, so that an error shows the filter as written. Later queries combine the filter with
 * generated conditions, and the errors of these queries would show the generated conditions too.
 * @throws CatalogError InvalidInput, ColumnNotFound for errors in the filter
 */
export async function checkWhere(
  { catalog, pinned }: { readonly catalog: Catalog; readonly pinned: Table },
  where: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (where === undefined) return;
  // On a server one row is requested, because servers may refuse a limit of 0.
  const rows = catalog.implementation === 'dir' ? 0 : 1;
  try {
    await pinned.query().where(where).limit(rows).toArray({ signal });
  } catch (error) {
    signal.throwIfAborted();
    if (isCatalogError(error, 'InvalidInput') || isCatalogError(error, 'ColumnNotFound')) throw error;
  }
}

/**
 * Checks the filter before a job starts. Jobs that run on the server are not checked.
 * @throws CatalogError as `checkWhere` and `openTable`
 */
export async function checkRows(request: ChoosingRequest, signal: AbortSignal): Promise<void> {
  const { table, column, where, readVersion, runner, function: fn } = request;
  if (where === undefined || runner === 'rest' || fn.kind === 'server') return;
  const pin = readVersion === undefined ? {} : { version: readVersion };
  await withCatalog(table.catalog, signal, async (catalog) => {
    const pinned = await catalog.openTable(table.name, { namespacePath: table.namespacePath, ...pin, signal });
    const { fields } = await pinned.schema({ signal });
    // The filter may name a column that is added later. Then it can't be checked yet.
    if (where.includes(column) && !fields.some(({ name }) => name === column)) return;
    await checkWhere({ catalog, pinned }, where, signal);
  });
}

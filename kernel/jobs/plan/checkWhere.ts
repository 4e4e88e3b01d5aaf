import type { Catalog } from '#catalog/catalog.ts';
import type { Table } from '#catalog/table.ts';
import { onCatalog } from '#jobs/openCatalog.ts';
import { isCatalogError } from '#shared/errors.ts';
import type { ChoosingRequest } from './chooseRunner.ts';

/**
 * Asks for rows by the condition that somebody gave and by nothing else: what computes them adds to it, and errors would show
 * what was added. Where the catalog can't be asked, whatever comes next says so.
 * @throws CatalogError InvalidInput, ColumnNotFound, about the condition as it was written
 */
export async function checkWhere(
  { catalog, pinned }: { readonly catalog: Catalog; readonly pinned: Table },
  where: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (where === undefined) return;
  // Servers may take no rows at all for a mistake.
  const rows = catalog.implementation === 'dir' ? 0 : 1;
  try {
    await pinned.query().where(where).limit(rows).toArray({ signal });
  } catch (error) {
    signal.throwIfAborted();
    if (isCatalogError(error, 'InvalidInput') || isCatalogError(error, 'ColumnNotFound')) throw error;
  }
}

/**
 * The same before a job begins, which would only fail of it. What a server computes is left to that server.
 * @throws CatalogError as `checkWhere` and `openTable`
 */
export async function checkRows(request: ChoosingRequest, signal: AbortSignal): Promise<void> {
  const { table, column, where, readVersion, runner, function: fn } = request;
  if (where === undefined || runner === 'rest' || fn.kind === 'server') return;
  const pin = readVersion === undefined ? {} : { version: readVersion };
  await onCatalog(table.catalog, signal, async (catalog) => {
    const pinned = await catalog.openTable(table.name, { namespacePath: table.namespacePath, ...pin, signal });
    const { fields } = await pinned.schema({ signal });
    // The column is made before the job begins.
    if (where.includes(column) && !fields.some(({ name }) => name === column)) return;
    await checkWhere({ catalog, pinned }, where, signal);
  });
}

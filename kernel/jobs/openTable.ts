import type { Table } from '#client/table.ts';
import type { TableReference } from '#shared/jobs/backfill.ts';
import { onCatalog } from './openCatalog.ts';

/**
 * Runs a call on a table, whose catalog is closed after it.
 * @throws CatalogError as `openTable`
 */
export const onTable = <T>(
  { catalog, namespacePath, name }: TableReference,
  signal: AbortSignal,
  call: (table: Table) => Promise<T>,
): Promise<T> =>
  onCatalog(catalog, signal, async (opened) => call(await opened.openTable(name, { namespacePath, signal })));

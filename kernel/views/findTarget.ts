import { CatalogError } from '#shared/errors.ts';
import type { SqlRequest, SqlTarget } from '#shared/protocol/viewsMessages.ts';
import { findTablePlace, newTablePlace } from '#sql/catalogTables.ts';
import { readStatement } from '#sql/statement.ts';
import type { OpenCatalogs } from './openCatalogs.ts';

/**
 * Returns the table that a statement writes. The first part of its name may be a namespace or a connection, so the
 * catalogs decide.
 * @throws CatalogError NamespaceNotFound (1) or TableNotFound (4) if the table can't be there
 */
export async function findTarget(catalogs: OpenCatalogs, request: SqlRequest, signal: AbortSignal): Promise<SqlTarget> {
  const { write } = readStatement(request.text, 'file');
  if (!write) throw new CatalogError('InvalidInput', 'The statement does not write a table.', 'Run it.');
  return catalogs.with(request, async (used) => {
    const find = write.kind === 'create' ? newTablePlace : findTablePlace;
    const { catalog, namespacePath, name } = await find(used, write.name, signal);
    let connection: string | null = null;
    for (const other of Object.keys(request.others))
      if (catalog !== used.catalog && (await used.otherCatalog?.(other, signal)) === catalog) connection = other;
    return { connection, table: [...namespacePath, name].join('.') };
  });
}

import type { Schema } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import type { Table } from '#catalog/table/table.ts';
import { CatalogError } from '#shared/errors.ts';
import type { TablePlace } from './sqlMessages.ts';

/** A table of the catalog with its name in the database of the query. */
export type NamedTable = TablePlace & { table: Table; fields: Schema['fields'] };

/** Number of names suggested if a table is not found. */
const maxNames = 8;

/**
 * Finds the table for a name in SQL: `products`, `shop.products`, `"shop/eu".orders` or `"shop/eu/orders"`.
 * @param written the name as SQLite reports it in an error, without quotes
 * @throws CatalogError TableNotFound (4) naming existing tables
 */
export async function findTable(db: Catalog, written: string, signal: AbortSignal): Promise<NamedTable> {
  for (const { schema, name, path, table } of candidates(written)) {
    const options = { namespacePath: path, signal };
    if (!(await exists(db, table, options))) continue;
    const opened = await db.openTable(table, options);
    const { fields } = await opened.schema({ signal });
    return { schema, name, table: opened, fields };
  }
  throw new CatalogError(
    'TableNotFound',
    `There is no table ${written} in ${db.location || 'the catalog'}.`,
    await hint(db, written, signal),
  );
}

async function exists(db: Catalog, table: string, options: { namespacePath: string[]; signal: AbortSignal }) {
  // If the namespace is missing, there is no such table.
  if (
    options.namespacePath.length > 0 &&
    !(await db.namespaceExists(options.namespacePath, { signal: options.signal }))
  )
    return false;
  return db.tableExists(table, options);
}

/** Returns the interpretations of a name: dots and slashes may separate namespaces. */
function* candidates(written: string): Generator<{ schema: string; name: string; path: string[]; table: string }> {
  yield { schema: 'main', name: written, path: [], table: written };
  for (let dot = written.indexOf('.'); dot > 0; dot = written.indexOf('.', dot + 1)) {
    const [schema, name] = [written.slice(0, dot), written.slice(dot + 1)];
    const path = schema === 'main' ? [] : schema.split('/');
    if (name !== '' && path.every((part) => part !== '')) yield { schema, name, path, table: name };
  }
  const parts = written.split('/');
  const table = parts.pop();
  if (table !== undefined && table !== '' && parts.length > 0 && parts.every((part) => part !== ''))
    yield { schema: 'main', name: written, path: parts, table };
}

async function hint(db: Catalog, written: string, signal: AbortSignal): Promise<string> {
  const path = written.includes('/') ? written.split('/').slice(0, -1) : written.split('.').slice(0, -1);
  try {
    const [{ tables }, { namespaces }] = await Promise.all([
      db.listTables(path, { limit: maxNames, signal }),
      db.listNamespaces(path, { limit: maxNames, signal }),
    ]);
    const names = [...tables, ...namespaces.map((name) => `${name}.…`)].slice(0, maxNames);
    if (names.length > 0)
      return `There are ${names.join(', ')}. Write tables in nested namespaces as "shop/eu".orders.`;
  } catch {
    // If the names can't be listed, there are no suggestions.
  }
  return 'List the names with db.listTables(). Write tables in namespaces as shop.products or "shop/eu".orders.';
}

import { Schema, Table as ArrowTable } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { CatalogError, isCatalogErrorKind, messageOf } from '#shared/errors.ts';
import { RemoteError } from '#shared/protocol/rpc.ts';
import { isSamePlace, type SqlMethods } from './sqlMessages.ts';
import { sqlProcessEnded, type SqlConnection } from './sqlProcess.ts';
import { writeStream } from './sqlTypes.ts';
import { findTable, type NamedTable } from './sqlTables.ts';
import { columnsIn } from './sqlText.ts';

/**
 * Sends a request to the database of a query.
 * @throws CatalogError InvalidInput (13) if SQLite rejects the query, ServiceUnavailable (17) if the process of SQLite
 * has ended
 */
export async function ask<K extends keyof SqlMethods>(
  database: SqlConnection,
  method: K,
  params: SqlMethods[K][0],
  tables: readonly NamedTable[],
): Promise<SqlMethods[K][1]> {
  try {
    return await database.request(method, params);
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
    const { code, message } = error;
    if (code === 'closed') throw sqlProcessEnded(database.end ?? 'unknown reason', error);
    // An error of this product already contains the hint in its message, so no other hint is added.
    if (isCatalogErrorKind(code)) throw new CatalogError(code, message, '', { cause: error });
    throw refusal(textIn(params), error, tables);
  }
}

/** Creates an empty table for each table that SQLite reports as missing. */
export async function defineTables(
  database: SqlConnection,
  text: string,
  catalog: Catalog,
  signal: AbortSignal,
): Promise<NamedTable[]> {
  const tables: NamedTable[] = [];
  for (;;) {
    const missing = await ask(database, 'missing', { text }, tables);
    if (missing === null) return tables;
    const found = await findTable(catalog, missing, signal);
    const fields = writeStream(new ArrowTable(new Schema(found.fields)));
    await ask(database, 'define', { schema: found.schema, name: found.name, fields }, tables);
    tables.push(found);
  }
}

/** Returns the columns that the query reads, for each table. */
export async function columnsOf(
  database: SqlConnection,
  text: string,
  tables: readonly NamedTable[],
): Promise<ReadonlyMap<NamedTable, string[]>> {
  const read = await ask(database, 'columns', { text }, tables);
  return new Map(
    tables.map((table) => {
      const all = table.fields.map(({ name }) => name);
      const ofTable = new Set(read?.filter((each) => isSamePlace(each, table)).map(({ column }) => column));
      const needed = read ? all.filter((name) => ofTable.has(name)) : columnsIn(text, all);
      // If the query needs no column, as in a count of rows, the first column is read, because rows need at least one
      // column.
      return [table, needed.length > 0 ? needed : all.slice(0, 1)];
    }),
  );
}

const textIn = (params: SqlMethods[keyof SqlMethods][0]): string => (params && 'text' in params ? params.text : '');

/** Converts an error of SQLite, with a hint for the query and its tables. */
function refusal(text: string, error: unknown, tables: readonly NamedTable[]): CatalogError {
  const said = messageOf(error).trim();
  return new CatalogError('InvalidInput', `SQL: ${said}.`, hintFor(text, said, tables), { cause: error });
}

function hintFor(text: string, said: string, tables: readonly NamedTable[]): string {
  if (said.startsWith('no such column') && tables.length > 0) return tables.map(columnsText).join(' ');
  const isDeep = /\w\.\w+\.\w/.test(text) && said.startsWith('near "."');
  if (isDeep) return 'Write a table in nested namespaces as "shop/eu".orders.';
  if (said.startsWith('near "?"'))
    return '${…} is a value: write names of tables and columns in full, and a list in parentheses, as in (${list}).';
  return 'Use the SQL of SQLite: see sqlite.org/lang.html.';
}

const maxColumns = 40;

function columnsText({ name, fields }: NamedTable): string {
  const names = fields.slice(0, maxColumns).map((field) => field.name);
  return `Columns of ${name}: ${names.join(', ')}${fields.length > maxColumns ? ', …' : ''}.`;
}

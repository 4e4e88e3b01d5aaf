import { Schema, Table as ArrowTable } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { CatalogError, isCatalogErrorKind, messageOf } from '#shared/errors.ts';
import { RemoteError } from '#shared/protocol/rpc.ts';
import { isSamePlace, type SqlMethods } from './sqlMessages.ts';
import { sqlEnded, type SqlConnection } from './sqlProcess.ts';
import { writeStream } from './sqlTypes.ts';
import { findTable, type NamedTable } from './sqlTables.ts';
import { columnsIn } from './sqlText.ts';

/**
 * Asks the database of a query.
 * @throws CatalogError InvalidInput (13) for what SQLite has against it, ServiceUnavailable (17) when its process has ended
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
    if (code === 'closed') throw sqlEnded(database.end ?? 'nothing is known of why', error);
    // The message of ours has its hint in it.
    if (isCatalogErrorKind(code)) throw new CatalogError(code, message, '', { cause: error });
    throw refusal(textIn(params), error, tables);
  }
}

/** Makes an empty table for each that the query names, as SQLite asks for them. */
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

/** The columns of each table that the query reads. */
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
      // To count rows, any column will do.
      return [table, needed.length > 0 ? needed : all.slice(0, 1)];
    }),
  );
}

const textIn = (params: SqlMethods[keyof SqlMethods][0]): string => (params && 'text' in params ? params.text : '');

/** What SQLite has against a query over these tables. */
function refusal(text: string, error: unknown, tables: readonly NamedTable[]): CatalogError {
  const said = messageOf(error).trim();
  return new CatalogError('InvalidInput', `SQL: ${said}.`, hintFor(text, said, tables), { cause: error });
}

function hintFor(text: string, said: string, tables: readonly NamedTable[]): string {
  if (said.startsWith('no such column') && tables.length > 0) return tables.map(columnsText).join(' ');
  const isDeep = /\w\.\w+\.\w/.test(text) && said.startsWith('near "."');
  if (isDeep) return 'A table in nested namespaces is written "shop/eu".orders.';
  if (said.startsWith('near "?"'))
    return 'A ${…} is a value: write names of tables and columns out, and a list in parentheses, as in (${list}).';
  return 'The SQL is that of SQLite: see sqlite.org/lang.html.';
}

const maxColumns = 40;

function columnsText({ name, fields }: NamedTable): string {
  const names = fields.slice(0, maxColumns).map((field) => field.name);
  return `${name} has: ${names.join(', ')}${fields.length > maxColumns ? ', …' : ''}.`;
}

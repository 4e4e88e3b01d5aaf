import type * as sqliteModule from 'node:sqlite';
import type { DatabaseSync } from 'node:sqlite';
import type { Catalog } from '#client/catalog.ts';
import { CatalogError, messageOf } from '#shared/errors.ts';
import { findTable, type NamedTable } from './sqlTables.ts';
import { columnsIn, quotedName } from './sqlText.ts';
import { affinityOf } from './sqlValues.ts';

type Sqlite = Pick<typeof sqliteModule, 'DatabaseSync' | 'constants'>;

/** @throws CatalogError Unsupported (0) where Node was built without it */
export function loadSqlite(): Sqlite {
  // oxlint-disable-next-line typescript/unbound-method -- put back as it is: bound again by each query, it would grow
  const { emitWarning } = process;
  // An older Node says as it loads that it is experimental, in the output of the cell. Nothing else runs meanwhile: another
  // query that loads it, or a cell that warns, would find no warnings here, or leave none.
  process.emitWarning = () => {};
  try {
    const sqlite = process.getBuiltinModule('node:sqlite') as Sqlite | undefined;
    if (sqlite) return sqlite;
  } finally {
    process.emitWarning = emitWarning;
  }
  throw new CatalogError(
    'Unsupported',
    'The Node of this kernel has no SQLite.',
    'Choose a usual build of Node 22.19 or later.',
  );
}

/** Makes an empty table for each that the query names, as SQLite asks for them. */
export async function defineTables(
  database: DatabaseSync,
  text: string,
  catalog: Catalog,
  signal: AbortSignal,
): Promise<NamedTable[]> {
  const tables: NamedTable[] = [];
  const schemas = new Set(['main']);
  for (;;) {
    signal.throwIfAborted();
    const missing = missingTable(database, text, tables);
    if (missing === undefined) return tables;
    const found = await findTable(catalog, missing, signal);
    if (!schemas.has(found.schema)) {
      attach(database, found.schema);
      schemas.add(found.schema);
    }
    const columns = found.fields.map(({ name, type }) => `${quotedName(name)} ${affinityOf(type)}`);
    database.exec(`CREATE TABLE ${placeOf(found)} (${columns.join(', ')})`);
    tables.push(found);
  }
}

/** A table as SQL names it. */
export const placeOf = ({ schema, name }: NamedTable): string => `${quotedName(schema)}.${quotedName(name)}`;

function missingTable(database: DatabaseSync, text: string, known: readonly NamedTable[]): string | undefined {
  try {
    database.prepare(text);
    return undefined;
  } catch (error) {
    const [, missing] = /^no such table: (.+)$/s.exec(messageOf(error)) ?? [];
    if (missing === undefined) throw refusal(text, error, known);
    return missing;
  }
}

function attach(database: DatabaseSync, schema: string): void {
  try {
    database.exec(`ATTACH ':memory:' AS ${quotedName(schema)}`);
  } catch (error) {
    throw new CatalogError(
      'InvalidInput',
      `The query is over too many namespaces: ${messageOf(error)}.`,
      `Write the tables of some in one name, as "${schema}/table".`,
      { cause: error },
    );
  }
}

/** The columns of each table that the query reads. */
export function columnsOf(
  database: DatabaseSync,
  ok: number,
  text: string,
  tables: readonly NamedTable[],
): ReadonlyMap<NamedTable, string[]> {
  const read = new Map(tables.map((table) => [placeOf(table), new Set<string>()]));
  const canTell = typeof database.setAuthorizer === 'function';
  if (canTell) {
    database.setAuthorizer((_, table, column, schema) => {
      if (table !== null && column !== null && schema !== null)
        read.get(`${quotedName(schema)}.${quotedName(table)}`)?.add(column);
      return ok;
    });
    database.prepare(text);
    database.setAuthorizer(null);
  }
  return new Map(
    tables.map((table) => {
      const all = table.fields.map(({ name }) => name);
      const needed = canTell ? all.filter((name) => read.get(placeOf(table))?.has(name)) : columnsIn(text, all);
      // To count rows, any column will do.
      return [table, needed.length > 0 ? needed : all.slice(0, 1)];
    }),
  );
}

/** What SQLite has against a query over these tables. */
export function refusal(text: string, error: unknown, tables: readonly NamedTable[]): CatalogError {
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

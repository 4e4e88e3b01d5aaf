import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Table as ArrowTable } from '#arrow';
import type { Catalog } from '#client/catalog.ts';
import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import type { Progress } from '#session/display/displayTypes.ts';
import { columnsOf, defineTables, loadSqlite, refusal } from './sqlDatabase.ts';
import { load } from './sqlLoading.ts';
import type { NamedTable } from './sqlTables.ts';
import { queryOf } from './sqlTemplate.ts';
import { checkQuery } from './sqlText.ts';
import type { Sql } from './sqlTypes.ts';
import { tableOf, type Stored } from './sqlValues.ts';

/** Rows that a query may give. */
const maxResult = 1_000_000;

export type SqlParts = {
  /** `db` of the notebook, as it is when the query runs. */
  catalog: () => Catalog;
  /** Ends when the running cell is interrupted. */
  signal: () => AbortSignal;
  progress: Progress;
};

/**
 * Makes `sql`: the tables that a query names are read into a database in memory, only the columns that it needs, and there
 * SQLite answers it. So joins, groups and windows work over catalogs that have none of it, wherever their tables are.
 */
export function createSql(parts: SqlParts): Sql {
  return async (texts, ...values) => {
    const { text, bound } = queryOf(texts, values);
    checkQuery(text);
    const signal = parts.signal();
    const { DatabaseSync, constants } = loadSqlite();
    const database = new DatabaseSync(':memory:');
    try {
      database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
      const tables = await defineTables(database, text, parts.catalog(), signal);
      const columns = columnsOf(database, constants.SQLITE_OK, text, tables);
      await load(database, { text, bound }, tables, columns, { progress: parts.progress, signal });
      database.exec('PRAGMA query_only = ON');
      return resultOf(prepare(database, text), bound, tables);
    } finally {
      database.close();
    }
  };
}

/** `db` of a notebook. @throws CatalogError InvalidInput (13) when a cell has made something else of it */
export function catalogIn(variables: Readonly<Record<string, unknown>>): Catalog {
  const { db } = variables;
  const calls = ['openTable', 'tableExists', 'namespaceExists', 'listTables', 'listNamespaces'];
  if (isRecord(db) && calls.every((name) => typeof db[name] === 'function')) return db as unknown as Catalog;
  throw new CatalogError(
    'InvalidInput',
    'SQL asks the tables of db, and db is no catalog any more.',
    'Write db = await connect("./data").',
  );
}

function prepare(database: DatabaseSync, text: string): StatementSync {
  const statement = database.prepare(text);
  statement.setReadBigInts(true);
  return statement;
}

function resultOf(statement: StatementSync, bound: readonly Stored[], tables: readonly NamedTable[]): ArrowTable {
  const columns = statement.columns().map(({ name, column, table, database }) => {
    const origin = tables.find((each) => each.name === table && each.schema === database);
    return { name, type: origin?.fields.find((field) => field.name === column)?.type };
  });
  statement.setReturnArrays(true);
  const rows: Stored[][] = [];
  try {
    for (const row of statement.iterate(...bound)) {
      if (rows.length === maxResult)
        throw new CatalogError(
          'InvalidInput',
          `The result has more than ${maxResult.toLocaleString('en')} rows.`,
          'Add a limit, or group the rows.',
        );
      rows.push(row as unknown as Stored[]);
    }
  } catch (error) {
    throw error instanceof CatalogError ? error : refusal('', error, tables);
  }
  return tableOf(columns, rows);
}

import type { Catalog } from '#client/catalog.ts';
import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import type { Progress } from '#session/display/displayTypes.ts';
import { ask, columnsOf, defineTables } from './sqlDatabase.ts';
import { load } from './sqlLoading.ts';
import { withDatabase } from './sqlProcess.ts';
import { readStream } from './sqlStreams.ts';
import { queryOf } from './sqlTemplate.ts';
import { checkQuery } from './sqlText.ts';
import type { Sql } from './sqlTypes.ts';

export type SqlParts = {
  /** `db` of the notebook, as it is when the query runs. */
  catalog: () => Catalog;
  /** Ends when the running cell is interrupted. */
  signal: () => AbortSignal;
  progress: Progress;
};

/**
 * Makes `sql`: the tables that a query names are read into a database in memory, only the columns that it needs, and there
 * SQLite answers it, in a process of its own. So joins, groups and windows work over catalogs that have none of it, wherever
 * their tables are.
 */
export function createSql(parts: SqlParts): Sql {
  return async (texts, ...values) => {
    const { text, bound } = queryOf(texts, values);
    checkQuery(text);
    const signal = parts.signal();
    return withDatabase(signal, async (database) => {
      const tables = await defineTables(database, text, parts.catalog(), signal);
      const columns = await columnsOf(database, text, tables);
      await load(database, { text, bound }, tables, columns, { progress: parts.progress, signal });
      return readStream(await ask(database, 'answer', { text, bound }, tables));
    });
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

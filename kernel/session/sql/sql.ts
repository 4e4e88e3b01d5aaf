import { type RecordBatch, Table } from '#arrow';
import { readRows, type RowOptions } from '#catalog/arrow/rowValues.ts';
import type { Catalog } from '#catalog/catalog.ts';
import type { Progress } from '#session/display/displayTypes.ts';
import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import { runStatement } from '#sql/runStatement.ts';
import { openSqlEngine, type WatchedScan } from '#sql/sqlEngine.ts';
import { readTemplate } from './sqlTemplate.ts';
import type { Sql, SqlValue } from './sqlTypes.ts';

type SqlDeps = {
  /** Returns the notebook's `db` when the query runs. */
  catalog: () => Catalog;
  /** Returns the catalog with this name: a variable of the notebook, or a connection of the window. */
  otherCatalog?: (name: string, signal: AbortSignal) => Promise<Catalog | undefined>;
  otherCatalogNames?: (signal: AbortSignal) => Promise<readonly string[]>;
  signal: () => AbortSignal;
  progress: Progress;
};

/** Minimum number of rows for which progress is shown. */
const shownRows = 100_000;
/** Maximum size of a result in the memory of the notebook. */
const maxBytes = 2 ** 31;

/**
 * Creates `sql`. The tables of a query are read batch by batch, with only the required columns and rows, by the SQL
 * engine in a separate process. So joins, grouping and window functions work over any catalog.
 */
export function createSql(deps: SqlDeps): Sql {
  const engine = openSqlEngine();
  const watch = ({ name, total, batches }: WatchedScan): AsyncIterable<RecordBatch> =>
    total === undefined || total < shownRows
      ? batches
      : deps.progress(batches, { label: `Reading ${name}`, total, rows: true });
  const run = async (texts: TemplateStringsArray, values: readonly SqlValue[]): Promise<Table> => {
    const template = readTemplate(texts, values);
    const { otherCatalog, otherCatalogNames } = deps;
    const statement = { ...template, catalog: deps.catalog(), otherCatalog, otherCatalogNames, watch };
    const { schema, batches } = await runStatement(engine, statement, deps.signal());
    const all: RecordBatch[] = [];
    let bytes = 0;
    for await (const batch of batches) {
      bytes += batch.data.byteLength;
      if (bytes > maxBytes) throw tooLarge();
      all.push(batch);
    }
    return new Table(schema, all);
  };
  return (texts, ...values) => {
    const result = run(texts, values);
    return Object.assign(result, { toArray: async (options?: RowOptions) => readRows(await result, options) });
  };
}

const tooLarge = (): CatalogError =>
  new CatalogError(
    'InvalidInput',
    'The result has more than 2 GB.',
    'Add a limit, or write the rows to a table: create table shop.top as select ….',
  );

const catalogCalls = ['openTable', 'tableExists', 'namespaceExists', 'listTables', 'listNamespaces'];

/**
 * Whether a value of a notebook is a catalog, also one of another copy of this product. Reading a value may run code of
 * the notebook and fail, for instance with a proxy. Such a value is not a catalog.
 */
function isCatalog(value: unknown): value is Catalog {
  try {
    return isRecord(value) && catalogCalls.every((name) => typeof value[name] === 'function');
  } catch {
    return false;
  }
}

/**
 * Returns `db` of the notebook.
 * @throws CatalogError InvalidInput (13) if a cell has assigned another value to `db`
 */
export function catalogIn(variables: Readonly<Record<string, unknown>>): Catalog {
  const { db } = variables;
  if (isCatalog(db)) return db;
  throw new CatalogError(
    'InvalidInput',
    'SQL queries the tables of db, but db is no longer a catalog.',
    'Write db = await connect("./data").',
  );
}

/** Returns the variable of a notebook with this name if it is a catalog: `company.shop.orders`. */
export function otherCatalogIn(variables: Readonly<Record<string, unknown>>, name: string): Catalog | undefined {
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
  return isCatalog(value) ? value : undefined;
}

/** Returns the names of the variables that hold catalogs, without `db`. */
export const otherCatalogsIn = (variables: Readonly<Record<string, unknown>>): string[] =>
  Object.keys(variables).filter((name) => name !== 'db' && isCatalog(variables[name]));

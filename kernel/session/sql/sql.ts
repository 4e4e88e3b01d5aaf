import type { Table } from '#arrow';
import { readRows, type RowOptions } from '#catalog/arrow/rowValues.ts';
import type { Catalog } from '#catalog/catalog.ts';
import { type SqlToken, sqlTokens } from '#catalog/sqlTokens.ts';
import type { Progress } from '#session/display/displayTypes.ts';
import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import { ask, columnsOf, defineTables } from './sqlDatabase.ts';
import { load } from './sqlLoading.ts';
import { withDatabase } from './sqlProcess.ts';
import { checkQuery } from './sqlText.ts';
import { readStream, type Sql, type SqlValue } from './sqlTypes.ts';
import { boundValue, type SqliteValue } from './sqlValues.ts';

type Given = SqlValue | readonly SqlValue[];

/** The arguments of `sql`: the text with a `?` for each value, and the values. */
type Query = { text: string; bound: SqliteValue[] };

/** The range of the question marks that replace one `${…}` in the text. */
type Place = { start: number; end: number; list: readonly SqlValue[] };

/**
 * Replaces each value by a question mark. Values inside comments are dropped, so that users can comment out a line.
 * @throws CatalogError InvalidInput (13) if a value is at a position where SQLite accepts no value
 */
function queryOf(texts: TemplateStringsArray, values: readonly Given[]): Query {
  const [first = '', ...rest] = texts;
  let text = first;
  const places = rest.map((after, index): Place => {
    const value = values[index] as Given;
    const list: readonly SqlValue[] = Array.isArray(value) ? value : [value as SqlValue];
    const start = text.length;
    text += list.map(() => '?').join(', ');
    const end = text.length;
    text += after;
    return { start, end, list };
  });
  const isRead = readerOf(text);
  return { text, bound: places.filter(isRead).flatMap(({ list }) => list.map(boundValue)) };
}

/** Returns a function that reports whether SQLite reads the value at a place; call it with the places in order. */
function readerOf(text: string): (place: Place) => boolean {
  const tokens = sqlTokens(text);
  let token: SqlToken | undefined;
  let word = '';
  return (place) => {
    while (token === undefined || token.end <= place.start) {
      if (token !== undefined && token.space === undefined) word = token.text.toLowerCase();
      const { value } = tokens.next();
      if (!value) break;
      token = value;
    }
    const start = token ? token.end - token.text.length : place.start;
    const isWithin = token !== undefined && start < place.start && place.start < token.end;
    if (isWithin && token?.quoted !== undefined) throw inQuotes(text, token, place);
    if (isWithin && token?.space !== undefined) return token.text.trim() === '';
    if (word === 'in')
      throw new CatalogError('InvalidInput', 'SQL: the ${…} after in has no parentheses.', 'Write in (${…}).');
    return true;
  };
}

/** Maximum characters of quoted text in messages. Needed because an unclosed quote extends to the end of the query. */
const maxShown = 60;

function inQuotes(text: string, token: SqlToken, { start, end }: Place): CatalogError {
  const from = Math.max(token.end - token.text.length, start - maxShown / 2);
  const to = Math.min(token.end, end + maxShown / 2);
  const shown = `${text.slice(from, start)}\${…}${text.slice(end, to)}`.replaceAll(/\s+/g, ' ');
  const hint = 'Write ${…} without quotes, also for strings; for a part of a string, write ${`%${part}%`}.';
  if (token.text.startsWith("'"))
    return new CatalogError(
      'InvalidInput',
      `SQL: the string ${shown} contains \${…}, but values are not inserted into strings.`,
      hint,
    );
  return new CatalogError(
    'InvalidInput',
    `SQL: the name ${shown} contains \${…}, but a name can't be a value.`,
    'Write names of tables and columns in full, and values without quotes.',
  );
}

type SqlDeps = {
  /** Returns the notebook's `db` when the query runs. */
  catalog: () => Catalog;
  signal: () => AbortSignal;
  progress: Progress;
};

/**
 * Creates `sql`. It reads the tables of a query, with only the required columns, into an in-memory database. SQLite
 * answers the query in a separate process. So joins, grouping and window functions work over any catalog.
 */
export function createSql(parts: SqlDeps): Sql {
  const run = async (texts: TemplateStringsArray, values: readonly Given[]): Promise<Table> => {
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
  return (texts, ...values) => {
    const result = run(texts, values);
    return Object.assign(result, { toArray: async (options?: RowOptions) => readRows(await result, options) });
  };
}

/**
 * Returns `db` of the notebook.
 * @throws CatalogError InvalidInput (13) if a cell has assigned another value to `db`
 */
export function catalogIn(variables: Readonly<Record<string, unknown>>): Catalog {
  const { db } = variables;
  const calls = ['openTable', 'tableExists', 'namespaceExists', 'listTables', 'listNamespaces'];
  if (isRecord(db) && calls.every((name) => typeof db[name] === 'function')) return db as unknown as Catalog;
  throw new CatalogError(
    'InvalidInput',
    'SQL queries the tables of db, but db is no longer a catalog.',
    'Write db = await connect("./data").',
  );
}

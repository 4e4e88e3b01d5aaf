import { type RecordBatch, Table as ArrowTable } from '#arrow';
import type { Query } from '#catalog/query/query.ts';
import type { Progress } from '#session/display/displayTypes.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { ask } from './sqlDatabase.ts';
import { tableFilter } from './sqlFilter.ts';
import type { BoundQuery } from './sqlMessages.ts';
import type { SqlConnection } from './sqlProcess.ts';
import { parseSimpleSelect, wantedRows } from './sqlShape.ts';
import type { NamedTable } from './sqlTables.ts';
import { writeStream } from './sqlTypes.ts';
import { batchOf } from './sqlValues.ts';

type TableRead = {
  named: NamedTable;
  names: readonly string[];
  query: Query;
  /** The query without the filter. It is used if the table rejects the filter. */
  unfiltered: Query | undefined;
  /** Number of rows to read; undefined if counting them would take longer than reading the required ones. */
  rows: number | undefined;
  /** Maximum number of result rows, if the first matching rows are sufficient. */
  wanted: number | undefined;
};

/**
 * Plans to read as little as possible. From a single table, only the rows that the WHERE may match are read, and with a
 * LIMIT, rows are read only until enough are found.
 */
async function planReads(
  query: BoundQuery,
  tables: readonly NamedTable[],
  columns: ReadonlyMap<NamedTable, string[]>,
  signal: AbortSignal,
): Promise<TableRead[]> {
  return Promise.all(
    tables.map(async (named): Promise<TableRead> => {
      const names = columns.get(named) ?? [];
      const all = named.table.query().select(names);
      const shape = tables.length === 1 ? parseSimpleSelect(query.text, named.fields) : undefined;
      const limit = shape && wantedRows(shape, query.bound);
      const filter = shape && tableFilter(shape, query.bound, named.fields);
      const read = { named, names, wanted: limit?.rows };
      if (shape?.where === undefined && limit)
        return { ...read, query: all.limit(limit.reach), unfiltered: undefined, rows: limit.reach };
      if (filter === undefined)
        return { ...read, query: all, unfiltered: undefined, rows: limit ? undefined : await count(named, signal) };
      const filtered = { ...read, query: all.where(filter), unfiltered: all };
      if (limit) return { ...filtered, rows: undefined };
      try {
        return { ...filtered, rows: await count(named, signal, filter) };
      } catch (error) {
        if (!isCatalogError(error, 'InvalidInput')) throw error;
        return { ...read, query: all, unfiltered: undefined, rows: await count(named, signal) };
      }
    }),
  );
}

const count = ({ table }: NamedTable, signal: AbortSignal, filter?: string): Promise<number> =>
  table.countRows(filter, { signal });

async function* batchesOf({ query, unfiltered }: TableRead, signal: AbortSignal): AsyncGenerator<RecordBatch> {
  let isBegun = false;
  try {
    for await (const batch of (await query.execute({ signal })).batches) {
      isBegun = true;
      yield batch;
    }
  } catch (error) {
    // The table rejected the filter: a server may support less SQL than our own engine. Then the query without the
    // filter is read.
    if (isBegun || !unfiltered || !isCatalogError(error, 'InvalidInput')) throw error;
    yield* (await unfiltered.execute({ signal })).batches;
  }
}

/**
 * Returns a function that reports whether the query has enough rows; its argument is the number of rows read so far.
 */
function hasEnoughRows(database: SqlConnection, query: BoundQuery, wanted: number): (rows: number) => Promise<boolean> {
  let next = wanted;
  return async (rows) => {
    if (rows < next) return false;
    // Each check runs the query over all rows, so the next check waits until the number of rows has doubled.
    next = rows * 2;
    return ask(database, 'isEnough', { ...query, wanted }, []);
  };
}

/** Limits of a query over all its tables: rows, and the size of text and binary values in bytes. */
const maxRows = 2_000_000;
const maxBytes = 1024 * 1024 * 1024;
/** Minimum number of rows for which progress is shown. */
const shownRows = 100_000;
/** Minimum number of rows added between two checks. */
const leastRows = 1000;

type Loading = { progress: Progress; signal: AbortSignal };

/**
 * Reads the columns of the tables into the database.
 * @throws CatalogError InvalidInput (13) if the rows or their size exceed the limits of a query
 */
export async function load(
  database: SqlConnection,
  query: BoundQuery,
  tables: readonly NamedTable[],
  columns: ReadonlyMap<NamedTable, string[]>,
  { progress, signal }: Loading,
): Promise<void> {
  const readings = await planReads(query, tables, columns, signal);
  if (readings.reduce((sum, { rows = 0 }) => sum + rows, 0) > maxRows) throw tooMany(readings);
  let bytes = 0;
  for (const reading of readings) {
    const { named, wanted } = reading;
    const isEnough = wanted === undefined ? undefined : hasEnoughRows(database, query, wanted);
    const add = async (batch: RecordBatch): Promise<void> => {
      bytes += await insert(database, reading, batch, tables);
      if (bytes > maxBytes) throw tooLarge(named);
    };
    let rows = 0;
    let added: Promise<void> | undefined;
    for await (const batch of shown(reading, progress, signal)) {
      signal.throwIfAborted();
      // Waits for the previous batch only now, so that this batch was read while the database inserted the previous
      // one.
      await added;
      added = undefined;
      if (isEnough) {
        if (await addUntil(isEnough, batch, rows, add)) break;
      } else {
        added = add(batch);
        added.catch(() => {});
      }
      rows += batch.numRows;
      if (rows > maxRows) throw tooMany([{ ...reading, rows: await count(named, signal) }]);
    }
    await added;
  }
}

/**
 * Adds a batch in parts until the query has enough rows. Each part is as long as all rows before it.
 * @returns whether the rows are enough
 */
async function addUntil(
  isEnough: (rows: number) => Promise<boolean>,
  batch: RecordBatch,
  before: number,
  add: (batch: RecordBatch) => Promise<void>,
): Promise<boolean> {
  for (let start = 0, end: number; start < batch.numRows; start = end) {
    end = start + Math.max(before + start, leastRows);
    await add(batch.slice(start, end));
    if (await isEnough(before + Math.min(end, batch.numRows))) return true;
  }
  return false;
}

function insert(
  database: SqlConnection,
  { named: { schema, name }, names }: TableRead,
  batch: RecordBatch,
  tables: readonly NamedTable[],
): Promise<number> {
  const rows = writeStream(new ArrowTable([onlyColumns(batch, names)]));
  return ask(database, 'insert', { schema, name, rows }, tables);
}

/**
 * Returns some columns of a batch. Arrow's `select` can't be used: it returns columns other than the first ones as
 * empty.
 */
function onlyColumns(batch: RecordBatch, names: readonly string[]): RecordBatch {
  const places = names.map((name) => batch.schema.names.indexOf(name)).filter((place) => place >= 0);
  const fields = places.map((place) => batch.schema.fields[place]!);
  const children = places.map((place) => batch.data.children[place]!);
  return batchOf(fields, children, batch.numRows);
}

function shown(reading: TableRead, progress: Progress, signal: AbortSignal): AsyncIterable<RecordBatch> {
  const batches = { [Symbol.asyncIterator]: () => batchesOf(reading, signal) };
  const { rows, named } = reading;
  if (rows === undefined || rows < shownRows) return batches;
  return progress(batches, { label: `Reading ${named.name}`, total: rows, rows: true });
}

function tooMany(readings: readonly TableRead[]): CatalogError {
  const said = readings.map(({ named, rows = 0 }) => `${named.name} has ${rows.toLocaleString('en')} rows`).join(', ');
  return new CatalogError(
    'InvalidInput',
    `${said}, but a query reads at most ${maxRows.toLocaleString('en')} rows.`,
    'Filter the table first: await table.query().where("price < 20").select(["id"]).',
  );
}

const tooLarge = ({ name }: NamedTable): CatalogError =>
  new CatalogError(
    'InvalidInput',
    `The query reads more than ${maxBytes / 2 ** 30} GB of strings and bytes from ${name}.`,
    'Select fewer columns, without images and vectors.',
  );

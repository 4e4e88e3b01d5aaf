import { type RecordBatch, Table as ArrowTable } from '#arrow';
import type { Query } from '#catalog/query.ts';
import type { Progress } from '#session/display/displayTypes.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { ask } from './sqlDatabase.ts';
import { tableFilter } from './sqlFilter.ts';
import type { BoundQuery } from './sqlMessages.ts';
import type { SqlConnection } from './sqlProcess.ts';
import { shapeOf, wantedRows } from './sqlShape.ts';
import type { NamedTable } from './sqlTables.ts';
import { writeStream } from './sqlTypes.ts';
import { batchOf } from './sqlValues.ts';

/** What is read of one table for a query. */
type Reading = {
  named: NamedTable;
  /** Its columns. */
  names: readonly string[];
  query: Query;
  /** The same without the filter, should the table not take that. */
  unfiltered: Query | undefined;
  /** How many rows that is; undefined where counting them would take longer than reading what is wanted. */
  rows: number | undefined;
  /** How many rows the query gives at most, where those are enough that come first. */
  wanted: number | undefined;
};

/**
 * Says how to read as little of the tables as is sure to be enough: of one alone the rows that its WHERE can be about, and
 * of one whose first rows are wanted no more than it takes to find them.
 */
async function readingsFor(
  query: BoundQuery,
  tables: readonly NamedTable[],
  columns: ReadonlyMap<NamedTable, string[]>,
  signal: AbortSignal,
): Promise<Reading[]> {
  return Promise.all(
    tables.map(async (named): Promise<Reading> => {
      const names = columns.get(named) ?? [];
      const all = named.table.query().select(names);
      const shape = tables.length === 1 ? shapeOf(query.text, named.fields) : undefined;
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

/** How many rows of a table there are. */
const count = ({ table }: NamedTable, signal: AbortSignal, filter?: string): Promise<number> =>
  table.countRows(filter, { signal });

/** The rows of a reading as they come. */
async function* batchesOf({ query, unfiltered }: Reading, signal: AbortSignal): AsyncGenerator<RecordBatch> {
  let isBegun = false;
  try {
    for await (const batch of (await query.execute({ signal })).batches) {
      isBegun = true;
      yield batch;
    }
  } catch (error) {
    // A server may know less SQL than ours.
    if (isBegun || !unfiltered || !isCatalogError(error, 'InvalidInput')) throw error;
    yield* (await unfiltered.execute({ signal })).batches;
  }
}

/** A function that says, of how many rows have been read, whether the query has all that it wants of them. */
function enough(database: SqlConnection, query: BoundQuery, wanted: number): (rows: number) => Promise<boolean> {
  let next = wanted;
  return async (rows) => {
    if (rows < next) return false;
    // Each look reads all that is there, so the next one waits until that has doubled.
    next = rows * 2;
    return ask(database, 'isEnough', { ...query, wanted }, []);
  };
}

/** Rows that a query may read from its tables together, and bytes of text and binary values in them. */
const maxRows = 2_000_000;
const maxBytes = 1024 * 1024 * 1024;
/** Reading this many rows is worth being shown as it goes. */
const shownRows = 100_000;
/** Rows that are added at once where it is looked whether they are enough. */
const leastRows = 1000;

type Loading = { progress: Progress; signal: AbortSignal };

/** Reads the columns of the tables into the database. @throws CatalogError InvalidInput (13) for more than it may hold */
export async function load(
  database: SqlConnection,
  query: BoundQuery,
  tables: readonly NamedTable[],
  columns: ReadonlyMap<NamedTable, string[]>,
  { progress, signal }: Loading,
): Promise<void> {
  const readings = await readingsFor(query, tables, columns, signal);
  if (readings.reduce((sum, { rows = 0 }) => sum + rows, 0) > maxRows) throw tooMany(readings);
  let bytes = 0;
  for (const reading of readings) {
    const { named, wanted } = reading;
    const isEnough = wanted === undefined ? undefined : enough(database, query, wanted);
    const add = async (batch: RecordBatch): Promise<void> => {
      bytes += await insert(database, reading, batch, tables);
      if (bytes > maxBytes) throw tooLarge(named);
    };
    let rows = 0;
    let added: Promise<void> | undefined;
    for await (const batch of shown(reading, progress, signal)) {
      signal.throwIfAborted();
      // The next batch is read while the database takes this one.
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

/** Adds a batch little by little, each part as long as all before it, since a few rows may be enough. @returns whether they are */
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
  { named: { schema, name }, names }: Reading,
  batch: RecordBatch,
  tables: readonly NamedTable[],
): Promise<number> {
  const rows = writeStream(new ArrowTable([onlyColumns(batch, names)]));
  return ask(database, 'insert', { schema, name, rows }, tables);
}

/** These columns of a batch, which may have others: `select` of Arrow gives columns that are not its first ones as empty. */
function onlyColumns(batch: RecordBatch, names: readonly string[]): RecordBatch {
  const places = names.map((name) => batch.schema.names.indexOf(name)).filter((place) => place >= 0);
  const fields = places.map((place) => batch.schema.fields[place]!);
  const children = places.map((place) => batch.data.children[place]!);
  return batchOf(fields, children, batch.numRows);
}

function shown(reading: Reading, progress: Progress, signal: AbortSignal): AsyncIterable<RecordBatch> {
  const batches = { [Symbol.asyncIterator]: () => batchesOf(reading, signal) };
  const { rows, named } = reading;
  if (rows === undefined || rows < shownRows) return batches;
  return progress(batches, { label: `Reading ${named.name}`, total: rows, rows: true });
}

function tooMany(readings: readonly Reading[]): CatalogError {
  const said = readings.map(({ named, rows = 0 }) => `${named.name} has ${rows.toLocaleString('en')} rows`).join(', ');
  return new CatalogError(
    'InvalidInput',
    `${said}, and SQL reads ${maxRows.toLocaleString('en')} at most.`,
    'Narrow it at the table, which filters where the rows are: await table.query().where("price < 20").select(["id"]).',
  );
}

const tooLarge = ({ name }: NamedTable): CatalogError =>
  new CatalogError(
    'InvalidInput',
    `What the query reads of ${name} is more than ${maxBytes / 2 ** 30} GB of text and bytes.`,
    'Name fewer columns, without pictures and vectors.',
  );

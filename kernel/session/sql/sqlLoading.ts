import { Table as ArrowTable, type RecordBatch } from '#arrow';
import { CatalogError } from '#shared/errors.ts';
import type { Progress } from '#session/display/displayTypes.ts';
import { ask } from './sqlDatabase.ts';
import type { BoundQuery } from './sqlMessages.ts';
import type { SqlConnection } from './sqlProcess.ts';
import { batchesOf, count, enough, readingsFor, type Reading } from './sqlReading.ts';
import { writeStream } from './sqlStreams.ts';
import type { NamedTable } from './sqlTables.ts';
import { batchOf } from './sqlValues.ts';

/** Rows that a query may read from its tables together, and bytes of text and binary values in them. */
const maxRows = 2_000_000;
const maxBytes = 1024 * 1024 * 1024;
/** Reading this many rows is worth being shown as it goes. */
const shownRows = 100_000;
/** Rows that are added at once where it is looked whether they are enough. */
const leastRows = 1000;

export type Loading = { progress: Progress; signal: AbortSignal };

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

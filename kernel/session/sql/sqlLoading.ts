import type { DatabaseSync } from 'node:sqlite';
import type { RecordBatch } from '#arrow';
import { CatalogError } from '#shared/errors.ts';
import type { Progress } from '#session/display/displayTypes.ts';
import { placeOf } from './sqlDatabase.ts';
import { batchesOf, count, enough, readingsFor, type BoundQuery, type Reading } from './sqlReading.ts';
import type { NamedTable } from './sqlTables.ts';
import { quotedName } from './sqlText.ts';
import { storedReader } from './sqlValues.ts';

/** Rows that a query may read from its tables together, and bytes of text and binary values in them. */
const maxRows = 2_000_000;
const maxBytes = 1024 * 1024 * 1024;
/** Reading this many rows is worth being shown as it goes. */
const shownRows = 100_000;

export type Loading = { progress: Progress; signal: AbortSignal };

/** Reads the columns of the tables into the database. @throws CatalogError InvalidInput (13) for more than it may hold */
export async function load(
  database: DatabaseSync,
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
    let rows = 0;
    for await (const batch of shown(reading, progress, signal)) {
      signal.throwIfAborted();
      bytes += insert(database, reading, batch);
      rows += batch.numRows;
      if (bytes > maxBytes) throw tooLarge(named);
      if (isEnough?.(rows)) break;
      if (rows > maxRows) throw tooMany([{ ...reading, rows: await count(named, signal) }]);
    }
  }
}

function shown(reading: Reading, progress: Progress, signal: AbortSignal): AsyncIterable<RecordBatch> {
  const batches = { [Symbol.asyncIterator]: () => batchesOf(reading, signal) };
  const { rows, named } = reading;
  if (rows === undefined || rows < shownRows) return batches;
  return progress(batches, { label: `Reading ${named.name}`, total: rows, rows: true });
}

/** @returns the bytes of text and of binary values */
function insert(database: DatabaseSync, { named, names }: Reading, batch: RecordBatch): number {
  const readers = names.map((name) => {
    const vector = batch.getChild(name);
    return vector ? storedReader(name, vector) : () => null;
  });
  const statement = database.prepare(
    `INSERT INTO ${placeOf(named)} (${names.map(quotedName).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
  );
  let bytes = 0;
  database.exec('BEGIN');
  for (let row = 0; row < batch.numRows; row++) {
    const values = readers.map((read) => read(row));
    for (const value of values) if (typeof value === 'string' || value instanceof Uint8Array) bytes += value.length;
    statement.run(...values);
  }
  database.exec('COMMIT');
  return bytes;
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

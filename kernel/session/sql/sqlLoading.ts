import type { DatabaseSync } from 'node:sqlite';
import type { RecordBatch } from '#arrow';
import type { Query } from '#client/query.ts';
import { CatalogError } from '#shared/errors.ts';
import type { Progress } from '#session/display/displayTypes.ts';
import { placeOf } from './sqlDatabase.ts';
import type { NamedTable } from './sqlTables.ts';
import { quotedName, rowLimit } from './sqlText.ts';
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
  text: string,
  tables: readonly NamedTable[],
  columns: ReadonlyMap<NamedTable, string[]>,
  parts: Loading,
): Promise<void> {
  const limit = tables.length === 1 ? rowLimit(text) : undefined;
  const counts =
    limit === undefined
      ? await Promise.all(tables.map(({ table }) => table.countRows(undefined, { signal: parts.signal })))
      : [limit];
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total > maxRows) throw tooMany(tables, counts);
  let bytes = 0;
  for (const [index, named] of tables.entries()) {
    const names = columns.get(named) ?? [];
    const query = named.table.query().select(names);
    const rows = counts[index] ?? 0;
    for await (const batch of batchesOf(limit === undefined ? query : query.limit(limit), rows, named, parts)) {
      parts.signal.throwIfAborted();
      bytes += insert(database, named, names, batch);
      if (bytes > maxBytes) throw tooLarge(named);
    }
  }
}

function batchesOf(
  query: Query,
  rows: number,
  { name }: NamedTable,
  { progress, signal }: Loading,
): AsyncIterable<RecordBatch> {
  const batches = {
    [Symbol.asyncIterator]: async function* () {
      yield* (await query.execute({ signal })).batches;
    },
  };
  return rows < shownRows
    ? batches
    : progress(batches, { label: `Reading ${rows.toLocaleString('en')} rows of ${name}` });
}

/** @returns the bytes of text and of binary values */
function insert(database: DatabaseSync, table: NamedTable, names: readonly string[], batch: RecordBatch): number {
  const readers = names.map((name) => {
    const vector = batch.getChild(name);
    return vector ? storedReader(name, vector) : () => null;
  });
  const statement = database.prepare(
    `INSERT INTO ${placeOf(table)} (${names.map(quotedName).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
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

function tooMany(tables: readonly NamedTable[], counts: readonly number[]): CatalogError {
  const said = tables
    .map(({ name }, index) => `${name} has ${(counts[index] ?? 0).toLocaleString('en')} rows`)
    .join(', ');
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

import { RecordBatch, Struct, type Schema } from '#arrow';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { CatalogError } from '#shared/errors.ts';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { RowChecksum } from '#catalog/arrow/rowHash.ts';
import type { Table } from '#catalog/table/table.ts';

/** A range of rows in scan order, which is always the same for one version of a table. */
export type RowRange = { start: number; count: number };

/**
 * Returns the batches of a range with the schema of the copy. `sum` has the checksum of the rows once all batches are
 * read.
 */
export async function* rowsOf(
  table: Table,
  schema: Schema,
  { start, count }: RowRange,
  sum: RowChecksum,
  options: CallOptions & { onRows: (rows: number) => void },
): AsyncGenerator<RecordBatch> {
  const { signal, onRows } = options;
  const { batches } = await table.query().offset(start).limit(count).execute({ signal });
  const type = new Struct(schema.fields);
  for await (const batch of batches) {
    signal?.throwIfAborted();
    if (batch.numRows === 0) continue;
    checkColumns(table.name, schema, batch.schema);
    sum.add(batch);
    yield new RecordBatch(schema, batch.data.clone<Struct>(type));
    onRows(sum.rows);
  }
  if (sum.rows === count) return;
  throw new CatalogError(
    'InvalidTableState',
    `Can't read table "${table.name}": expected ${count} rows, got ${sum.rows}.`,
    'Try again.',
  );
}

/** Returns the checksum of a range of rows. If the table has fewer rows, the checksum covers only the existing ones. */
export async function checksumOf(table: Table, { start, count }: RowRange, options: CallOptions): Promise<string> {
  const sum = new RowChecksum();
  const { batches } = await table.query().offset(start).limit(count).execute(options);
  for await (const batch of batches) {
    options.signal?.throwIfAborted();
    sum.add(batch);
  }
  return sum.value;
}

/** Checks that a scan returns the stored types. Some engines return only the location of large binaries. */
function checkColumns(name: string, stored: Schema, read: Schema): void {
  stored.fields.forEach((field, index) => {
    const other = read.fields[index];
    if (other?.name === field.name && typeText(other.type) === typeText(field.type)) return;
    throw new CatalogError(
      'Unsupported',
      `Can't copy table "${name}": its column "${field.name}" is stored as ${typeText(field.type)} and read as ${other ? typeText(other.type) : 'nothing'}.`,
      'Copy it with a query that leaves the column out.',
    );
  });
}

/** Estimates from the first 64 rows how many rows of a table take up `bytes` in memory. */
export async function rowsPerChunk(table: Table, bytes: number, options: CallOptions): Promise<number> {
  const { batches } = await table.query().limit(64).execute(options);
  let rows = 0;
  let size = 0;
  for await (const batch of batches) {
    rows += batch.numRows;
    size += batch.data.byteLength;
  }
  return Math.max(1, Math.floor(bytes / Math.max(1, size / Math.max(1, rows))));
}

import { RecordBatch, Struct, type Schema } from '#arrow';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { CatalogError } from '#shared/errors.ts';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { RowChecksum } from '#catalog/arrow/rowHash.ts';
import type { Table } from '#catalog/table.ts';

/** Some of the rows of a table in the order of a scan, which is the same every time at one version. */
export type RowRange = { start: number; count: number };

/** The batches of a range, under the schema of the copy, with their checksum in `sum` when they are read. */
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
    `Table "${table.name}" gave ${sum.rows} rows where it has ${count}.`,
    'Try again.',
  );
}

/** Reads a range for its checksum alone; one that has fewer rows is a checksum of those. */
export async function checksumOf(table: Table, { start, count }: RowRange, options: CallOptions): Promise<string> {
  const sum = new RowChecksum();
  const { batches } = await table.query().offset(start).limit(count).execute(options);
  for await (const batch of batches) {
    options.signal?.throwIfAborted();
    sum.add(batch);
  }
  return sum.value;
}

/** What a scan gives can be another thing than what is stored: of large binaries some engines give the place alone. */
function checkColumns(name: string, stored: Schema, read: Schema): void {
  stored.fields.forEach((field, index) => {
    const other = read.fields[index];
    if (other?.name === field.name && typeText(other.type) === typeText(field.type)) return;
    throw new CatalogError(
      'Unsupported',
      `Table "${name}" can't be copied: its column "${field.name}" is stored as ${typeText(field.type)} and read as ${other ? typeText(other.type) : 'nothing'}.`,
      'Copy it with a query that leaves the column out.',
    );
  });
}

/** How many rows of this table make up so many bytes in memory, judged by the first ones. */
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

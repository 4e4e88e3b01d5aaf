import { Table as ArrowTable, type RecordBatch, type Schema } from '#arrow';
import { oneDictionary } from './dictionaries.ts';

/** Bytes of rows, as they are in memory, that go to the engine at once: it takes a table as one buffer. */
export const chunkBytes = 64 * 2 ** 20;

/** What a batch takes in memory. */
export const bytesOf = (batch: RecordBatch): number => batch.data.byteLength;

/** Puts batches together to tables of at least `bytes`, but for the last one; no batch gives no table. */
export async function* chunksOf(
  schema: Schema,
  batches: AsyncIterable<RecordBatch>,
  bytes = chunkBytes,
): AsyncGenerator<ArrowTable> {
  let chunk: RecordBatch[] = [];
  let size = 0;
  for await (const batch of batches) {
    if (batch.numRows === 0) continue;
    chunk.push(batch);
    size += bytesOf(batch);
    if (size < bytes) continue;
    yield tableOf(schema, chunk);
    chunk = [];
    size = 0;
  }
  if (chunk.length > 0) yield tableOf(schema, chunk);
}

/** A table that the engine takes: it reads tables as Arrow files, and in those a column has one dictionary. */
export const tableOf = (schema: Schema, batches: readonly RecordBatch[]): ArrowTable =>
  new ArrowTable(schema, oneDictionary(schema, batches));

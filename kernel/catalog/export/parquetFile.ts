import { ReadableStream } from 'node:stream/web';
import type * as ParquetWasm from 'parquet-wasm/node';
import { DataType, type RecordBatch, RecordBatchStreamWriter, type Schema } from '#arrow';
import { findColumn } from '#catalog/arrow/unstorableTypes.ts';
import { createWrittenBytes } from '#catalog/arrow/ipcWriter.ts';
import { batchAdopter } from '#shared/arrow/adoptTable.ts';
import { emptyBatch } from '#shared/arrow/nullData.ts';
import { CatalogError, messageOf } from '#shared/errors.ts';
import { loadLazy } from '#shared/loadLazy.ts';
import { changeTypes, parquetChange } from './changeTypes.ts';
import type { ExportedRows } from './exportFormats.ts';
import { ParquetTail } from './parquetTail.ts';

/** Bytes of a row group, which the writer keeps in memory until the group is complete. */
const groupBytes = 64 * 2 ** 20;
/** Bytes of Arrow data that are copied to the writer at once. */
const sliceBytes = 16 * 2 ** 20;

/**
 * Encodes rows as a Parquet file. The writer is WebAssembly, loaded on first use. Fixed-size lists stay vectors, because
 * the file also has the Arrow schema.
 * @throws CatalogError Unsupported (0) naming a column whose type Parquet does not have
 */
export async function* encodeParquet({ schema: given, batches }: ExportedRows): AsyncGenerator<Uint8Array> {
  checkTypes(given);
  const { schema, convert } = changeTypes(given, parquetChange);
  const parquet = await loadLazy(() => import('parquet-wasm/node'));
  const encode = batchEncoder(schema);
  const slices = slicesOf(batches, convert);
  const first = await slices.next();
  if (first.done) {
    yield parquet.writeParquet(parquet.Table.fromIPCStream(encode(emptyBatch(schema))), createProperties(parquet));
    return;
  }
  let rows = 0;
  let failure: { error: unknown } | undefined;
  let next: IteratorResult<RecordBatch, void> = first;
  const source = new ReadableStream<unknown>(
    {
      // The writer ends the file without an error if its source fails. So the error is thrown below.
      async pull(controller) {
        if (next.done) return controller.close();
        try {
          rows += next.value.numRows;
          const table = parquet.Table.fromIPCStream(encode(next.value));
          for (const batch of table.recordBatches()) controller.enqueue(batch);
          table.free();
          next = await slices.next();
        } catch (error) {
          failure = { error };
          controller.close();
        }
      },
    },
    { highWaterMark: 0 },
  );
  const tail = new ParquetTail();
  try {
    const written = await parquet
      .transformParquetStream(source as never, createProperties(parquet))
      .catch((error: unknown) => {
        throw failure ? failure.error : refused(error);
      });
    for await (const bytes of written as ReadableStream<Uint8Array>) {
      if (failure) throw failure.error;
      tail.add(bytes);
      yield bytes;
    }
    if (failure) throw failure.error;
    checkRows(tail.readRowCount(), rows);
  } finally {
    // If the reader of the file has stopped, the writer reads on to the end, which is now next.
    await slices.return?.();
  }
}

const refused = (cause: unknown): CatalogError =>
  new CatalogError(
    'Unsupported',
    `The rows can't be written as Parquet: ${messageOf(cause)}.`,
    'Use the format arrow.',
    { cause },
  );

const createProperties = ({ WriterPropertiesBuilder, Compression }: typeof ParquetWasm) =>
  new WriterPropertiesBuilder().setCompression(Compression.ZSTD).setMaxRowGroupBytes(groupBytes).build();

/** Types that the writer crashes on, or writes in a way that readers can't read. */
const isRefused = (type: DataType): boolean =>
  DataType.isInterval(type) || DataType.isUnion(type) || (DataType.isStruct(type) && type.children.length === 0);

function checkTypes(schema: Schema): void {
  const path = findColumn(schema.fields, isRefused);
  if (path === undefined) return;
  throw new CatalogError(
    'Unsupported',
    `The column "${path}" has a type that Parquet does not have.`,
    'Convert it to text or leave it out, or use the format arrow.',
  );
}

/** Returns a function that encodes a batch as a separate Arrow stream, which the writer copies into its memory. */
function batchEncoder(schema: Schema): (batch: RecordBatch) => Uint8Array {
  // The writer needs the same schema for all batches.
  const adopt = batchAdopter(schema);
  return (batch) => {
    const writer = new RecordBatchStreamWriter();
    const written = createWrittenBytes();
    writer.reset(written, schema);
    writer.write(adopt(batch) ?? batch);
    writer.finish();
    return written.take();
  };
}

/** Splits large batches, because the memory of WebAssembly is limited to 4 GB and never shrinks. */
async function* slicesOf(
  batches: AsyncIterable<RecordBatch>,
  convert: (batch: RecordBatch) => RecordBatch,
): AsyncGenerator<RecordBatch, void, undefined> {
  for await (const batch of batches) {
    if (batch.numRows === 0) continue;
    const converted = convert(batch);
    const count = Math.min(converted.numRows, Math.ceil(converted.data.byteLength / sliceBytes));
    const length = Math.ceil(converted.numRows / Math.max(count, 1));
    for (let at = 0; at < converted.numRows; at += length)
      yield length === converted.numRows ? converted : converted.slice(at, at + length);
  }
}

/** Checks the number of rows in the metadata, because the writer leaves out rows that it fails to write. */
function checkRows(written: number | undefined, rows: number): void {
  if (written === undefined || written === rows) return;
  throw new CatalogError(
    'Internal',
    `Only ${written} of ${rows} rows were written as Parquet.`,
    'Use the format arrow.',
  );
}

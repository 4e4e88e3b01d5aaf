import {
  AsyncByteQueue,
  RecordBatchStreamWriter,
  type RecordBatch,
  type RecordBatchFileWriter,
  type Schema,
} from '#arrow';
import { batchAdopter } from '#shared/arrow/adoptTable.ts';
import { emptyBatch } from '#shared/arrow/nullData.ts';

/**
 * Collects the bytes of a batch as one buffer. Arrow's own queue would return every piece separately, as the writer
 * writes it, often only a few bytes.
 */
type WrittenBytes = AsyncByteQueue & {
  /** Returns the bytes written since the last call. */
  take(): Uint8Array;
};

let Written: (new () => WrittenBytes) | undefined;

/**
 * Creates the collector. Its class extends a class of Arrow and is defined on first use, because this module is also
 * loaded by programs that do not need Arrow.
 */
export function createWrittenBytes(): WrittenBytes {
  Written ??= class extends AsyncByteQueue {
    #chunks: Uint8Array[] = [];

    take(): Uint8Array {
      const chunks = this.#chunks;
      this.#chunks = [];
      return Buffer.concat(chunks);
    }

    override write(chunk: Uint8Array): void {
      this.#chunks.push(chunk);
    }
  };
  return new Written();
}

/**
 * Encodes batches of one schema as an Arrow IPC stream, one chunk per batch. Without rows the stream has one empty batch,
 * because some servers don't create a table from a schema alone.
 */
export async function* encodeStream(
  schema: Schema,
  batches: AsyncIterable<RecordBatch>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* encodeWith(new RecordBatchStreamWriter(), schema, batches);
}

/**
 * Encodes batches of one schema with a writer of Arrow IPC, one chunk per batch, or one empty batch. Each chunk is
 * created on request, so a slow reader slows down the source.
 */
export async function* encodeWith(
  writer: RecordBatchStreamWriter | RecordBatchFileWriter,
  schema: Schema,
  batches: AsyncIterable<RecordBatch>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const written = createWrittenBytes();
  writer.reset(written, schema);
  // The writer silently ends at a batch whose schema differs from the first one, even if only in nullability or
  // dictionary ids. So each batch gets the schema at the start.
  const adopt = batchAdopter(schema);
  let isEmpty = true;
  for await (const batch of batches) {
    if (batch.numRows === 0) continue;
    isEmpty = false;
    writer.write(adopt(batch) ?? batch);
    yield written.take();
  }
  if (isEmpty) writer.write(emptyBatch(schema));
  writer.finish();
  yield written.take();
}

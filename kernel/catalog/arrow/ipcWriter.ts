import { AsyncByteQueue, RecordBatchStreamWriter, type RecordBatch, type Schema } from '#arrow';
import { batchAdopter } from '#shared/arrow/adoptTable.ts';
import { emptyBatch } from '#shared/arrow/nullData.ts';

/** The bytes of a batch as they are written, instead of a queue that is read in the writer's pieces of a few bytes. */
type WrittenBytes = AsyncByteQueue & {
  /** What was written since the last call. */
  take(): Uint8Array;
};

let Written: (new () => WrittenBytes) | undefined;

/** Makes it. The class is one of Arrow's, which is loaded with its first use: this module is part of programs that need none. */
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
 * Batches of one schema as an Arrow IPC stream, a chunk for each, made when it is asked for: who reads slowly holds up
 * who writes. Where there are no rows it has one batch without any: some servers make no table of a schema alone.
 */
export async function* encodeStream(
  schema: Schema,
  batches: AsyncIterable<RecordBatch>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const writer = new RecordBatchStreamWriter();
  const written = createWrittenBytes();
  writer.reset(written, schema);
  // The writer ends the stream, without a word, at a batch whose schema differs from the first one in as little as what
  // may be null or how dictionaries are numbered. So every batch gets the one that was written.
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

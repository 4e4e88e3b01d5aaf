import { type RecordBatch, RecordBatchReader, type RecordBatchStreamReader } from '#arrow';
import type { BatchStream } from '#catalog/querySpec.ts';
import { DecompressedTooLarge, maxDecompressed, withinBudget } from './ipcCompression.ts';
import { IpcError, type IpcMessage, ipcMessages } from './ipcMessages.ts';

/**
 * Returns the batches of an Arrow IPC stream or file as its bytes arrive, each after its last byte. Skips batches
 * without rows unless `keepEmpty`. A reader that stops early also stops the reading of `body`.
 * @param limit decompressed bytes of a batch and of the dictionaries before it
 * @throws IpcError if the bytes are cut short or are not Arrow IPC; everything that `body` throws
 */
export async function readIpc(
  body: AsyncIterable<Uint8Array>,
  limit: number = maxDecompressed,
  { keepEmpty = false }: { keepEmpty?: boolean } = {},
): Promise<BatchStream> {
  const messages = ipcMessages(body);
  const feed = new Feed();
  try {
    const first = await messages.next();
    if (first.done || first.value.kind !== 'schema') {
      throw new IpcError('malformed', 'The Arrow data does not start with a schema.');
    }
    feed.push(first.value.bytes);
    const reader = decoding(() => RecordBatchReader.from(feed).open({ autoDestroy: false }));
    return { schema: reader.schema, batches: batchesOf(messages, feed, reader, { limit, keepEmpty }) };
  } catch (error) {
    await messages.return();
    throw error;
  }
}

type SyncReader = RecordBatchStreamReader;

async function* batchesOf(
  messages: AsyncGenerator<IpcMessage, void, undefined>,
  feed: Feed,
  reader: SyncReader,
  { limit, keepEmpty }: { limit: number; keepEmpty: boolean },
): AsyncGenerator<RecordBatch, void, undefined> {
  for await (const { kind, bytes } of messages) {
    if (kind === 'schema') throw new IpcError('malformed', 'The Arrow data has a second schema.');
    feed.push(bytes);
    // A dictionary waits for the batch that uses it: the reader would search on for a batch.
    if (kind === 'dictionary') continue;
    const batch = decoding(() => withinBudget(limit, () => decodeNext(reader)));
    if (keepEmpty || batch.numRows > 0) yield batch;
  }
}

function decodeNext(reader: SyncReader): RecordBatch {
  const { done, value } = reader.next();
  if (done) throw new IpcError('malformed', 'An Arrow message has less data than its metadata says.');
  for (const id of reader.schema.dictionaries.keys()) {
    // The reader would return nulls. Only a file may define a dictionary after its use, and no known writer does so.
    if (!reader.dictionaries.has(id)) throw new IpcError('malformed', `The Arrow data lacks the dictionary ${id}.`);
  }
  return value;
}

function decoding<T>(decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof DecompressedTooLarge) throw new IpcError('malformed', error.message, error);
    throw error instanceof IpcError ? error : new IpcError('malformed', 'The Arrow data is damaged.', error);
  }
}

const nothing = new Uint8Array(0);

/**
 * Hands messages to Arrow's synchronous reader one by one. At the end of a message the reader requests more bytes
 * before it returns the batch, and accepts an empty chunk. A second request means that it reads past the end of the
 * message, so `next` reports the end.
 */
class Feed implements Iterable<Uint8Array>, Iterator<Uint8Array> {
  readonly #queue: Uint8Array[] = [];
  #wasEmpty = false;

  push(bytes: Uint8Array): void {
    this.#wasEmpty = false;
    this.#queue.push(bytes);
  }

  next(): IteratorResult<Uint8Array> {
    const value = this.#queue.shift();
    if (value) return { done: false, value };
    if (this.#wasEmpty) return { done: true, value: undefined };
    this.#wasEmpty = true;
    return { done: false, value: nothing };
  }

  [Symbol.iterator](): this {
    return this;
  }
}

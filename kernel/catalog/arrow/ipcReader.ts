import type { RecordBatch, RecordBatchStreamReader } from '#arrow';
import type { BatchStream } from '#catalog/query/querySpec.ts';
import { IpcError } from '#shared/arrow/ipcError.ts';
import { checkDictionaries, decodeArrow, openReader } from '#shared/arrow/readArrow.ts';
import { DecompressedTooLarge, maxDecompressed, withinBudget } from './ipcCompression.ts';
import { type IpcMessage, ipcMessages } from './ipcMessages.ts';

/**
 * Returns the batches of an Arrow IPC stream or file as its bytes arrive: each batch once its last byte is read. Skips
 * batches without rows unless `keepEmpty`. A reader that stops early also stops the reading of `body`.
 * @param limit decompressed bytes of a batch and of the dictionaries before it
 * @param maxRows rows of all batches together; more are an error
 * @throws IpcError if the bytes are cut short, are not Arrow IPC, contradict themselves or need a part of the format
 * that is not supported; everything that `body` throws
 */
export async function readIpc(
  body: AsyncIterable<Uint8Array>,
  limit: number = maxDecompressed,
  { keepEmpty = false, maxRows }: { keepEmpty?: boolean; maxRows?: number | undefined } = {},
): Promise<BatchStream> {
  const messages = ipcMessages(body, { maxRows });
  const feed = new Feed();
  try {
    const first = await messages.next();
    if (first.done || first.value.kind !== 'schema') {
      throw new IpcError('malformed', 'The Arrow data does not start with a schema.');
    }
    feed.push(first.value.bytes);
    const reader = decodeArrow(() => openReader(feed));
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
    feed.push(bytes);
    // Dictionaries are collected until the batch that uses them arrives, because Arrow's reader would search the bytes
    // after a dictionary for that batch.
    if (kind === 'dictionary') continue;
    const batch = decodeArrow(() => decodeWithin(limit, reader));
    if (keepEmpty || batch.numRows > 0) yield batch;
  }
}

function decodeWithin(limit: number, reader: SyncReader): RecordBatch {
  try {
    const { done, value } = withinBudget(limit, () => reader.next());
    if (done) throw new IpcError('invalid', 'An Arrow message has less data than its metadata says.');
    return checkDictionaries(reader, value);
  } catch (error) {
    throw error instanceof DecompressedTooLarge ? new IpcError('malformed', error.message, { cause: error }) : error;
  }
}

const nothing = new Uint8Array(0);

/**
 * Hands messages to Arrow's synchronous reader one by one. At the end of a message the reader requests more bytes
 * before it returns the batch; an empty chunk satisfies this request. A second request means that the reader is reading
 * past the end of the message, so `next` reports the end.
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

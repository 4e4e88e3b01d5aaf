import { tableFromIPC, tableToIPC } from '#arrow';
import { DecompressedTooLarge, maxDecompressed, withinBudget } from './ipcCompression.ts';

// Splits Arrow IPC into messages as its bytes arrive. A file is a stream's messages between a magic word and a
// footer, so files and streams are both read front to back without buffering. Arrow's own reader would hold a whole
// file in memory, treat a truncated stream as a short table, and return a batch only when the next one starts.

export type IpcMessage = {
  readonly kind: 'schema' | 'dictionary' | 'batch';
  /** The message as in a stream: marker, length, metadata and body, at the start of a separate buffer. */
  readonly bytes: Uint8Array;
};

/** The bytes are not valid Arrow IPC: they end too early (`cut`), or they are something else (`malformed`). */
export class IpcError extends Error {
  readonly problem: 'cut' | 'malformed';

  constructor(problem: 'cut' | 'malformed', message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'IpcError';
    this.problem = problem;
  }
}

const magic = 'ARROW1';
const continuation = -1;
// Longer lengths are treated as garbage.
const maxMetadataBytes = 64 * 1024 * 1024;
const maxBodyBytes = 2 ** 31;
/** Initial buffer size of longer messages. The buffer grows as bytes arrive, so a false length costs no memory. */
const firstBytes = 16 * 1024 * 1024;
const maxPadding = 512;
/** Size limit of a file that can't be read front to back. */
const maxSpooledBytes = 512 * 1024 * 1024;

const kinds: Partial<Record<number, IpcMessage['kind']>> = { 1: 'schema', 2: 'dictionary', 3: 'batch' };

/** The end mark of a stream, which is not a message. */
export const endOfStream: Uint8Array = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0);

/**
 * Returns the messages of an Arrow IPC stream or file in order. Reads to the very end of the bytes: the end mark of a
 * stream, the footer and the closing magic word of a file.
 * @throws IpcError if the bytes are cut short or are not Arrow IPC
 */
export async function* ipcMessages(body: AsyncIterable<Uint8Array>): AsyncGenerator<IpcMessage, void, undefined> {
  const source = new ByteSource(body);
  try {
    const filePrefix = await prefixOfFile(source);
    const isFile = filePrefix !== undefined;
    let message = await readMessage(source);
    if (filePrefix && message?.kind !== 'schema') {
      const rest = await source.all(maxSpooledBytes);
      yield* wholeFile(Buffer.concat([filePrefix, message?.bytes ?? endOfStream, rest]));
      return;
    }
    for (; message; message = await readMessage(source)) yield message;
    const tail = await source.drain(magic.length);
    if (isFile && Buffer.from(tail).toString('latin1') !== magic) {
      throw new IpcError('cut', 'The Arrow file is cut off at the end.');
    }
  } finally {
    await source.close();
  }
}

/** Reads the bytes before the first message of a file; `undefined` if the data is not a file. */
async function prefixOfFile(source: ByteSource): Promise<Uint8Array | undefined> {
  const start = await source.take(8);
  if (Buffer.from(start).toString('latin1', 0, magic.length) !== magic) {
    source.putBack(start);
    return undefined;
  }
  // Some writers pad the magic word to 8 bytes, others to 64.
  let length = start.length;
  for (; length < maxPadding; length += 8) {
    const next = await source.take(8);
    if (next.every((byte) => byte === 0)) continue;
    source.putBack(next);
    return Buffer.concat([start, Buffer.alloc(length - start.length)]);
  }
  throw new IpcError('malformed', 'The Arrow file has only padding at the start.');
}

/**
 * Reads the messages of a file that has its schema in the footer only, as Arrow's JavaScript library writes it,
 * contrary to the format. Such a file can only be read as a whole.
 */
async function* wholeFile(bytes: Uint8Array): AsyncGenerator<IpcMessage, void, undefined> {
  if (Buffer.from(bytes.subarray(-magic.length)).toString('latin1') !== magic) {
    throw new IpcError('cut', 'The Arrow file is cut off at the end.');
  }
  let stream: Uint8Array;
  try {
    stream = tableToIPC(
      withinBudget(maxDecompressed, () => tableFromIPC(bytes)),
      'stream',
    );
  } catch (error) {
    if (error instanceof DecompressedTooLarge) throw new IpcError('malformed', error.message, error);
    throw new IpcError('malformed', 'The Arrow file is damaged.', error);
  }
  const source = new ByteSource(only(stream));
  for (let message = await readMessage(source); message; message = await readMessage(source)) yield message;
}

/** Reads the next message; `undefined` at the end mark. */
async function readMessage(source: ByteSource): Promise<IpcMessage | undefined> {
  let length = await readInt(source);
  // Arrow before release 0.15 wrote no marker before the length.
  if (length === continuation) length = await readInt(source);
  if (length === 0) return undefined;
  if (length < 0 || length > maxMetadataBytes) {
    throw new IpcError('malformed', `The metadata of an Arrow message has the invalid length ${length}.`);
  }
  const metadata = await source.take(length);
  const { kind, bodyLength } = parseMetadata(metadata);
  const head = Buffer.allocUnsafe(8);
  head.writeInt32LE(continuation, 0);
  head.writeInt32LE(length, 4);
  return { kind, bytes: await source.takeAfter([head, metadata], 8 + length + bodyLength) };
}

const readInt = async (source: ByteSource): Promise<number> => viewOf(await source.take(4)).getInt32(0, true);

/**
 * Reads the two metadata fields of a message that determine where it ends. They are read by hand from the flatbuffer:
 * decoding all of it, which the batch reader does anyway, would double the cost.
 */
function parseMetadata(metadata: Uint8Array): { kind: IpcMessage['kind']; bodyLength: number } {
  try {
    const view = viewOf(metadata);
    const table = view.getInt32(0, true);
    const vtable = table - view.getInt32(table, true);
    const size = view.getUint16(vtable, true);
    // 6 and 10: the vtable slots of `header_type` and `bodyLength` in Message.fbs of the Arrow format.
    const slot = (offset: number): number => (offset < size ? view.getUint16(vtable + offset, true) : 0);
    const kind = slot(6) === 0 ? undefined : kinds[view.getUint8(table + slot(6))];
    const bodyLength = slot(10) === 0 ? 0 : Number(view.getBigInt64(table + slot(10), true));
    if (!kind) throw new IpcError('malformed', 'An Arrow message has an unknown type.');
    if (bodyLength < 0 || bodyLength > maxBodyBytes) {
      throw new IpcError('malformed', `The body of an Arrow message has the invalid length ${bodyLength}.`);
    }
    return { kind, bodyLength };
  } catch (error) {
    if (error instanceof IpcError) throw error;
    throw new IpcError('malformed', 'The metadata of an Arrow message is damaged.', error);
  }
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Reads a given number of bytes at a time from a sequence of chunks. */
class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#chunks = body[Symbol.asyncIterator]();
  }

  /** @throws IpcError if the bytes end before */
  take(length: number): Promise<Uint8Array> {
    return this.takeAfter([], length);
  }

  /**
   * Returns `given` and the bytes after it, `length` in all, in a new buffer.
   * @throws IpcError if the bytes end before
   */
  async takeAfter(given: readonly Uint8Array[], length: number): Promise<Uint8Array> {
    let filled = 0;
    const known = given.reduce((sum, { length: size }) => sum + size, 0);
    let bytes = Buffer.allocUnsafeSlow(Math.min(length, Math.max(firstBytes, known)));
    for (const piece of given) {
      bytes.set(piece, filled);
      filled += piece.length;
    }
    for (;;) {
      await this.#read(bytes.subarray(filled));
      if (bytes.length === length) return bytes;
      filled = bytes.length;
      // Growing by a factor of 4 means that only a third of the bytes are moved.
      const grown = Buffer.allocUnsafeSlow(Math.min(length, filled * 4));
      grown.set(bytes);
      bytes = grown;
    }
  }

  /** Fills `target`. @throws IpcError if the bytes end before */
  async #read(target: Uint8Array): Promise<void> {
    for (let filled = 0; filled < target.length;) {
      if (this.#rest.length === 0 && !(await this.#next())) throw new IpcError('cut', 'The Arrow data ends too early.');
      const piece = this.#rest.subarray(0, target.length - filled);
      target.set(piece, filled);
      filled += piece.length;
      this.#rest = this.#rest.subarray(piece.length);
    }
  }

  putBack(bytes: Uint8Array): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([bytes, this.#rest]);
  }

  /** Reads to the end and returns the last bytes: a connection is reused only after its whole response was read. */
  async drain(last: number): Promise<Uint8Array> {
    let tail = this.#rest.subarray(-last);
    while (await this.#next()) tail = Buffer.concat([tail, this.#rest.subarray(-last)]).subarray(-last);
    return tail;
  }

  /** Returns all remaining bytes. @throws IpcError for more than `limit` bytes */
  async all(limit: number): Promise<Uint8Array> {
    const pieces = [this.#rest];
    for (let total = this.#rest.length; await this.#next(); pieces.push(this.#rest)) {
      total += this.#rest.length;
      if (total > limit)
        throw new IpcError(
          'malformed',
          `The Arrow file does not start with a schema and has more than ${limit} bytes.`,
        );
    }
    return Buffer.concat(pieces);
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #next(): Promise<boolean> {
    const { done, value } = await this.#chunks.next();
    this.#rest = done ? new Uint8Array(0) : value;
    // After an empty chunk `#read` calls again.
    return !done;
  }
}

// oxlint-disable-next-line typescript/require-await
async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}

import { tableFromIPC, tableToIPC } from '#arrow';
import { DecompressedTooLarge, maxDecompressed, withinBudget } from './ipcCompression.ts';

// Arrow IPC cut into its messages as the bytes come. A file is the messages of a stream between a magic word and a
// footer, so both are read alike, from front to back and without keeping either. Arrow's own reader would hold a whole
// file in memory, takes a stream that is cut short for a short table, and gives a batch only once the next one begins.

export type IpcMessage = {
  readonly kind: 'schema' | 'dictionary' | 'batch';
  /** The message as a stream has it: marker, length, metadata and body, at the start of a buffer of its own. */
  readonly bytes: Uint8Array;
};

/** What is wrong with bytes that should be Arrow IPC: they end too early (`cut`), or they are something else. */
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
// What a length may claim before it is taken for garbage.
const maxMetadataBytes = 64 * 1024 * 1024;
const maxBodyBytes = 2 ** 31;
/** A buffer of this size is made for what claims to be longer, and grows as the bytes come: a claim costs nothing. */
const firstBytes = 16 * 1024 * 1024;
const maxPadding = 512;
/** Of a file that can't be read from front to back. */
const maxSpooledBytes = 512 * 1024 * 1024;

const kinds: Partial<Record<number, IpcMessage['kind']>> = { 1: 'schema', 2: 'dictionary', 3: 'batch' };

/** The end of a stream, which has no message of its own. */
export const endOfStream: Uint8Array = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0);

/**
 * The messages of an Arrow IPC stream or file, in order. Reads the bytes to their very end: the end mark of a stream, the
 * footer and the closing magic of a file.
 * @throws IpcError where they are cut short or are no Arrow IPC
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
      throw new IpcError('cut', 'The Arrow file has no end.');
    }
  } finally {
    await source.close();
  }
}

/** What a file has before its first message, which is read then; `undefined` where the bytes are no file. */
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
  throw new IpcError('malformed', 'The Arrow file begins with padding only.');
}

/**
 * The messages of a file that has its schema in the footer alone, as Arrow's JavaScript library writes them, against the
 * format. Such a file can only be read as a whole.
 */
async function* wholeFile(bytes: Uint8Array): AsyncGenerator<IpcMessage, void, undefined> {
  if (Buffer.from(bytes.subarray(-magic.length)).toString('latin1') !== magic) {
    throw new IpcError('cut', 'The Arrow file has no end.');
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

/** The next message; `undefined` at the end mark. */
async function readMessage(source: ByteSource): Promise<IpcMessage | undefined> {
  let length = await readInt(source);
  // Before release 0.15 of Arrow there was no marker in front of the length.
  if (length === continuation) length = await readInt(source);
  if (length === 0) return undefined;
  if (length < 0 || length > maxMetadataBytes) {
    throw new IpcError('malformed', `The metadata of an Arrow message has the length ${length}.`);
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
 * The two fields of a message's metadata that tell where it ends. They are read by hand from its flatbuffer: decoding all
 * of it, which the reader of the batch does anyway, would cost as much again.
 */
function parseMetadata(metadata: Uint8Array): { kind: IpcMessage['kind']; bodyLength: number } {
  try {
    const view = viewOf(metadata);
    const table = view.getInt32(0, true);
    const vtable = table - view.getInt32(table, true);
    const size = view.getUint16(vtable, true);
    // 6 and 10: the slots of `header_type` and `bodyLength` in the format's Message.fbs.
    const slot = (offset: number): number => (offset < size ? view.getUint16(vtable + offset, true) : 0);
    const kind = slot(6) === 0 ? undefined : kinds[view.getUint8(table + slot(6))];
    const bodyLength = slot(10) === 0 ? 0 : Number(view.getBigInt64(table + slot(10), true));
    if (!kind) throw new IpcError('malformed', 'An Arrow message is of an unknown kind.');
    if (bodyLength < 0 || bodyLength > maxBodyBytes) {
      throw new IpcError('malformed', `The body of an Arrow message has the length ${bodyLength}.`);
    }
    return { kind, bodyLength };
  } catch (error) {
    if (error instanceof IpcError) throw error;
    throw new IpcError('malformed', 'The metadata of an Arrow message is damaged.', error);
  }
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Takes bytes off a sequence of chunks, in whatever pieces are asked for. */
class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#chunks = body[Symbol.asyncIterator]();
  }

  /** @throws IpcError when the bytes end before */
  take(length: number): Promise<Uint8Array> {
    return this.takeAfter([], length);
  }

  /** `length` bytes in a buffer of their own, of which the first are given. @throws IpcError when the bytes end before */
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
      // By so much that only a third of the bytes are moved.
      const grown = Buffer.allocUnsafeSlow(Math.min(length, filled * 4));
      grown.set(bytes);
      bytes = grown;
    }
  }

  /** Fills `target`. @throws IpcError when the bytes end before */
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

  /** Reads to the end and gives the last bytes: a connection can be used again only after all of an answer was read. */
  async drain(last: number): Promise<Uint8Array> {
    let tail = this.#rest.subarray(-last);
    while (await this.#next()) tail = Buffer.concat([tail, this.#rest.subarray(-last)]).subarray(-last);
    return tail;
  }

  /** All that is left. @throws IpcError for more than `limit` bytes */
  async all(limit: number): Promise<Uint8Array> {
    const pieces = [this.#rest];
    for (let total = this.#rest.length; await this.#next(); pieces.push(this.#rest)) {
      total += this.#rest.length;
      if (total > limit)
        throw new IpcError('malformed', `The Arrow file has no schema in front and over ${limit} bytes.`);
    }
    return Buffer.concat(pieces);
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #next(): Promise<boolean> {
    const { done, value } = await this.#chunks.next();
    this.#rest = done ? new Uint8Array(0) : value;
    // An empty chunk says nothing; `read` asks again.
    return !done;
  }
}

// oxlint-disable-next-line typescript/require-await
async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}

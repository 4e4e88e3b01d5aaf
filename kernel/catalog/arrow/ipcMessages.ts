import { fileMagic as magic, maxPaddingBytes, startsWithSchema, streamOfFile } from '#shared/arrow/arrowFile.ts';
import { IpcError } from '#shared/arrow/ipcError.ts';
import { checkFullValidity, MetadataChecker, type MessageMetadata } from '#shared/arrow/ipcMetadata.ts';

// Splits Arrow IPC into messages as its bytes arrive. An Arrow file holds the messages of a stream between a magic word
// and a footer, so a file is read front to back like a stream, without buffering. Arrow's own reader would hold a whole
// file in memory, treat a truncated stream as a short table, and return a batch only when the next one starts.

export type IpcMessage = {
  readonly kind: MessageMetadata['kind'];
  readonly isCompressed: boolean;
  /** The message as in a stream: marker, length, metadata and body, at the start of a separate buffer. */
  readonly bytes: Uint8Array;
};

const continuation = -1;
// A message with longer metadata is refused: the bytes are probably not Arrow IPC.
const maxMetadataBytes = 64 * 1024 * 1024;
/**
 * Initial buffer size of a message that is longer than this. The buffer grows as bytes arrive, so a false length costs
 * little memory.
 */
const firstBytes = 16 * 1024 * 1024;
/** Size limit of a file that can't be read front to back. */
const maxSpooledBytes = 512 * 1024 * 1024;

/** The bytes that mark the end of a stream. They are not a message. */
export const endOfStream: Uint8Array = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0);

/**
 * Returns the messages of an Arrow IPC stream or file in order. Reads to the very end of the bytes: the end mark of a
 * stream, the footer and the closing magic word of a file. The metadata of a message is checked before the body is
 * read. The values in the body are not checked.
 * @param maxRows rows of all batches together; a batch with more is refused before it is read
 * @throws IpcError if the bytes are cut short, are not Arrow IPC, or contradict themselves
 */
export async function* ipcMessages(
  body: AsyncIterable<Uint8Array>,
  { maxRows }: { maxRows?: number | undefined } = {},
): AsyncGenerator<IpcMessage, void, undefined> {
  const source = new ByteSource(body);
  const checker = new MetadataChecker({ maxRows, canDecompress: true });
  try {
    const isFile = await skipFileStart(source);
    if (isFile && !(await hasSchemaFirst(source))) {
      // The file has its schema only in the footer, so it must be read as a whole. `start` replaces the magic word,
      // which was read already.
      const start = Buffer.from(magic.padEnd(8, '\0'), 'latin1');
      const stream = streamOfFile(Buffer.concat([start, await source.all(maxSpooledBytes)]));
      yield* messagesOf(new ByteSource(only(Buffer.concat([stream, endOfStream]))), checker);
      return;
    }
    yield* messagesOf(source, checker);
    const tail = await source.drain(magic.length);
    if (isFile && Buffer.from(tail).toString('latin1') !== magic)
      throw new IpcError('cut', 'The Arrow file is cut off at the end.');
  } finally {
    await source.close();
  }
}

async function* messagesOf(source: ByteSource, checker: MetadataChecker): AsyncGenerator<IpcMessage, void, undefined> {
  for (let head = await readHead(source); head; head = await readHead(source)) yield readMessage(source, head, checker);
}

/** Skips the bytes before the first message of a file. Returns whether the data is a file. */
async function skipFileStart(source: ByteSource): Promise<boolean> {
  const start = await source.take(8);
  if (Buffer.from(start).toString('latin1', 0, magic.length) !== magic) {
    source.putBack(start);
    return false;
  }
  // Some writers pad the magic word to 8 bytes, others to 64.
  let length = start.length;
  for (; length < maxPaddingBytes; length += 8) {
    const next = await source.take(8);
    if (next.every((byte) => byte === 0)) continue;
    source.putBack(next);
    return true;
  }
  throw new IpcError('malformed', 'The Arrow file has only padding at the start.');
}

/** Whether the schema comes first, as the format requires. A file without messages has only an end mark. */
async function hasSchemaFirst(source: ByteSource): Promise<boolean> {
  const head = await readHead(source);
  source.putBack(head?.bytes ?? endOfStream);
  return head !== undefined && startsWithSchema(head.bytes);
}

/** The mark, length and metadata of a message. */
type Head = { readonly bytes: Uint8Array };

/** Reads the metadata of the next message; `undefined` at the end mark. */
async function readHead(source: ByteSource): Promise<Head | undefined> {
  let length = await readInt(source);
  // Arrow before release 0.15 wrote no marker before the length.
  if (length === continuation) length = await readInt(source);
  if (length === 0) return undefined;
  if (length < 0 || length > maxMetadataBytes) {
    throw new IpcError('malformed', `The metadata of an Arrow message has the invalid length ${length}.`);
  }
  const mark = Buffer.allocUnsafe(8);
  mark.writeInt32LE(continuation, 0);
  mark.writeInt32LE(length, 4);
  return { bytes: await source.takeAfter([mark], 8 + length) };
}

/** Reads the body of a message. The metadata must have been checked before. */
async function readMessage(source: ByteSource, head: Head, checker: MetadataChecker): Promise<IpcMessage> {
  const metadata = checker.read(head.bytes.subarray(8));
  const { length } = head.bytes;
  const bytes = await source.takeAfter([head.bytes], length + metadata.bodyLength);
  checkFullValidity(metadata, bytes.subarray(length));
  const isCompressed = metadata.kind !== 'schema' && metadata.batch.isCompressed;
  return { kind: metadata.kind, isCompressed, bytes };
}

const readInt = async (source: ByteSource): Promise<number> => viewOf(await source.take(4)).getInt32(0, true);

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Reads a given number of bytes at a time from a sequence of chunks. */
class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#chunks = body[Symbol.asyncIterator]();
  }

  /** @throws IpcError if fewer bytes remain */
  take(length: number): Promise<Uint8Array> {
    return this.takeAfter([], length);
  }

  /**
   * Returns a new buffer of `length` bytes: `given`, and after it the next bytes of the source.
   * @throws IpcError if fewer bytes remain
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
      // The buffer grows by a factor of 4, so that growing copies only a third of the bytes.
      const grown = Buffer.allocUnsafeSlow(Math.min(length, filled * 4));
      grown.set(bytes);
      bytes = grown;
    }
  }

  /** Fills `target`. @throws IpcError if too few bytes remain */
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

  /**
   * Reads to the end and returns the last `last` bytes. Reading to the end matters, because a connection is reused only
   * after its whole response was read.
   */
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
    // After an empty chunk `#read` calls this method again.
    return !done;
  }
}

// oxlint-disable-next-line typescript/require-await
async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}

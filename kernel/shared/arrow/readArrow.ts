import { DataType, type RecordBatch, RecordBatchReader, type RecordBatchStreamReader, Table } from '#arrow';
import { isArrowFile, streamOfFile } from './arrowFile.ts';
import { checkBatch } from './checkBatch.ts';
import { keepPositions } from './columnPositions.ts';
import { IpcError } from './ipcError.ts';
import { checkFullValidity, MetadataChecker } from './ipcMetadata.ts';

type ReadArrowOptions = {
  /** Whether the codecs of compressed buffers are registered. Default: false. */
  readonly canDecompress?: boolean;
};

/**
 * Reads an Arrow IPC stream or file that is in memory, and checks it.
 * @throws IpcError if the bytes are not Arrow IPC, are cut short, contradict themselves, or need a part of the format
 * that is not supported
 */
export function readArrow(bytes: Uint8Array, { canDecompress = false }: ReadArrowOptions = {}): Table {
  const stream = isArrowFile(bytes) ? streamOfFile(bytes) : bytes;
  const { end, hasBatches } = checkMessages(stream, canDecompress);
  return decodeArrow(() => {
    const reader = openReader(stream.subarray(0, end));
    // If the stream has no batches, the reader's own empty batch is not used, because its columns have no children.
    const batches = hasBatches ? Array.from(reader, (batch) => checkDictionaries(reader, batch)) : [];
    return new Table(reader.schema, batches);
  });
}

/** Opens Arrow's reader of checked messages. */
export function openReader(source: Uint8Array | Iterable<Uint8Array>): RecordBatchStreamReader {
  const reader = RecordBatchReader.from(source).open({ autoDestroy: false });
  nameFields(reader.schema.fields);
  keepPositions(reader.schema);
  return reader;
}

/**
 * Sets missing names of fields to `''`. Arrow's writer leaves out empty names. For them the reader uses `null` in its own
 * schema but the string `'null'` in the batches, so the two schemas would differ.
 */
function nameFields(fields: readonly { name: string; type: DataType }[]): void {
  for (const field of fields) {
    field.name ??= '';
    const { type } = field;
    nameFields((DataType.isDictionary(type) ? type.dictionary.children : type.children) ?? []);
  }
}

/** Checks a batch that the reader just returned. @throws IpcError if a dictionary is missing or a value is invalid */
export function checkDictionaries(reader: RecordBatchStreamReader, batch: RecordBatch): RecordBatch {
  for (const id of reader.schema.dictionaries.keys()) {
    // Without this error the reader would return nulls. Only a file may define a dictionary after its use, and no known
    // writer does so.
    if (!reader.dictionaries.has(id)) throw new IpcError('invalid', `The Arrow data lacks the dictionary ${id}.`);
  }
  return checkBatch(batch);
}

/** Runs a call that decodes Arrow data. @throws IpcError for every error of the call */
export function decodeArrow<T>(decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    throw cause instanceof IpcError ? cause : new IpcError('malformed', 'The Arrow data is damaged.', { cause });
  }
}

/** Checks the messages of a stream. @returns where the last message ends, and whether there is a record batch */
function checkMessages(bytes: Uint8Array, canDecompress: boolean): { end: number; hasBatches: boolean } {
  const checker = new MetadataChecker({ canDecompress });
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  let hasBatches = false;
  // A writer may leave out the mark at the end of a stream.
  while (at < bytes.length) {
    if (at + 8 > bytes.length) break;
    // Arrow before release 0.15 wrote no marker before the length.
    const marker = view.getInt32(at, true) === -1 ? 4 : 0;
    const length = view.getInt32(at + marker, true);
    if (length === 0) break;
    const start = at + marker + 4;
    if (length < 0)
      throw new IpcError('malformed', `The metadata of an Arrow message has the invalid length ${length}.`);
    if (start + length > bytes.length) throw tooShort(at);
    const message = checker.read(bytes.subarray(start, start + length));
    const end = start + length + message.bodyLength;
    if (end > bytes.length) throw tooShort(at);
    checkFullValidity(message, bytes.subarray(start + length, end));
    hasBatches ||= message.kind === 'batch';
    at = end;
  }
  if (at === 0) throw new IpcError('malformed', 'The Arrow data does not start with a schema.');
  return { end: at, hasBatches };
}

const tooShort = (at: number): IpcError =>
  at === 0
    ? new IpcError('malformed', 'The Arrow data does not start with a schema.')
    : new IpcError('cut', 'The Arrow data ends too early.');

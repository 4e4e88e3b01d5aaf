import {
  DataType,
  RecordBatch,
  RecordBatchFileWriter,
  Schema,
  Struct,
  Table as ArrowTable,
  Vector,
  makeData,
  tableToIPC,
  vectorFromArray,
} from '#arrow';
import { batchAdopter } from '#shared/arrow/adoptTable.ts';
import { createWrittenBytes, encodeStream } from '#catalog/arrow/ipcWriter.ts';

// The engine returns each batch as an Arrow IPC file. Decoding and encoding it again costs as much as the scan, so the
// stream is cut out of the files: a file has the messages of a stream between a magic string and a footer.

const magic = 'ARROW1';
const endOfStream = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0);

/** Returns an Arrow IPC stream with the batch of one file of the engine. It is a part of the file, and not copied. */
export function streamOfFile(file: Uint8Array): Uint8Array {
  const { bytes, start, end } = cutFile(file);
  return bytes.subarray(start, end + endOfStream.length);
}

/**
 * Builds one Arrow IPC stream from the engine's files, which have one batch each. `schema` is called only if there is
 * no file.
 */
export async function* streamOfFiles(
  schema: () => Promise<Schema>,
  files: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const file of files) {
    const { bytes, start, batches, end } = cutFile(file);
    if (isFirst) yield bytes.subarray(start, batches);
    isFirst = false;
    yield bytes.subarray(batches, end);
  }
  yield isFirst ? tableToIPC(new ArrowTable(await schema()), 'stream') : endOfStream;
}

/**
 * Returns where in a file its messages start, where those of the batches start, and where they end; an end-of-stream
 * marker follows.
 * @throws RangeError if the bytes do not have the layout of a file
 */
function cutFile(file: Uint8Array): { bytes: Buffer; start: number; batches: number; end: number } {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const isFile =
    bytes.length > 32 &&
    bytes.toString('latin1', 0, 6) === magic &&
    bytes.toString('latin1', bytes.length - 6) === magic;
  if (!isFile) throw new RangeError('The engine returned a batch that is not an Arrow file.');
  // The end of a file: end-of-stream marker, footer, length of the footer, magic.
  const end = bytes.length - 10 - bytes.readInt32LE(bytes.length - 10) - endOfStream.length;
  // Searches for the first message. It follows the magic and padding, but the format does not define the width of the
  // padding.
  const start = bytes.indexOf(endOfStream.subarray(0, 4), magic.length);
  if (start < 0 || end <= start) throw new RangeError('The engine returned an Arrow file without messages.');
  if (bytes.readBigUInt64LE(end) !== 0xff_ff_ff_ffn)
    throw new RangeError('The engine returned an Arrow file whose messages have no end.');
  const batches = start + 8 + bytes.readInt32LE(start + 4);
  if (batches > end) throw new RangeError('The engine returned an Arrow file with an incomplete schema.');
  return { bytes, start, batches, end };
}

// The numbers of a message's header types (Arrow, `Message.fbs`).
const dictionaryBatch = 2;
const recordBatch = 3;

/**
 * Returns the number of rows in a file of the engine, which has one batch. Only this number is decoded, because
 * decoding a batch of thousands of columns takes long. Returns 0 for bytes of another layout.
 */
export function rowsOfFile(file: Uint8Array): number {
  const { bytes, batches, end } = cutFile(file);
  // A message is a marker, the length of the metadata, the metadata, and a body. Dictionaries come before the batch.
  for (let at = batches; at + 8 < end;) {
    const metadata = at + 8;
    const message = metadata + bytes.readInt32LE(metadata);
    const type = fieldOf(bytes, message, 1);
    const header = fieldOf(bytes, message, 2);
    const bodyLength = fieldOf(bytes, message, 3);
    if (type === undefined || header === undefined) return 0;
    if (bytes[type] === recordBatch) {
      const length = fieldOf(bytes, header + bytes.readInt32LE(header), 0);
      return length === undefined ? 0 : Number(bytes.readBigInt64LE(length));
    }
    if (bytes[type] !== dictionaryBatch) return 0;
    at =
      metadata + bytes.readInt32LE(at + 4) + (bodyLength === undefined ? 0 : Number(bytes.readBigInt64LE(bodyLength)));
  }
  return 0;
}

/** Returns where a field of a FlatBuffers table is; `undefined` if the table does not have the field. */
function fieldOf(bytes: Buffer, table: number, index: number): number | undefined {
  const offsets = table - bytes.readInt32LE(table);
  const slot = 4 + 2 * index;
  const offset = slot < bytes.readUInt16LE(offsets) ? bytes.readUInt16LE(offsets + slot) : 0;
  return offset === 0 ? undefined : table + offset;
}

/** Encodes batches as Arrow IPC in either format, one chunk per batch, so that a slow reader slows the writer down. */
export const encodeBatches = (
  format: 'file' | 'stream',
  schema: Schema,
  batches: AsyncIterable<RecordBatch>,
): AsyncGenerator<Uint8Array, void, undefined> =>
  format === 'stream' ? encodeStream(schema, batches) : encodeFile(schema, batches);

async function* encodeFile(
  schema: Schema,
  batches: AsyncIterable<RecordBatch>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const writer = new RecordBatchFileWriter();
  const written = createWrittenBytes();
  const plain = plainSchema(schema);
  writer.reset(written, plain);
  // Gives all batches the same schema, because the writer silently ends the file at a batch whose schema differs, even
  // if only in nullability.
  const adopt = batchAdopter(plain);
  for await (const batch of batches) {
    if (batch.numRows === 0) continue;
    const own = plain === schema ? batch : plainBatch(batch, plain);
    writer.write(adopt(own) ?? own);
    yield written.take();
  }
  writer.finish();
  yield written.take();
}

// An Arrow file has one dictionary per column, but each batch of a scan has its own dictionary. So files get plain
// values instead of dictionaries; streams keep dictionaries.

function plainSchema(schema: Schema): Schema {
  if (!schema.fields.some((field) => DataType.isDictionary(field.type))) return schema;
  return new Schema(
    schema.fields.map((field) =>
      DataType.isDictionary(field.type) ? field.clone({ type: field.type.dictionary }) : field,
    ),
    schema.metadata,
  );
}

function plainBatch(batch: RecordBatch, schema: Schema): RecordBatch {
  const children = batch.data.children.map((child) => {
    if (!DataType.isDictionary(child.type)) return child;
    const values: DataType = child.type.dictionary;
    return vectorFromArray([...new Vector([child])], values).data[0]!;
  });
  const type = new Struct(schema.fields);
  return new RecordBatch(schema, makeData({ type, length: batch.numRows, nullCount: 0, children }));
}

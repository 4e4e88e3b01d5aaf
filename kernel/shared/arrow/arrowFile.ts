import { FlatBytes } from './flatTable.ts';
import { IpcError } from './ipcError.ts';

/** The first and last bytes of an Arrow file. */
export const fileMagic = 'ARROW1';
/** Maximum bytes of the magic word with its padding. Writers pad it to 8 or 64 bytes. */
export const maxPaddingBytes = 512;

/** Whether bytes start with the magic word of a file. */
export const isArrowFile = (bytes: Uint8Array): boolean => hasMagic(bytes, 0);

const hasMagic = (bytes: Uint8Array, at: number): boolean =>
  bytes.length >= at + fileMagic.length &&
  Array.from(fileMagic, (letter) => letter.charCodeAt(0)).every((code, i) => bytes[at + i] === code);

/**
 * Returns the stream of a file that is in memory. A file is a stream between a magic word and a footer. Contrary to the
 * format, Arrow's JavaScript library writes the schema only to the footer. For such a file, the schema of the footer is
 * put in front of the stream.
 * @throws IpcError if the file is cut off or has no valid footer
 */
export function streamOfFile(bytes: Uint8Array): Uint8Array {
  // A file ends with the footer, the length of the footer in 4 bytes, and the magic word. The footer ends at `end`.
  const end = bytes.length - fileMagic.length - 4;
  if (end < 8 || !hasMagic(bytes, end + 4)) throw new IpcError('cut', 'The Arrow file is cut off at the end.');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const footer = end - view.getInt32(end, true);
  let start = 8;
  while (start < Math.min(footer, maxPaddingBytes) && bytes.subarray(start, start + 8).every((byte) => byte === 0)) {
    start += 8;
  }
  if (footer < start || footer > end) throw new IpcError('malformed', 'The Arrow file has no valid footer.');
  const messages = bytes.subarray(start, footer);
  if (startsWithSchema(messages)) return messages;
  const schema = schemaMessage(bytes.subarray(footer, end));
  const stream = new Uint8Array(schema.length + messages.length);
  stream.set(schema);
  stream.set(messages, schema.length);
  return stream;
}

const continuation = -1;

/** Whether the first message of a stream is a schema. False for an empty or damaged stream. */
export function startsWithSchema(stream: Uint8Array): boolean {
  try {
    const view = new DataView(stream.buffer, stream.byteOffset, stream.byteLength);
    const marker = view.getInt32(0, true) === continuation ? 4 : 0;
    const length = view.getUint32(marker, true);
    return length > 0 && new FlatBytes(stream.subarray(marker + 4, marker + 4 + length)).root().byte(1) === 1;
  } catch {
    return false;
  }
}

/** Returns a message with the schema of a footer. The bytes of the schema are not changed. */
function schemaMessage(footer: Uint8Array): Uint8Array {
  // The message starts with the continuation mark and the length (8 bytes), followed by its table (32 bytes). Then the
  // footer follows, at a multiple of 8 bytes.
  const headBytes = 8;
  const tableBytes = 32;
  const length = tableBytes + Math.ceil(footer.length / 8) * 8;
  const message = new Uint8Array(headBytes + length);
  message.set(footer, headBytes + tableBytes);
  const view = new DataView(message.buffer);
  try {
    const root = new FlatBytes(footer).root();
    view.setInt32(0, continuation, true);
    view.setInt32(4, length, true);
    view.setUint32(headBytes, 16, true);
    // The vtable: its size, the size of the table, then the positions of version, kind and header in the table.
    [10, 12, 8, 10, 4].forEach((value, i) => view.setUint16(headBytes + 4 + 2 * i, value, true));
    view.setInt32(headBytes + 16, 12, true);
    view.setUint32(headBytes + 20, tableBytes + root.target(1)! - 20, true);
    view.setInt16(headBytes + 24, root.short(0), true);
    view.setUint8(headBytes + 26, 1);
    return message;
  } catch (cause) {
    throw new IpcError('malformed', 'The Arrow file has no valid footer.', { cause });
  }
}

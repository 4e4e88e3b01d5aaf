import assert from 'node:assert/strict';
import { FlatBytes, type FlatTable } from '#shared/arrow/flatTable.ts';

// Edits the bytes of Arrow streams, to create data that no writer produces.

/** A message of a stream: its metadata, its table, and the position of its body. */
export type Message = { metadata: Buffer; table: FlatTable; body: Buffer };

export function messagesIn(stream: Buffer): Message[] {
  const messages: Message[] = [];
  for (let at = 0; stream.readInt32LE(at + 4) !== 0;) {
    const length = stream.readInt32LE(at + 4);
    const metadata = stream.subarray(at + 8, at + 8 + length);
    const table = new FlatBytes(metadata).root();
    const end = at + 8 + length + table.long(3);
    messages.push({ metadata, table, body: stream.subarray(at + 8 + length, end) });
    at = end;
  }
  return messages;
}

/** Returns the record batch of a message; values of a dictionary are also a record batch. */
export function batchIn({ table, metadata }: Message): { metadata: Buffer; header: FlatTable } {
  const header = table.table(2)!;
  return { metadata, header: table.byte(1) === 2 ? header.table(1)! : header };
}

/** Returns the bytes of a buffer of a message. */
export function bufferIn(message: Message, index: number): Buffer {
  const { metadata, header } = batchIn(message);
  const at = header.vector(2, 16).start + 16 * index;
  const offset = Number(metadata.readBigInt64LE(at));
  return message.body.subarray(offset, offset + Number(metadata.readBigInt64LE(at + 8)));
}

/** Changes the length or the null count of a column. */
export function setNode(message: Message, index: number, field: 'length' | 'nulls', value: number): void {
  const { metadata, header } = batchIn(message);
  metadata.writeBigInt64LE(BigInt(value), header.vector(1, 16).start + 16 * index + (field === 'length' ? 0 : 8));
}

/** Changes the number of rows of a batch. */
export function setRows(message: Message, rows: number): void {
  const { metadata, header } = batchIn(message);
  metadata.writeBigInt64LE(BigInt(rows), header.position(0));
}

/** Changes the start or the length of a buffer. */
export function setBuffer(message: Message, index: number, field: 'offset' | 'length', value: number): void {
  const { metadata, header } = batchIn(message);
  metadata.writeBigInt64LE(BigInt(value), header.vector(2, 16).start + 16 * index + (field === 'offset' ? 0 : 8));
}

/** Marks a schema as big-endian. Writers omit the default, so the field is set to refer to a 1 in other data. */
export function setBigEndian({ table, metadata }: Message): void {
  const view = new DataView(metadata.buffer, metadata.byteOffset, metadata.byteLength);
  const headerAt = table.position(2)!;
  const schema = headerAt + view.getUint32(headerAt, true);
  const vtable = schema - view.getInt32(schema, true);
  for (let at = schema; at + 2 <= metadata.length; at++) {
    if (view.getInt16(at, true) !== 1) continue;
    view.setUint16(vtable + 4, at - schema, true);
    return;
  }
  assert.fail('The schema has no 1 to point to.');
}

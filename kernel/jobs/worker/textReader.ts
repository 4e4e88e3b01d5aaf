import { isAscii } from 'node:buffer';

/**
 * Reads the texts of a column. Each is a string of its own and no part of a larger one: a function that keeps one text would
 * keep its whole batch, and V8 takes longer to split or search a part than it takes to decode it.
 * @param offsets of each text and of the end of the last, in bytes
 */
export function textReader(bytes: Uint8Array, offsets: Int32Array): (row: number) => string {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // Where each byte is a letter, texts are copied and not decoded, in half the time.
  const encoding = isAscii(all) ? 'latin1' : 'utf8';
  return (row) => all.toString(encoding, offsets[row], offsets[row + 1]);
}

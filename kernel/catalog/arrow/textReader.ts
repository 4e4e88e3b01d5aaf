import { isAscii } from 'node:buffer';

/**
 * Reads the strings of a column. Each one is decoded separately, because a slice of one large string would keep the
 * whole batch in memory, and V8 takes longer to split or search such a slice than to decode a string.
 * @param offsets byte offset of each string, and of the end of the last
 */
export function textReader(bytes: Uint8Array, offsets: ArrayLike<number | bigint>): (index: number) => string {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // ASCII needs no decoding, which halves the time.
  const encoding = isAscii(all) ? 'latin1' : 'utf8';
  return (index) => all.toString(encoding, Number(offsets[index]), Number(offsets[index + 1]));
}

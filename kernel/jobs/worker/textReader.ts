/**
 * Reads the texts of a column. Each is a string of its own and no part of a larger one: a function that keeps one text would
 * keep its whole batch, and V8 takes longer to split or search a part than it takes to decode it.
 * @param offsets of each text and of the end of the last, in bytes
 */
export function textReader(bytes: Uint8Array, offsets: Int32Array): (row: number) => string {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return (row) => all.toString('utf8', offsets[row], offsets[row + 1]);
}

import { isAscii } from 'node:buffer';

/**
 * Reads the texts of a column. Decoding them one by one costs more than most functions do, so where all bytes of a batch
 * are ASCII they are decoded at once, and a row's text is cut out of that, which copies nothing.
 * @param offsets of `length` texts and of the end, in bytes
 */
export function textReader(bytes: Uint8Array, offsets: Int32Array, length: number): (row: number) => string {
  const start = offsets[0] ?? 0;
  const end = offsets[length] ?? start;
  const all = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  const at = (row: number): number => (offsets[row] ?? start) - start;
  // Of bytes that are ASCII, Latin-1 is the same text with a place for every byte.
  const latin = all.toString('latin1');
  if (isAscii(all)) return (row) => latin.slice(at(row), at(row + 1));
  return (row) => {
    const from = at(row);
    const to = at(row + 1);
    for (let place = from; place < to; place++) if ((all[place] ?? 0) > 0x7f) return all.toString('utf8', from, to);
    return latin.slice(from, to);
  };
}

import { once } from 'node:events';
import type { Readable } from 'node:stream';

const lineFeed = 0x0a;

/**
 * Takes the first line off a stream, without its end, and leaves what follows to be read.
 * @returns what there is where the stream ends before the line does
 */
export async function firstLine(stream: Readable): Promise<string> {
  const pieces: Buffer[] = [];
  for (;;) {
    const piece = stream.read() as Buffer | null;
    if (piece === null) {
      if (stream.readableEnded) break;
      await Promise.race([once(stream, 'readable'), once(stream, 'end')]);
      continue;
    }
    const end = piece.indexOf(lineFeed);
    if (end < 0) {
      pieces.push(piece);
      continue;
    }
    pieces.push(piece.subarray(0, end));
    if (end + 1 < piece.length) stream.unshift(piece.subarray(end + 1));
    break;
  }
  return Buffer.concat(pieces).toString('utf8');
}

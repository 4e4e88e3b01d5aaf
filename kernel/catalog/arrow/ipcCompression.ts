import { CompressionType, compressionRegistry } from '#arrow';
import { decodeLz4Frames } from './lz4.ts';

/**
 * What is decompressed at once is no larger than this in all: a few bytes hold gigabytes of the same, and a batch may name
 * them again and again. How far it may shrink is not looked at: a column of nulls shrinks to a ten-thousandth.
 */
export const maxDecompressed: number = 2 ** 30;

/** What may still be decompressed in the call of `withinBudget` that runs; what is decompressed outside has its own. */
let budget: { limit: number; left: number } | undefined;

/** What was to be decompressed is more than the limit. */
export class DecompressedTooLarge extends RangeError {
  constructor(limit: number, cause?: unknown) {
    super(`The Arrow data holds more than ${limit} bytes at once when it is decompressed.`, { cause });
    this.name = 'DecompressedTooLarge';
  }
}

/**
 * Runs a call that reads Arrow data, all of whose buffers together are at most `limit` bytes when decompressed.
 * @throws DecompressedTooLarge; whatever `call` throws
 */
export function withinBudget<T>(limit: number, call: () => T): T {
  registerCodecs();
  const outer = budget;
  budget = { limit, left: limit };
  try {
    return call();
  } finally {
    budget = outer;
  }
}

function decompressed(decode: (maxBytes: number) => Uint8Array): Uint8Array {
  const current = budget ?? { limit: maxDecompressed, left: maxDecompressed };
  let bytes: Uint8Array;
  try {
    bytes = decode(Math.max(current.left, 1));
  } catch (error) {
    // So Node calls it, and the decoder of LZ4 does alike.
    const isTooLarge = error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    throw isTooLarge ? new DecompressedTooLarge(current.limit, error) : error;
  }
  if (bytes.length > current.left) throw new DecompressedTooLarge(current.limit);
  current.left -= bytes.length;
  return bytes;
}

let areRegistered = false;

/** Teaches Arrow's reader of this process to read compressed buffers. The registry is global to the one copy of Arrow. */
export function registerCodecs(): void {
  if (areRegistered) return;
  compressionRegistry.set(CompressionType.LZ4_FRAME, {
    decode: (bytes) => decompressed((maxBytes) => decodeLz4Frames(bytes, maxBytes)),
  });
  compressionRegistry.set(CompressionType.ZSTD, {
    decode: (bytes) => {
      // Loaded for those who get such data: most never do, and it is a part of the time in which a process starts.
      const { zstdDecompressSync } = process.getBuiltinModule('node:zlib');
      return decompressed((maxBytes) => aligned(zstdDecompressSync(bytes, { maxOutputLength: maxBytes })));
    },
  });
  areRegistered = true;
}

/** In a buffer of its own, where 64-bit numbers may begin; small results of zlib share one. */
const aligned = (bytes: Uint8Array): Uint8Array => (bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes));

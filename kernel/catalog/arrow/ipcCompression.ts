import { CompressionType, compressionRegistry } from '#arrow';
import { decodeLz4Frames } from './lz4.ts';

/**
 * Default limit in bytes for all data decompressed in one call, because a few compressed bytes can hold gigabytes, and
 * a batch may refer to them repeatedly. The ratio of sizes has no limit, because a valid column of nulls is compressed
 * to a ten-thousandth of its size.
 */
export const maxDecompressed: number = 2 ** 30;

/** Remaining bytes of the current `withinBudget` call. Outside such a call each buffer has its own limit. */
let budget: { limit: number; left: number } | undefined;

export class DecompressedTooLarge extends RangeError {
  constructor(limit: number, cause?: unknown) {
    super(`A part of the Arrow data has more than ${limit} bytes when it is decompressed.`, { cause });
    this.name = 'DecompressedTooLarge';
  }
}

/**
 * Runs a call that reads Arrow data and limits the decompressed size of all its buffers together to `limit` bytes.
 * @throws DecompressedTooLarge; everything that `call` throws
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
    // The error code of Node's zlib; the LZ4 decoder uses the same code.
    const isTooLarge = error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    throw isTooLarge ? new DecompressedTooLarge(current.limit, error) : error;
  }
  if (bytes.length > current.left) throw new DecompressedTooLarge(current.limit);
  current.left -= bytes.length;
  return bytes;
}

let areRegistered = false;

/** Registers the decompression codecs with Arrow's reader. The registry is global to this copy of Arrow. */
export function registerCodecs(): void {
  if (areRegistered) return;
  compressionRegistry.set(CompressionType.LZ4_FRAME, {
    decode: (bytes) => decompressed((maxBytes) => decodeLz4Frames(bytes, maxBytes)),
  });
  compressionRegistry.set(CompressionType.ZSTD, {
    decode: (bytes) => {
      // Loaded on first use, because most processes never read such data, and loading it would slow their start.
      const { zstdDecompressSync } = process.getBuiltinModule('node:zlib');
      return decompressed((maxBytes) => aligned(zstdDecompressSync(bytes, { maxOutputLength: maxBytes })));
    },
  });
  areRegistered = true;
}

/**
 * Copies bytes to a separate buffer unless they are aligned for 64-bit numbers, because small results of zlib share a
 * buffer.
 */
const aligned = (bytes: Uint8Array): Uint8Array => (bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes));

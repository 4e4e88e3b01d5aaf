import { zstdDecompressSync } from 'node:zlib';
import { CompressionType, compressionRegistry } from '#arrow';
import { decodeLz4Frames } from './lz4.ts';

/** No buffer of a batch is larger than this when decompressed: a few bytes could claim any size. */
const maxBytes = 2 ** 30;

/**
 * Teaches Arrow's reader of this process to read compressed buffers. The registry is global to the one copy of Arrow, so
 * the same codecs are just put there again by a second call.
 */
export function registerCodecs(): void {
  compressionRegistry.set(CompressionType.LZ4_FRAME, { decode: (bytes) => decodeLz4Frames(bytes, maxBytes) });
  compressionRegistry.set(CompressionType.ZSTD, {
    decode: (bytes) => aligned(zstdDecompressSync(bytes, { maxOutputLength: maxBytes })),
  });
}

/** In a buffer of its own, where 64-bit numbers may begin; small results of zlib share one. */
const aligned = (bytes: Uint8Array): Uint8Array => (bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes));

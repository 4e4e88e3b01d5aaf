import { CatalogError } from '#shared/errors.ts';

/**
 * Packs bits into bytes, for vectors that are compared by `hamming`. The first bit becomes the lowest bit of the first
 * byte.
 * @throws CatalogError InvalidInput (13) if the number of bits is not a multiple of 8
 */
export function packBits(bits: readonly number[]): number[] {
  if (bits.length % 8 !== 0) {
    throw new CatalogError('InvalidInput', `packBits was given ${bits.length} bits.`, 'Pass a multiple of 8.');
  }
  const bytes: number[] = Array.from({ length: bits.length / 8 }, () => 0);
  for (const [position, bit] of bits.entries()) {
    if (bit !== 0) bytes[position >> 3]! |= 1 << (position & 7);
  }
  return bytes;
}

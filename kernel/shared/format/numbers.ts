// Numbers as exact text: parsing the text gives exactly the value of the column.

/** Formats a double as JavaScript does (the shortest exact form), with the sign of a negative zero. */
export const doubleText = (value: number): string => (Object.is(value, -0) ? '-0' : String(value));

/** Formats a 32-bit float in the fewest digits that are exact: 0.1, not 0.10000000149011612. */
export const floatText = (value: number): string => shortest(value, 9, (short) => Math.fround(short) === value);

/** Formats a 16-bit float in the fewest digits that are exact. */
export const halfText = (value: number): string => shortest(value, 5, (short) => roundToHalf(short) === value);

function shortest(value: number, maxDigits: number, same: (short: number) => boolean): string {
  // An integer is formatted with all digits: for 65504 as a 16-bit float, the fewest digits would be 65500, and that
  // does not look exact.
  if (!Number.isFinite(value) || Number.isSafeInteger(value)) return doubleText(value);
  for (let digits = 1; digits < maxDigits; digits++) {
    const short = Number(value.toPrecision(digits));
    if (same(short)) return doubleText(short);
  }
  return doubleText(Number(value.toPrecision(maxDigits)));
}

/**
 * Rounds to the nearest 16-bit float, with 11 significant bits and exponents from -14. Needed because the oldest
 * supported Node has no `Math.f16round`.
 */
function roundToHalf(value: number): number {
  const spacing = 2 ** (Math.max(Math.floor(Math.log2(Math.abs(value))), -14) - 10);
  // Adding and subtracting 2^52 rounds to an integer, ties to even.
  const steps = Math.abs(value) / spacing + 2 ** 52 - 2 ** 52;
  return Math.sign(value) * steps * spacing;
}

/** Decodes a 16-bit float. */
export function halfValue(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

/** Encodes a number as the nearest 16-bit float. */
export function halfBits(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Number.isFinite(value) ? roundToHalf(Math.abs(value)) : Infinity;
  if (size > 65_504) return sign | 0x7c00;
  if (size < 2 ** -14) return sign | (size * 2 ** 24);
  const exponent = Math.floor(Math.log2(size));
  return sign | ((exponent + 15) << 10) | ((size / 2 ** exponent - 1) * 1024);
}

/** Formats a number of a shortened vector with three digits. */
export const roughText = (value: number): string =>
  Number.isFinite(value) ? doubleText(Number(value.toPrecision(3))) : String(value);

/** Formats an integer with `scale` decimals: `decimalText(-5n, 2)` is `-0.05`. A negative scale appends zeros. */
export function decimalText(unscaled: bigint, scale: number): string {
  if (scale <= 0) return String(unscaled * 10n ** BigInt(-scale));
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** Reads a signed integer from little-endian 32-bit words, the layout of Arrow decimals of 32 to 256 bits. */
export function wordsToBigInt(words: Uint32Array): bigint {
  let value = 0n;
  for (let i = words.length - 1; i >= 0; i--) value = (value << 32n) | BigInt(words[i]!);
  return BigInt.asIntN(words.length * 32, value);
}

/** `1,234` */
export const countText = (count: number): string => count.toLocaleString('en-US');

/** `1 byte`, `1,234 bytes` */
export const bytesText = (count: number): string => `${countText(count)} ${count === 1 ? 'byte' : 'bytes'}`;

/** `512 bytes`, `38 KB`, `1.2 GB`, in powers of ten like disk sizes. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  const units = ['KB', 'MB', 'GB', 'TB', 'PB'];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value < 9.95 ? value.toFixed(1).replace(/\.0$/, '') : String(Math.round(value))} ${units[unit]}`;
}

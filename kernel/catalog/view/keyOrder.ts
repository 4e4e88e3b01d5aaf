import { type Data, DataType, Precision } from '#arrow';
import { columnReader } from '#catalog/arrow/rowValues.ts';
import type { Ordering } from '#catalog/query/querySpec.ts';
import { isBinaryType, isTextType, typeText } from '#shared/arrow/arrowTypes.ts';
import { CatalogError } from '#shared/errors.ts';
import { halfValue, wordsToBigInt } from '#shared/format/numbers.ts';

/**
 * A value to sort by: text and bytes as a string with one character per byte, because the engine compares bytes;
 * booleans as 0 and 1; null for no value.
 */
export type KeyValue = number | bigint | string | null;

type ReadKey = (row: number) => KeyValue;

/**
 * Returns a function from a row to its key, for one chunk of a column.
 * @throws CatalogError Unsupported (0) for a type that has no order
 */
export function keyReader(data: Data | undefined, column: string): ReadKey {
  // Arrow leaves out a column that is shorter than its batch.
  if (!data) return () => null;
  const read = validKeyReader(data, column);
  return data.nullCount === 0 ? read : (row) => (data.getValid(row) ? read(row) : null);
}

function validKeyReader(data: Data, column: string): ReadKey {
  const { type } = data;
  if (DataType.isNull(type)) return () => null;
  if (DataType.isBool(type)) {
    const read = columnReader(data);
    return (row) => Number(read(row));
  }
  if (DataType.isFloat(type) && type.precision === Precision.HALF) {
    const halves = data.values as Uint16Array;
    return (row) => halfValue(halves[row]!);
  }
  if (hasNumbers(type)) {
    const numbers = data.values as ArrayLike<number | bigint>;
    return (row) => numbers[row]!;
  }
  if (DataType.isDecimal(type)) {
    const words = data.values as Uint32Array;
    const width = type.bitWidth / 32;
    return (row) => wordsToBigInt(words.subarray(row * width, (row + 1) * width));
  }
  if (isTextType(type)) {
    const read = columnReader(data) as (row: number) => string;
    return (row) => bytesOf(read(row));
  }
  if (isBinaryType(type)) {
    const read = columnReader(data) as (row: number) => Uint8Array;
    return (row) => {
      const { buffer, byteOffset, byteLength } = read(row);
      return Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
    };
  }
  if (DataType.isDictionary(type)) return dictionaryReader(data, column);
  throw new CatalogError(
    'Unsupported',
    `The column "${column}" has the type ${typeText(type)}, which has no order.`,
    'Sort by another column.',
  );
}

/**
 * Marks the rows of a chunk whose key is another one than that of the row before. The first row is never marked. Text and
 * bytes are compared without decoding them.
 */
export function markChanges(data: Data | undefined, column: string, marks: Uint8Array): void {
  // Arrow leaves out a column that is shorter than its batch. All of its values are null.
  if (!data) return;
  const { type, length } = data;
  const hasBytes =
    DataType.isUtf8(type) || DataType.isLargeUtf8(type) || DataType.isBinary(type) || DataType.isLargeBinary(type);
  if (data.nullCount === 0 && hasBytes) return markOtherBytes(data, marks);
  const read = keyReader(data, column);
  let before = length > 0 ? read(0) : null;
  for (let row = 1; row < length; row++) {
    const key = read(row);
    // `Object.is` distinguishes the two zeros, as the order does, and no NaN from another.
    if (!Object.is(key, before)) marks[row] = 1;
    before = key;
  }
}

function markOtherBytes({ length, valueOffsets, values }: Data, marks: Uint8Array): void {
  const bytes = values as Uint8Array;
  const offsets = valueOffsets as ArrayLike<number | bigint>;
  let [start, end] = [Number(offsets[0]), Number(offsets[1])];
  for (let row = 1; row < length; row++) {
    const next = Number(offsets[row + 1]);
    const isOther = next - end !== end - start || !isSameBytes(bytes, start, end, next - end);
    if (isOther) marks[row] = 1;
    [start, end] = [end, next];
  }
}

function isSameBytes(bytes: Uint8Array, a: number, b: number, length: number): boolean {
  for (let at = 0; at < length; at++) if (bytes[a + at] !== bytes[b + at]) return false;
  return true;
}

const hasNumbers = (type: DataType): boolean =>
  DataType.isInt(type) ||
  DataType.isFloat(type) ||
  DataType.isDate(type) ||
  DataType.isTime(type) ||
  DataType.isTimestamp(type) ||
  DataType.isDuration(type);

function dictionaryReader(data: Data, column: string): ReadKey {
  const values = (data.dictionary?.data ?? []).flatMap((chunk) => {
    const read = keyReader(chunk, column);
    return Array.from({ length: chunk.length }, (_, row) => read(row));
  });
  const positions = data.values as ArrayLike<number | bigint>;
  return (row) => values[Number(positions[row])] ?? null;
}

// oxlint-disable-next-line no-control-regex -- the range is that of ASCII
const beyondAscii = /[^\u0000-\u007f]/;

/** UTF-8 and UTF-16 order characters differently, so text beyond ASCII is compared by its bytes in UTF-8. */
const bytesOf = (text: string): string => (beyondAscii.test(text) ? Buffer.from(text).toString('latin1') : text);

/** Compares two keys of the same column, as `Array.prototype.toSorted` needs it. */
type CompareKeys = (a: KeyValue, b: KeyValue) => number;

/**
 * Returns the order of the engine: `-Infinity … -0, 0 … Infinity, NaN`, text and bytes by their bytes. Nulls are last
 * in both directions, or first with `nullsFirst`.
 */
export function keyOrder({ descending = false, nullsFirst = false }: Ordering): CompareKeys {
  const sign = descending ? -1 : 1;
  const nulls = nullsFirst ? -1 : 1;
  return (a, b) => {
    if (a === null || b === null) return a === b ? 0 : a === null ? nulls : -nulls;
    return sign * compareValues(a, b);
  };
}

/** Returns the order of rows by their keys, one for each column to sort by; 0 for equal keys. */
export function rowOrder(orderBy: readonly Ordering[]): (a: readonly KeyValue[], b: readonly KeyValue[]) => number {
  const orders = orderBy.map((ordering) => keyOrder(ordering));
  return (a, b) => {
    for (const [index, order] of orders.entries()) {
      const result = order(a[index]!, b[index]!);
      if (result !== 0) return result;
    }
    return 0;
  };
}

function compareValues(a: number | bigint | string, b: number | bigint | string): number {
  if (a < b) return -1;
  if (a > b) return 1;
  // Values that are neither less nor more are equal, or zeros with different signs, or one of them is NaN.
  if (Object.is(a, b) || typeof a !== 'number' || typeof b !== 'number') return 0;
  if (Number.isNaN(a)) return 1;
  if (Number.isNaN(b)) return -1;
  return Object.is(a, -0) ? -1 : 1;
}

import { isAscii } from 'node:buffer';
import { type Data, DataType, Precision, type RecordBatch, type Vector } from '#arrow';

// Rows have plain JavaScript values, so that authors of functions don't need to know Arrow.

/**
 * Reads the strings of a column. Each one is decoded separately, because a slice of one large string would keep the
 * whole batch in memory, and V8 takes longer to split or search such a slice than to decode a string.
 * @param offsets byte offset of each string, and of the end of the last
 */
function textReader(bytes: Uint8Array, offsets: Int32Array): (row: number) => string {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // ASCII needs no decoding, which halves the time.
  const encoding = isAscii(all) ? 'latin1' : 'utf8';
  return (row) => all.toString(encoding, offsets[row], offsets[row + 1]);
}

type ReadValue = (row: number) => unknown;

/**
 * Reads a column of one batch.
 * 64-bit integers become bigints, other numbers numbers, timestamps and dates Date, lists of numbers typed arrays,
 * other lists arrays, structs and maps objects. Times, durations and decimals stay as in Arrow.
 */
function valueReader(vector: Vector): ReadValue {
  const data = vector.data[0];
  if (!data || vector.data.length > 1 || data.offset !== 0) return (row) => plain(vector.type, vector.get(row));
  const read = readerOf(data, vector);
  const { nullBitmap } = data;
  // A column without nulls may have an empty bitmap.
  if (data.nullCount === 0 || nullBitmap === undefined || nullBitmap.length === 0) return read;
  return (row) => (((nullBitmap[row >> 3] ?? 0) >> (row & 7)) & 1 ? read(row) : null);
}

function readerOf(data: Data, vector: Vector): ReadValue {
  const { type } = data;
  if (DataType.isUtf8(type)) return textReader(data.values, data.valueOffsets);
  const isStored = DataType.isInt(type) || (DataType.isFloat(type) && type.precision !== Precision.HALF);
  if (isStored) {
    const { values } = data as { values: ArrayLike<number | bigint> };
    return (row) => values[row];
  }
  return (row) => plain(type, vector.get(row));
}

function plain(type: DataType, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (DataType.isTimestamp(type) || DataType.isDate(type)) return new Date(Number(value));
  if (DataType.isDictionary(type)) return plain(type.dictionary, value);
  if (DataType.isList(type) || DataType.isFixedSizeList(type) || DataType.isLargeList(type))
    return plainList(type.children[0]!.type, value as Vector);
  if (DataType.isStruct(type)) {
    const members = value as Record<string, unknown>;
    return Object.fromEntries(type.children.map((child) => [child.name, plain(child.type, members[child.name])]));
  }
  if (DataType.isMap(type)) {
    const [, valueField] = (type.children[0]!.type as DataType).children;
    const entries = [...(value as Iterable<[unknown, unknown]>)];
    return Object.fromEntries(entries.map(([key, each]) => [String(key), plain(valueField!.type, each)]));
  }
  return value;
}

function plainList(item: DataType, list: Vector): unknown {
  const isNumeric = DataType.isInt(item) || (DataType.isFloat(item) && item.precision !== Precision.HALF);
  if (isNumeric && list.nullCount === 0) return list.toArray();
  return Array.from(list, (each) => plain(item, each));
}

export type Row = Readonly<Record<string, unknown>>;

type MakeRow = (readers: readonly ReadValue[]) => (row: number) => Row;

/**
 * Creates a reader of rows as plain objects, so that `{ ...row }` and JSON work as usual. Its code is generated with
 * the names as literals: filling an object in a loop takes several times as long.
 */
export function createRowReader(names: readonly string[]): (batch: RecordBatch) => (row: number) => Row {
  // The names are in brackets, because `__proto__` without brackets would set the prototype.
  const members = names.map((name, index) => `[${JSON.stringify(name)}]: read${index}(row)`);
  const readers = names.map((_, index) => `read${index}`);
  const body = `const [${readers.join(', ')}] = readers; return (row) => ({ ${members.join(', ')} });`;
  // oxlint-disable-next-line typescript/no-implied-eval -- the code contains only names that are written as JSON
  const make = new Function('readers', body) as MakeRow;
  return (batch) => make(names.map((name) => valueReader(batch.getChild(name)!)));
}

import { type Data, DataType, Precision, type RecordBatch, type Vector } from '#arrow';
import { createObjectMaker, type ReadValue } from '#catalog/arrow/objectMaker.ts';
import { textReader } from '#catalog/arrow/textReader.ts';

// Rows have plain JavaScript values, so that authors of functions don't need to know Arrow.

/**
 * Reads a column of one batch. 64-bit integers become bigints, and other numbers become numbers. Timestamps and dates
 * become Date objects. Lists of numbers become typed arrays, and other lists become arrays. Structs and maps become
 * objects. Times, durations and decimals stay as in Arrow.
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

/** Creates a reader of rows as plain objects, so that `{ ...row }` and JSON work as usual. */
export function createRowReader(names: readonly string[]): (batch: RecordBatch) => (row: number) => Row {
  const make = createObjectMaker(names);
  return (batch) => make(names.map((name) => valueReader(batch.getChild(name)!)));
}

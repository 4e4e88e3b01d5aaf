import {
  type Data,
  DataType,
  DateUnit,
  type Field,
  type FixedSizeList,
  Precision,
  type Table as ArrowTable,
  type Union,
  UnionMode,
  Vector,
} from '#arrow';
import { Decimal } from '#catalog/values/decimal.ts';
import { Duration } from '#catalog/values/duration.ts';
import { withBigintJson, withBytesMethods, withMapJson, withVectorMethods } from '#catalog/values/hiddenMethods.ts';
import { Time } from '#catalog/values/time.ts';
import { maxDateMs, Timestamp } from '#catalog/values/timestamp.ts';
import { findDuplicate } from '#shared/arrow/columnPositions.ts';
import { CatalogError } from '#shared/errors.ts';
import { halfValue, wordsToBigInt } from '#shared/format/numbers.ts';
import { type TimeUnit, timeUnitNames } from '#shared/format/times.ts';
import { createObjectMaker, type ReadValue } from './objectMaker.ts';
import { textReader } from './textReader.ts';

/** How values of rows are read. */
export type RowOptions = {
  /**
   * 64-bit integers are numbers up to ±(2^53 − 1), which a number holds exactly, and bigints beyond. With `'bigint'`
   * they are always bigints.
   */
  int64?: 'number' | 'bigint' | undefined;
};

/**
 * Converts an Arrow table to rows. Values are exact and can be written back as they are:
 *
 * - 64-bit integers: see `RowOptions`; other numbers: numbers; strings, booleans and null as they are
 * - timestamps and dates: `Date`, or `Timestamp` if a `Date` can't hold the value exactly
 * - times of day: `Time`; durations: `Duration`; decimals: `Decimal`
 * - fixed-size lists of numbers: a typed array, or an array if an element is null; other lists: arrays
 * - structs: plain objects; maps: `Map`; binary: `Uint8Array`; dictionaries: their values
 * @throws CatalogError InvalidInput (13) if two columns have one name, which an object can't hold
 */
export function readRows(table: ArrowTable, { int64 }: RowOptions = {}): Record<string, unknown>[] {
  const duplicate = findDuplicate(table.schema);
  if (duplicate !== undefined) {
    const what = `The result has several columns with the name "${duplicate}", which objects can't hold.`;
    throw new CatalogError('InvalidInput', what, 'Use toArrow(), and getChildAt(position) for each column.');
  }
  const { fields } = table.schema;
  const context: Context = { isBigint: int64 === 'bigint', hasBigint: false, hasUnsafe: false };
  const makeObject = createObjectMaker(fields.map(({ name }) => name));
  const rows: Record<string, unknown>[] = [];
  for (const { data, numRows } of table.batches) {
    const readers = fields.map((_, column) => readerOf(data.children[column], context));
    const read = withBigints(makeObject(readers), fields, context);
    for (let row = 0; row < numRows; row++) rows.push(read(row) as Record<string, unknown>);
  }
  if (context.hasUnsafe) {
    const column = fields.find(({ name }) => rows.some((row) => containsBigint(row[name])));
    if (column) onUnsafeInteger(column.name);
  }
  return rows;
}

let onUnsafeInteger: (column: string) => void = () => {};

/**
 * Sets the listener that `readRows` calls with the name of a column in which it returned bigints that the caller did
 * not ask for.
 */
export function setUnsafeIntegerListener(listen: (column: string) => void): void {
  onUnsafeInteger = listen;
}

function containsBigint(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint';
  if (value instanceof Map) return [...value].flat().some(containsBigint);
  if (ArrayBuffer.isView(value) || value instanceof Date) return false;
  if (value instanceof Decimal || value instanceof Duration || value instanceof Time) return false;
  return Object.values(value).some(containsBigint);
}

/** Returns a reader of values as `readRows` gives them, with bigints for all 64-bit integers. */
export const columnReader = (data: Data): ReadValue =>
  readerOf(data, { isBigint: true, hasBigint: false, hasUnsafe: false });

type Context = {
  /** Whether 64-bit integers are always bigints. */
  readonly isBigint: boolean;
  /** Set by readers of integers when they return a bigint, for the object or list that will hold it. */
  hasBigint: boolean;
  /** Set by readers of integers when they return a bigint because a number does not hold the value exactly. */
  hasUnsafe: boolean;
};

/** Returns a reader for one chunk of a column, compiled for its type. */
function readerOf(data: Data | undefined, context: Context): ReadValue {
  // Arrow leaves out a column that is shorter than its batch.
  if (!data) return () => null;
  const read = validReader(data, context);
  const { nullBitmap, offset } = data;
  if (data.nullCount === 0 || nullBitmap === undefined || nullBitmap.length === 0) return read;
  return (index) => {
    const at = offset + index;
    return ((nullBitmap[at >> 3] ?? 0) >> (at & 7)) & 1 ? read(index) : null;
  };
}

/** Returns a reader of values that are not null. */
function validReader(data: Data, context: Context): ReadValue {
  const type = data.type;
  if (DataType.isNull(type)) return () => null;
  if (DataType.isBool(type)) return booleanReader(data);
  if (DataType.isInt(type)) return type.bitWidth === 64 ? int64Reader(data, context) : plainReader(data);
  if (DataType.isFloat(type)) return type.precision === Precision.HALF ? halfReader(data) : plainReader(data);
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) return textReader(bytesIn(data), offsetsIn(data));
  if (DataType.isBinary(type) || DataType.isLargeBinary(type)) return bytesReader(bytesIn(data), offsetsIn(data));
  if (DataType.isFixedSizeBinary(type)) return fixedBytesReader(bytesIn(data), type.byteWidth);
  if (DataType.isTimestamp(type)) return timeReader(data, type.unit);
  if (DataType.isDate(type)) return type.unit === DateUnit.DAY ? dayReader(data) : timeReader(data, 1);
  if (DataType.isTime(type)) return countReader(data, type.unit, Time);
  if (DataType.isDuration(type)) return countReader(data, type.unit, Duration);
  if (DataType.isDecimal(type)) return decimalReader(data, type.scale);
  if (DataType.isList(type) || DataType.isLargeList(type)) return listReader(data, context);
  if (DataType.isFixedSizeList(type)) return fixedListReader(data, type, context);
  if (DataType.isStruct(type)) return structReader(data, type.children, context);
  if (DataType.isMap(type)) return mapReader(data, context);
  if (DataType.isUnion(type)) return unionReader(data, type, context);
  if (DataType.isDictionary(type)) return dictionaryReader(data, context);
  // Views of strings and bytes, intervals, and types that a later version of the format adds are as Arrow gives them.
  const vector = new Vector([data]);
  return (index) => vector.get(index) as unknown;
}

/** Wraps the reader of objects with these fields, so that JSON of an object with a bigint is possible. */
function withBigints(read: ReadValue, fields: readonly Field[], context: Context): ReadValue {
  if (!fields.some(({ type }) => isInt64(type as DataType))) return read;
  return (index) => {
    const outer = context.hasBigint;
    context.hasBigint = false;
    const value = read(index) as object;
    if (context.hasBigint) withBigintJson(value);
    context.hasBigint = outer;
    return value;
  };
}

const isInt64 = (type: DataType): boolean =>
  DataType.isDictionary(type)
    ? isInt64(type.dictionary as DataType)
    : DataType.isUnion(type)
      ? type.children.some((child: Field) => isInt64(child.type as DataType))
      : DataType.isInt(type) && type.bitWidth === 64;

function plainReader({ values }: Data): ReadValue {
  const numbers = values as ArrayLike<number>;
  return (index) => numbers[index];
}

function halfReader({ values }: Data): ReadValue {
  const halves = values as Uint16Array;
  return (index) => halfValue(halves[index]!);
}

function booleanReader({ values, offset }: Data): ReadValue {
  const bits = values as Uint8Array;
  return (index) => {
    const at = offset + index;
    return (((bits[at >> 3] ?? 0) >> (at & 7)) & 1) === 1;
  };
}

/** Reads 64-bit integers by halves, because creating a bigint for each one takes several times as long. */
function int64Reader(data: Data, context: Context): ReadValue {
  const wholes = data.values as BigInt64Array | BigUint64Array;
  if (context.isBigint) {
    return (index) => {
      context.hasBigint = true;
      return wholes[index];
    };
  }
  const read = safeIntegerReader(wholes);
  return (index) => {
    const value = read(index);
    if (value !== undefined) return value;
    context.hasBigint = true;
    context.hasUnsafe = true;
    return wholes[index];
  };
}

/** Reads 64-bit integers as numbers; `undefined` for one that a number does not hold exactly. */
function safeIntegerReader(wholes: BigInt64Array | BigUint64Array): (index: number) => number | undefined {
  const { buffer, byteOffset, length } = wholes;
  const lows = new Uint32Array(buffer, byteOffset, length * 2);
  const highs =
    wholes instanceof BigInt64Array
      ? new Int32Array(buffer, byteOffset, length * 2)
      : new Uint32Array(buffer, byteOffset, length * 2);
  return (index) => {
    const value = highs[2 * index + 1]! * 2 ** 32 + lows[2 * index]!;
    return Number.isSafeInteger(value) ? value : undefined;
  };
}

const dayMs = 86_400_000;

function dayReader({ values }: Data): ReadValue {
  const days = values as Int32Array;
  return (index) => {
    const ms = days[index]! * dayMs;
    return Math.abs(ms) <= maxDateMs ? new Date(ms) : new Timestamp(BigInt(ms), 'ms');
  };
}

function timeReader({ values }: Data, unit: TimeUnit): ReadValue {
  const counts = values as BigInt64Array;
  const read = safeIntegerReader(counts);
  const perMs = 1000 ** (unit - 1);
  const name = timeUnitNames[unit];
  return (index) => {
    const count = read(index) ?? Number.NaN;
    const ms = count / perMs;
    // The quotient of safe integers is a whole number only if the division is exact.
    if (Number.isSafeInteger(ms) && Math.abs(ms) <= maxDateMs) return new Date(ms);
    return dateOrTimestamp(counts[index]!, name, unit);
  };
}

/**
 * Returns a `Date` if it holds the time exactly, else a `Timestamp`. Calculates with bigints, because most counts of
 * nanoseconds are beyond the safe integers.
 */
function dateOrTimestamp(count: bigint, name: (typeof timeUnitNames)[number], unit: TimeUnit): Date {
  if (unit > 1) {
    const perMs = unit === 2 ? 1000n : 1_000_000n;
    if (count % perMs === 0n) {
      const ms = Number(count / perMs);
      if (Math.abs(ms) <= maxDateMs) return new Date(ms);
    }
  }
  return new Timestamp(count, name);
}

function countReader(
  { values }: Data,
  unit: TimeUnit,
  Value: new (count: bigint, unit: (typeof timeUnitNames)[number]) => unknown,
): ReadValue {
  const counts = values as ArrayLike<number | bigint>;
  const name = timeUnitNames[unit];
  return (index) => new Value(BigInt(counts[index]!), name);
}

function decimalReader({ values, stride }: Data, scale: number): ReadValue {
  const words = values as Uint32Array;
  return (index) => new Decimal(wordsToBigInt(words.subarray(index * stride, (index + 1) * stride)), scale);
}

const bytesIn = ({ values }: Data): Uint8Array => (values as Uint8Array | undefined) ?? new Uint8Array(0);

const offsetsIn = ({ valueOffsets }: Data): ArrayLike<number | bigint> => valueOffsets as ArrayLike<number | bigint>;

/** Copies the bytes. A view would keep its whole batch: sending the view to a worker would send the whole batch. */
const copyBytes = (bytes: Uint8Array): Uint8Array => withBytesMethods(new Uint8Array(bytes));

const bytesReader =
  (bytes: Uint8Array, offsets: ArrayLike<number | bigint>): ReadValue =>
  (index) =>
    copyBytes(bytes.subarray(Number(offsets[index]), Number(offsets[index + 1])));

const fixedBytesReader =
  (bytes: Uint8Array, width: number): ReadValue =>
  (index) =>
    copyBytes(bytes.subarray(index * width, (index + 1) * width));

function listReader(data: Data, context: Context): ReadValue {
  const read = itemsReader(data.children[0]!, context);
  const offsets = offsetsIn(data);
  return (index) => read(Number(offsets[index]), Number(offsets[index + 1]));
}

type ReadItems = (start: number, end: number) => unknown[];

function itemsReader(items: Data, context: Context): ReadItems {
  const read = readerOf(items, context);
  const readList: ReadItems = (start, end) => {
    const list: unknown[] = [];
    for (let at = start; at < end; at++) list.push(read(at));
    return list;
  };
  if (!isInt64(items.type)) return readList;
  return (start, end) => {
    const outer = context.hasBigint;
    context.hasBigint = false;
    const list = readList(start, end);
    if (context.hasBigint) withBigintJson(list);
    context.hasBigint = outer;
    return list;
  };
}

type Numbers = Float32Array | Float64Array | Int32Array | Uint8Array | BigInt64Array;

/** Reads fixed-size lists: vectors of numbers as typed arrays. */
function fixedListReader(data: Data, { listSize: size }: FixedSizeList, context: Context): ReadValue {
  const items = data.children[0]!;
  const readItems = itemsReader(items, context);
  const readList: ReadValue = (index) => readItems(index * size, (index + 1) * size);
  const readVector = vectorReader(items, size, context);
  if (!readVector) return readList;
  if (items.nullCount === 0) return readVector;
  return (index) => {
    for (let at = index * size; at < (index + 1) * size; at++) if (!items.getValid(at)) return readList(index);
    return readVector(index);
  };
}

/** Returns a reader of typed arrays; `undefined` if the items are not numbers of a typed array. */
function vectorReader(items: Data, size: number, context: Context): ReadValue | undefined {
  const type = items.type;
  if (DataType.isFloat(type) && type.precision === Precision.HALF) {
    const halves = items.values as Uint16Array;
    return (index) =>
      withVectorMethods(Float32Array.from(halves.subarray(index * size, (index + 1) * size), halfValue));
  }
  const isNumber = DataType.isFloat(type) || (DataType.isInt(type) && (type.bitWidth < 64 || context.isBigint));
  if (!isNumber) return undefined;
  const given = items.values as Numbers;
  // The bytes may be a `Buffer`, whose `slice` does not copy.
  const Values = type.ArrayType as new (buffer: ArrayBufferLike, offset: number, length: number) => Numbers;
  const numbers = new Values(given.buffer, given.byteOffset, given.length);
  // A view would keep its whole batch, and sending the view to a worker would send the whole batch. So the numbers are
  // copied.
  return (index) => withVectorMethods(numbers.slice(index * size, (index + 1) * size));
}

function structReader(data: Data, fields: readonly Field[], context: Context): ReadValue {
  const readers = fields.map((_, column) => readerOf(data.children[column], context));
  return withBigints(createObjectMaker(fields.map(({ name }) => name))(readers), fields, context);
}

function mapReader(data: Data, context: Context): ReadValue {
  const [keys, values] = data.children[0]!.children;
  const [readKey, read] = [readerOf(keys, context), readerOf(values, context)];
  const offsets = offsetsIn(data);
  return (index) => {
    const outer = context.hasBigint;
    const map = new Map<unknown, unknown>();
    const end = Number(offsets[index + 1]);
    for (let at = Number(offsets[index]); at < end; at++) map.set(readKey(at), read(at));
    context.hasBigint = outer;
    return withMapJson(map);
  };
}

function unionReader(data: Data, { typeIdToChildIndex, mode }: Union, context: Context): ReadValue {
  const readers = data.children.map((child) => readerOf(child, context));
  const ids = data.typeIds as Int8Array;
  const offsets = mode === UnionMode.Dense ? (data.valueOffsets as Int32Array) : undefined;
  return (index) => readers[typeIdToChildIndex[ids[index]!] ?? -1]?.(offsets ? offsets[index]! : index) ?? null;
}

function dictionaryReader(data: Data, context: Context): ReadValue {
  const chunks = (data.dictionary?.data ?? []).map((chunk) => ({
    length: chunk.length,
    read: readerOf(chunk, context),
  }));
  const keys = data.values as ArrayLike<number | bigint>;
  const readEntry: ReadValue = (key) => {
    let at = key;
    for (const { length, read } of chunks) {
      if (at < length) return read(at);
      at -= length;
    }
    return null;
  };
  // Strings can be shared by rows. Other values can be changed, so each row gets its own copy.
  const known: unknown[] = [];
  return (index) => {
    const key = Number(keys[index]);
    const shared = known[key];
    if (shared !== undefined) return shared;
    const value = readEntry(key);
    if (typeof value === 'string') known[key] = value;
    return value;
  };
}

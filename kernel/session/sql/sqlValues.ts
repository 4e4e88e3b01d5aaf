import {
  Binary,
  DataType,
  Field,
  Float64,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  Type,
  Utf8,
  Vector,
  vectorFromArray,
  type Data,
  type Timestamp,
} from '#arrow';
import { isDecimal } from '#catalog/values/decimal.ts';
import { isDuration } from '#catalog/values/duration.ts';
import { isTime } from '#catalog/values/time.ts';
import { CatalogError } from '#shared/errors.ts';
import { columnFormatter, unlimited } from '#shared/format/cellText.ts';
import { timestampText } from '#shared/format/times.ts';
import type { SqlValue } from './sqlTypes.ts';

// Converts values between Arrow and SQLite. Integers are exact to 64 bits. Decimals become numbers if a double holds
// their digits; otherwise they become text. Times are UTC text that SQLite's functions understand and that sorts
// correctly. Nested values are JSON, for which SQLite has functions.

export type SqliteValue = null | number | bigint | string | Uint8Array;

/** Number of decimal digits that a double always holds exactly. */
const exactDigits = 15;
const maxInt64 = 2n ** 63n - 1n;

/** Returns the affinity (type class) that SQLite gives a column, so that values compare by their type. */
export function affinityOf(type: DataType): string {
  if (DataType.isDictionary(type)) return affinityOf(type.dictionary as DataType);
  if (DataType.isBool(type) || DataType.isInt(type)) return 'INTEGER';
  if (DataType.isFloat(type)) return 'REAL';
  if (DataType.isDecimal(type)) return type.precision <= exactDigits ? 'NUMERIC' : 'TEXT';
  return isBinary(type) ? 'BLOB' : 'TEXT';
}

const isBinary = (type: DataType): boolean =>
  DataType.isBinary(type) || DataType.isLargeBinary(type) || DataType.isFixedSizeBinary(type);

export function storedReader(name: string, vector: Vector): (row: number) => SqliteValue {
  const type = vector.type as DataType;
  if (type.typeId === Type.Timestamp) return timestampReader(vector as Vector<Timestamp>);
  if (DataType.isDictionary(type) || isPlain(type)) {
    return (row) => plainValue(name, vector.get(row));
  }
  if (isText(type)) {
    const format = columnFormatter(vector, { limits: unlimited });
    return (row) => (vector.isValid(row) ? format(row).text : null);
  }
  return (row) => (vector.isValid(row) ? JSON.stringify(vector.get(row), forJson) : null);
}

const isPlain = (type: DataType): boolean =>
  DataType.isBool(type) ||
  DataType.isInt(type) ||
  DataType.isFloat(type) ||
  DataType.isUtf8(type) ||
  DataType.isLargeUtf8(type) ||
  isBinary(type);

const isText = (type: DataType): boolean =>
  DataType.isDecimal(type) ||
  DataType.isDate(type) ||
  DataType.isTime(type) ||
  DataType.isDuration(type) ||
  DataType.isInterval(type);

function plainValue(name: string, value: unknown): SqliteValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'bigint' && value > maxInt64)
    throw tooLargeInteger(
      `The column ${name} has the integer`,
      value,
      'Omit the column, or read it with table.query().',
    );
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string') return value;
  return value instanceof Uint8Array ? value : JSON.stringify(value, forJson);
}

const tooLargeInteger = (subject: string, value: bigint, hint: string): CatalogError =>
  new CatalogError('InvalidInput', `${subject} ${value}, but the largest integer in SQL is ${maxInt64}.`, hint);

function timestampReader(vector: Vector<Timestamp>): (row: number) => SqliteValue {
  const { unit } = vector.type;
  const chunks = vector.data;
  return (row) => {
    let at = row;
    for (const data of chunks) {
      if (at < data.length) return data.getValid(at) ? timestampText(data.values[at] ?? 0n, unit) : null;
      at -= data.length;
    }
    return null;
  };
}

const forJson = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? (Number.isSafeInteger(Number(value)) ? Number(value) : String(value)) : value;

/**
 * Converts a value of a cell for SQLite.
 * @throws CatalogError InvalidInput (13) if its type is not supported
 */
export function boundValue(value: SqlValue): SqliteValue {
  if (value === null || typeof value === 'string' || value instanceof Uint8Array) return value;
  // Whole numbers are passed as bigint, because Node passes every number to SQLite as a double.
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value === 'bigint') {
    if (value > maxInt64) throw tooLargeInteger('The query has the integer', value, 'Pass it as a string.');
    return value;
  }
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (isDecimal(value) || isTime(value) || isDuration(value)) return value.toString();
  if (value instanceof Date) return value.toISOString().replace('T', ' ').slice(0, -1);
  const what = value === undefined ? 'undefined' : typeof value;
  throw new CatalogError(
    'InvalidInput',
    `Can't use a value of type ${what} in a query.`,
    'Pass a string, a number, a boolean, null, a Date, a Decimal, a Time, a Duration, bytes, or an array of these.',
  );
}

/** A column of a result; `type` is the type of the table column that the result column is taken from, if any. */
type ResultColumn = { name: string; type: DataType | undefined };

/** Converts rows from SQLite, with integers as bigint, to an Arrow table. */
export function tableOf(columns: readonly ResultColumn[], rows: readonly (readonly SqliteValue[])[]): Table {
  const names = uniqueNames(columns.map(({ name }) => name));
  const vectors = columns.map(({ type }, index) =>
    vectorOf(
      rows.map((row) => row[index] ?? null),
      type,
    ),
  );
  // The table is not created from an object, because an object would move numeric names to the front.
  const fields = vectors.map(({ type }, index) => new Field(names[index]!, type as DataType, true));
  const columnData = vectors.map(({ data }) => data[0]!);
  return new Table([batchOf(fields, columnData, rows.length)]);
}

/** Returns a batch of `length` rows from its columns, in their order. */
export const batchOf = (fields: Field[], children: Data[], length: number): RecordBatch =>
  new RecordBatch(new Schema(fields), makeData({ type: new Struct(fields), length, nullCount: 0, children }));

/** Returns unique column names. Appends a number to a duplicate, and avoids existing names. */
function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set(names);
  const seen = new Set<string>();
  return names.map((name) => {
    if (!seen.has(name)) {
      seen.add(name);
      return name;
    }
    let times = 2;
    while (taken.has(`${name}_${times}`)) times++;
    taken.add(`${name}_${times}`);
    return `${name}_${times}`;
  });
}

function vectorOf(values: readonly SqliteValue[], type: DataType | undefined): Vector {
  const made = type && isPlain(type) ? type : typeFor(values);
  const fitted = values.map((value) => fitting(value, made));
  return fitted.length === 0 ? new Vector([makeData({ type: made })]) : vectorFromArray(fitted, made);
}

function typeFor(values: readonly SqliteValue[]): DataType {
  const kinds = new Set(values.filter((value) => value !== null).map((value) => typeof value));
  if (kinds.size === 1 && kinds.has('bigint')) return new Int64();
  if (kinds.size > 0 && [...kinds].every((kind) => kind === 'bigint' || kind === 'number')) return new Float64();
  if (kinds.size === 1 && kinds.has('object')) return new Binary();
  return new Utf8();
}

function fitting(value: SqliteValue, type: DataType): unknown {
  if (value === null) return null;
  if (DataType.isBool(type)) return value === 1n || value === 1;
  if (DataType.isInt(type)) return type.bitWidth === 64 ? value : Number(value);
  if (DataType.isFloat(type)) return Number(value);
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) return typeof value === 'string' ? value : textOf(value);
  return value;
}

const textOf = (value: SqliteValue): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value);

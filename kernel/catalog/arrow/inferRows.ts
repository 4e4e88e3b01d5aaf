import {
  Binary,
  Bool,
  type DataType,
  Decimal as DecimalType,
  Duration as DurationType,
  Field,
  FixedSizeList,
  Float16,
  Float32,
  Float64,
  Int16,
  Int32,
  Int64,
  Int8,
  List,
  makeData,
  Map_,
  RecordBatch,
  Schema,
  Struct,
  Table as ArrowTable,
  Time as TimeType,
  Timestamp as TimestampType,
  type TimeUnit as ArrowTimeUnit,
  Uint16,
  Uint32,
  Uint64,
  Uint8,
  Utf8,
} from '#arrow';
import { isDecimal } from '#catalog/values/decimal.ts';
import { isDuration } from '#catalog/values/duration.ts';
import { isTime } from '#catalog/values/time.ts';
import { exactTime } from '#catalog/values/timestamp.ts';
import { unitNumber } from '#catalog/values/timeUnits.ts';
import { CatalogError } from '#shared/errors.ts';
import { type TimeUnit, timeUnitNames } from '#shared/format/times.ts';
import { mapRowEntries, structRowMembers, vectorItems } from './arrowValues.ts';
import { buildColumn } from './buildColumn.ts';
import { convertValue, fail, isTypedArray, builtinTag, type Place } from './convertValue.ts';
import { timeUnits } from './plainTypes.ts';

export type Row = Readonly<Record<string, unknown>>;

/**
 * Creates an Arrow table from rows. The inference of types is the same for every implementation, and nearly that of
 * LanceDB:
 *
 * - Numbers become Float64. In an integer column, later fractions would not fit, also from SQL such as `price * 1.1`,
 *   and SQL would compute 1 / 3 as 0.
 * - Bigints become Int64, or Float64 if the column also has fractions.
 * - Arrays become List of the type of their elements. In a column whose name contains "vector" or "embedding", arrays
 *   of numbers become FixedSizeList<Float32> instead, or List<Float32> if their lengths differ. This applies only if
 *   the column has no bigint, and no whole number that Float32 would change.
 * - Typed arrays become FixedSizeList of the type of their elements, or List if their lengths differ. `Uint8Array`
 *   becomes Binary.
 * - `Date` becomes Timestamp in microseconds UTC. `Timestamp`, `Time` and `Duration` keep their unit. A column has the
 *   finest unit of its values.
 * - `Decimal` becomes Decimal128, or Decimal256 if it has more than 38 digits.
 * - Objects become Struct. `Map` becomes Map.
 * - `null` and `undefined` become null.
 *
 * A given schema overrides the inference.
 * @throws CatalogError SchemaValidation (20) naming row and column if the values of a column have different types
 */
export function inferRows(given: readonly Row[], schema?: Schema): ArrowTable {
  const rows = given.map((row, index) => {
    if (typeof row === 'object' && row !== null && !Array.isArray(row)) return structRowMembers(row) ?? row;
    throw new CatalogError('SchemaValidation', `Row ${index} is not an object.`, 'Pass rows as objects.');
  });
  const fields = schema ? schema.fields : inferFields(rows);
  if (fields.length === 0 && rows.length > 0 && !schema) {
    throw new CatalogError(
      'SchemaValidation',
      rows.length === 1 ? 'Row 0 has no columns.' : 'No row has a column.',
      'Pass rows with at least one property, or set the option schema.',
    );
  }
  if (fields.length === 0) {
    throw new CatalogError(
      'SchemaValidation',
      'There are no rows and no schema, so the columns are unknown.',
      'Pass at least one row, set the option schema, or use createEmptyTable.',
    );
  }
  const names = new Set(fields.map((field) => field.name));
  rows.forEach((row, index) => {
    const extra = Object.keys(row).find((name) => !names.has(name));
    if (extra !== undefined)
      fail({ row: index, column: extra }, 'is not in the schema', 'Add it to the schema or leave it out.');
  });
  const made = new Schema([...fields], schema?.metadata);
  const children = fields.map((field) => {
    const values = rows.map((row, index) => {
      const place = { row: index, column: field.name };
      const value = Object.hasOwn(row, field.name) ? row[field.name] : null;
      if ((value === null || value === undefined) && !field.nullable)
        fail(place, 'is null', 'Set a value, or make the column nullable in the schema.');
      return convertValue(field.type, value, place);
    });
    return buildColumn(field.type, values);
  });
  const data = makeData({ type: new Struct(made.fields), length: rows.length, nullCount: 0, children });
  return new ArrowTable(made, [new RecordBatch(made, data)]);
}

/** Functions that return the element type of each class of typed arrays, because Arrow is loaded on first use. */
const elementTypes = {
  Int8Array: () => new Int8(),
  Uint8ClampedArray: () => new Uint8(),
  Int16Array: () => new Int16(),
  Uint16Array: () => new Uint16(),
  Int32Array: () => new Int32(),
  Uint32Array: () => new Uint32(),
  BigInt64Array: () => new Int64(),
  BigUint64Array: () => new Uint64(),
  Float16Array: () => new Float16(),
  Float32Array: () => new Float32(),
  Float64Array: () => new Float64(),
} as const satisfies Record<string, () => DataType>;
type TypedArrayName = keyof typeof elementTypes;

// The inferred type of a column so far. A number is wide if it is a whole number that a Float32 can't hold exactly. A
// list without `item` has had no elements yet, so their type is unknown.
type Shape =
  | { kind: 'number'; hasBigint: boolean; hasFraction: boolean; isWide: boolean }
  | { kind: 'text' | 'bool' | 'bytes' }
  | { kind: 'date' | 'time' | 'duration'; unit: TimeUnit }
  | { kind: 'decimal'; scale: number; digits: number }
  | { kind: 'map'; key: Shape | undefined; value: Shape | undefined }
  | { kind: 'typedArray'; length: Length; name: TypedArrayName }
  | { kind: 'list'; length: Length; item: Shape | undefined }
  | { kind: 'struct'; fields: Map<string, Shape | undefined> };
type Length = number | 'varies';

function inferFields(rows: readonly Row[]): Field[] {
  const shapes = new Map<string, Shape | undefined>();
  rows.forEach((row, index) => {
    for (const [name, value] of Object.entries(row)) {
      shapes.set(
        name,
        merge(shapes.get(name), shapeOf(value, { row: index, column: name }), { row: index, column: name }),
      );
    }
  });
  return [...shapes].map(([name, shape]) => new Field(name, typeOf(shape, name), true));
}

/** Infers the shape of a value; `within` are the objects that contain the value. They are needed to detect cycles. */
function shapeOf(value: unknown, place: Place, within: readonly object[] = []): Shape | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'object') return shapeOfObject(value, place, within);
  if (typeof value === 'number') {
    const hasFraction = !Number.isSafeInteger(value) || Object.is(value, -0);
    return { kind: 'number', hasBigint: false, hasFraction, isWide: isWide(value) };
  }
  // A bigint is never an element of a vector, so that it is read back unchanged.
  if (typeof value === 'bigint') return { kind: 'number', hasBigint: true, hasFraction: false, isWide: true };
  if (typeof value === 'string') return { kind: 'text' };
  if (typeof value === 'boolean') return { kind: 'bool' };
  const hint = 'Use a number, string, boolean, Date, Uint8Array, array or plain object.';
  return fail(place, `is a ${typeof value}`, hint);
}

function shapeOfObject(value: object, place: Place, above: readonly object[]): Shape {
  if (above.includes(value)) return fail(place, 'contains itself', 'Remove the circular reference.');
  const exact = exactShape(value);
  if (exact) return exact;
  const within = [...above, value];
  const tag = builtinTag(value);
  if (tag === 'Uint8Array') return { kind: 'bytes' };
  if (isTypedArray(value)) {
    if (isTypedArrayName(tag)) return { kind: 'typedArray', length: value.length, name: tag };
    return fail(place, `is a ${tag}`, 'Use an array or a Float32Array.');
  }
  const list = Array.isArray(value) ? (value as unknown[]) : vectorItems(value);
  if (list) return { kind: 'list', length: list.length, item: commonShape(list, place, within) };
  const entries = tag === 'Map' ? [...(value as Map<unknown, unknown>)] : mapRowEntries(value);
  if (entries) {
    const key = commonShape(
      entries.map(([each]) => each),
      place,
      within,
    );
    const values = entries.map(([, each]) => each);
    return { kind: 'map', key, value: commonShape(values, place, within) };
  }
  const members = structRowMembers(value);
  if (members) return shapeOfObject(members, place, within);
  const prototype: unknown = Object.getPrototypeOf(value);
  // A plain object of a notebook cell may come from another realm. Its prototype is not this realm's
  // `Object.prototype`, but that prototype has no prototype either.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    return fail(
      place,
      `is a ${tag === 'Object' ? value.constructor.name : tag}`,
      'Use a plain object, or convert it first.',
    );
  }
  return {
    kind: 'struct',
    fields: new Map(
      Object.entries(value).map(([name, member]) => [
        name,
        shapeOf(member, { row: place.row, column: `${place.column}.${name}` }, within),
      ]),
    ),
  };
}

/** Infers the shape of a `Decimal`, `Time`, `Duration`, `Date` or `Timestamp`; `undefined` for other values. */
function exactShape(value: object): Shape | undefined {
  if (isDecimal(value)) {
    const { unscaled, scale } = value;
    // A negative scale stands for zeros at the end.
    const digits = String(unscaled).replace('-', '').length + Math.max(0, -scale);
    return { kind: 'decimal', scale: Math.max(0, scale), digits: Math.max(0, digits - Math.max(0, scale)) };
  }
  if (isTime(value)) return { kind: 'time', unit: unitNumber(value.unit) };
  if (isDuration(value)) return { kind: 'duration', unit: unitNumber(value.unit) };
  if (builtinTag(value) !== 'Date') return undefined;
  const microseconds = 2;
  return { kind: 'date', unit: exactTime(value)?.unit ?? microseconds };
}

function commonShape(values: readonly unknown[], place: Place, within: readonly object[]): Shape | undefined {
  let shape: Shape | undefined;
  for (const value of values) shape = merge(shape, shapeOf(value, place, within), place);
  return shape;
}

function merge(a: Shape | undefined, b: Shape | undefined, place: Place): Shape | undefined {
  if (!a || !b) return a ?? b;
  if (a.kind === 'typedArray' && b.kind === 'typedArray' && a.name === b.name) {
    return { ...a, length: a.length === b.length ? a.length : 'varies' };
  }
  if (isListShape(a) && isListShape(b)) {
    const item = merge(itemShape(a), itemShape(b), place);
    return { kind: 'list', length: a.length === b.length ? a.length : 'varies', item };
  }
  if (a.kind === 'struct' && b.kind === 'struct') {
    const fields = new Map(a.fields);
    for (const [name, shape] of b.fields) {
      const inner = { row: place.row, column: `${place.column}.${name}` };
      fields.set(name, merge(fields.get(name), shape, inner));
    }
    return { kind: 'struct', fields };
  }
  if (a.kind === 'map' && b.kind === 'map')
    return { kind: 'map', key: merge(a.key, b.key, place), value: merge(a.value, b.value, place) };
  if (a.kind === 'decimal' && b.kind === 'decimal')
    return { kind: 'decimal', scale: Math.max(a.scale, b.scale), digits: Math.max(a.digits, b.digits) };
  if (isTimed(a) && isTimed(b) && a.kind === b.kind) return a.unit >= b.unit ? a : b;
  if (a.kind === 'number' && b.kind === 'number') {
    return {
      kind: 'number',
      hasBigint: a.hasBigint || b.hasBigint,
      hasFraction: a.hasFraction || b.hasFraction,
      isWide: a.isWide || b.isWide,
    };
  }
  if (a.kind === b.kind) return a;
  return fail(place, `is ${words[b.kind]}, but earlier rows have ${words[a.kind]}`, 'Use one type per column.');
}

type ListShape = Extract<Shape, { kind: 'list' | 'typedArray' }>;

const isListShape = (shape: Shape): shape is ListShape => shape.kind === 'list' || shape.kind === 'typedArray';

/** Returns the shape of the elements; elements of a typed array have the shape that they would have in an array. */
function itemShape(list: ListShape): Shape | undefined {
  if (list.kind === 'list') return list.item;
  const isFloat = list.name.startsWith('Float');
  return {
    kind: 'number',
    hasBigint: list.name.startsWith('Big'),
    hasFraction: isFloat,
    isWide: list.name.includes('64') || (list.name.includes('32') && !isFloat),
  };
}

const isTypedArrayName = (tag: string): tag is TypedArrayName => Object.hasOwn(elementTypes, tag);

const isTimed = (shape: Shape): shape is Extract<Shape, { unit: TimeUnit }> => 'unit' in shape;

/** A Float32 does not hold every whole number above 2 ** 24 exactly. */
const isWide = (value: unknown): boolean => Number.isInteger(value) && Math.abs(Number(value)) > 2 ** 24;

const words: Record<Shape['kind'], string> = {
  number: 'a number',
  text: 'a string',
  bool: 'a boolean',
  date: 'a Date',
  time: 'a Time',
  duration: 'a Duration',
  decimal: 'a Decimal',
  map: 'a Map',
  bytes: 'bytes',
  typedArray: 'a typed array',
  list: 'an array',
  struct: 'an object',
};

/** @param why the reason why the type of the values is unknown, for the error */
function typeOf(shape: Shape | undefined, column: string, why = 'every row has null'): DataType {
  switch (shape?.kind) {
    case 'number':
      return shape.hasBigint && !shape.hasFraction ? new Int64() : new Float64();
    case 'text':
      return new Utf8();
    case 'bool':
      return new Bool();
    case 'date':
      return new TimestampType(arrowUnit(shape.unit), 'UTC');
    case 'time':
      return new TimeType(arrowUnit(shape.unit), shape.unit < 2 ? 32 : 64);
    case 'duration':
      return new DurationType(arrowUnit(shape.unit));
    case 'decimal':
      return decimalType(shape, column);
    case 'map':
      return mapType(shape, column);
    case 'bytes':
      return new Binary();
    case 'typedArray':
      return listOf(elementTypes[shape.name](), shape.length);
    case 'list':
      return listType(shape, column);
    case 'struct':
      return new Struct(
        [...shape.fields].map(([name, member]) => new Field(name, typeOf(member, `${column}.${name}`), true)),
      );
    case undefined:
      throw new CatalogError(
        'SchemaValidation',
        `Can't infer the type of column "${column}": ${why}.`,
        'Set the option schema.',
      );
  }
}

function listType({ item, length }: Extract<Shape, { kind: 'list' }>, column: string): DataType {
  // A list of large whole numbers, such as identifiers or times, is not a vector, whatever the name of the column.
  // Float32 would change its numbers.
  if (item?.kind === 'number' && !item.isWide && isVectorName(column)) return listOf(new Float32(), length);
  return listOf(typeOf(item, `${column}[]`, 'every list is empty or has only nulls'), 'varies');
}

/** Whether LanceDB takes a column for a vector by its name, the last part of the path. */
const isVectorName = (path: string): boolean => /vector|embedding/i.test(path.slice(path.lastIndexOf('.') + 1));

/** A search needs vectors of one length. An empty list has no use as a vector. */
function listOf(type: DataType, length: Length): DataType {
  const item = new Field('item', type, true);
  return length === 'varies' || length === 0 ? new List(item) : new FixedSizeList(length, item);
}

const arrowUnit = (unit: TimeUnit): ArrowTimeUnit => timeUnits[timeUnitNames[unit]]!;

/** Returns a decimal type with the maximum precision, so that larger numbers in later rows fit too. */
function decimalType({ scale, digits }: Extract<Shape, { kind: 'decimal' }>, column: string): DataType {
  if (scale + digits <= 38) return new DecimalType(scale, 38, 128);
  if (scale + digits <= 76) return new DecimalType(scale, 76, 256);
  throw new CatalogError(
    'SchemaValidation',
    `Column "${column}" needs ${scale + digits} digits, and a decimal has at most 76.`,
    'Store the numbers as strings.',
  );
}

function mapType({ key, value }: Extract<Shape, { kind: 'map' }>, column: string): DataType {
  const entries = new Struct([
    new Field('key', typeOf(key, `${column}[key]`, 'every Map is empty'), false),
    new Field('value', typeOf(value, `${column}[value]`, 'every Map is empty or has only nulls'), true),
  ]);
  return new Map_(new Field('entries', entries as never, false));
}

import {
  Binary,
  Bool,
  type Data,
  DataType,
  DateDay,
  DateMillisecond,
  DateUnit,
  Decimal,
  Dictionary,
  Duration,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float16,
  Float32,
  Float64,
  Int16,
  Int32,
  Int64,
  Int8,
  LargeBinary,
  LargeList,
  LargeUtf8,
  List,
  makeData,
  Map_,
  Null,
  Precision,
  RecordBatch,
  Schema,
  Struct,
  Table,
  Time,
  Timestamp,
  TimeUnit,
  Uint16,
  Uint32,
  Uint64,
  Uint8,
  Utf8,
  Vector,
} from '#arrow';
import { columnFormatter, unlimited } from '#shared/format/cellText.ts';
import type { Random } from '../../model/random.ts';

// Columns of every type that tables store, with buffers that are written here and not by the code under test. Values
// are often the ends of their range.

const units = [TimeUnit.SECOND, TimeUnit.MILLISECOND, TimeUnit.MICROSECOND, TimeUnit.NANOSECOND] as const;
const item = (type: DataType): Field => new Field('item', type, true);

/** Every type without parts, by name. */
export const plainTypes: Readonly<Record<string, DataType>> = {
  null: new Null(),
  bool: new Bool(),
  int8: new Int8(),
  int16: new Int16(),
  int32: new Int32(),
  int64: new Int64(),
  uint8: new Uint8(),
  uint16: new Uint16(),
  uint32: new Uint32(),
  uint64: new Uint64(),
  half: new Float16(),
  float: new Float32(),
  double: new Float64(),
  utf8: new Utf8(),
  large_utf8: new LargeUtf8(),
  binary: new Binary(),
  large_binary: new LargeBinary(),
  fixed_binary: new FixedSizeBinary(5),
  decimal: new Decimal(10, 38, 128),
  whole_decimal: new Decimal(0, 20, 128),
  long_decimal: new Decimal(5, 76, 256),
  date32: new DateDay(),
  date64: new DateMillisecond(),
  time_s: new Time(TimeUnit.SECOND, 32),
  time_ms: new Time(TimeUnit.MILLISECOND, 32),
  time_us: new Time(TimeUnit.MICROSECOND, 64),
  time_ns: new Time(TimeUnit.NANOSECOND, 64),
  ...Object.fromEntries(
    units.flatMap((unit) => [
      [`timestamp_${unit}`, new Timestamp(unit, null)],
      [`timestamp_zone_${unit}`, new Timestamp(unit, 'Europe/Berlin')],
      [`duration_${unit}`, new Duration(unit)],
    ]),
  ),
};

/** Types with parts, around another type. */
export const nestedTypes: Readonly<Record<string, (inner: DataType) => DataType>> = {
  list: (inner) => new List(item(inner)),
  large_list: (inner) => new LargeList(item(inner)),
  fixed_list: (inner) => new FixedSizeList(3, item(inner)),
  struct: (inner) => new Struct([new Field('a', inner, true), new Field('b', new Utf8(), true)]),
  map: (inner) => {
    const entries = [new Field('key', new Utf8(), false), new Field('value', inner, true)];
    return new Map_(new Field('entries', new Struct(entries), false) as never);
  },
};

/** The dictionary of text that tables store. */
export const textDictionary = (): DataType => new Dictionary(new Utf8(), new Int32());

type Share = { readonly nulls: number };

/** Returns random data of a type; `nulls` is the share of nulls. */
export function randomData(random: Random, type: DataType, length: number, share: Share = { nulls: 0.2 }): Data {
  const parts = { type, length, ...randomValidity(random, length, share) };
  const make = (more: Record<string, unknown>): Data => makeData({ ...parts, ...more } as never);
  if (DataType.isNull(type)) return makeData({ type, length });
  if (DataType.isBool(type)) return make({ data: randomBytes(random, (length + 7) >> 3) });
  if (DataType.isDictionary(type)) {
    const values = randomData(random, type.dictionary as DataType, 4, { nulls: 0 });
    return make({ data: Int32Array.from({ length }, () => random.below(4)), dictionary: new Vector([values]) });
  }
  if (DataType.isFixedSizeBinary(type)) return make({ data: randomBytes(random, length * type.byteWidth) });
  if (DataType.isDecimal(type)) return make({ data: randomDecimals(random, type, length) });
  if (DataType.isFixedSizeList(type)) {
    const hole = random.chance(0.5) ? share : { nulls: 0 };
    return make({ child: randomData(random, type.valueType as DataType, length * type.listSize, hole) });
  }
  if (DataType.isStruct(type))
    return make({
      children: type.children.map((child: Field) => randomData(random, child.type as DataType, length, share)),
    });
  if (DataType.isList(type) || DataType.isLargeList(type) || DataType.isMap(type)) {
    const ends = randomOffsets(random, length, 4);
    const valueOffsets = DataType.isLargeList(type) ? BigInt64Array.from(ends, BigInt) : Int32Array.from(ends);
    const inner = type.children[0]!.type as DataType;
    const child = DataType.isMap(type)
      ? randomEntries(random, inner, ends.at(-1)!, share)
      : randomData(random, inner, ends.at(-1)!, share);
    return make({ valueOffsets, child });
  }
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type) || DataType.isBinary(type) || DataType.isLargeBinary(type)) {
    const isText = DataType.isUtf8(type) || DataType.isLargeUtf8(type);
    const values = Array.from({ length }, () => (isText ? randomText(random) : randomBytes(random, random.below(9))));
    const ends = [0];
    for (const value of values) ends.push(ends.at(-1)! + value.length);
    const isLarge = DataType.isLargeUtf8(type) || DataType.isLargeBinary(type);
    const valueOffsets = isLarge ? BigInt64Array.from(ends, BigInt) : Int32Array.from(ends);
    return make({ valueOffsets, data: Buffer.concat(values) });
  }
  return make({ data: randomNumbers(random, type, length) });
}

function randomValidity(random: Random, length: number, { nulls }: Share) {
  if (nulls === 0 || length === 0) return { nullCount: 0 };
  const nullBitmap = new Uint8Array((length + 7) >> 3);
  let nullCount = 0;
  for (let index = 0; index < length; index++) {
    if (random.chance(nulls)) nullCount++;
    else nullBitmap[index >> 3]! |= 1 << (index & 7);
  }
  return { nullCount, nullBitmap };
}

const randomBytes = (random: Random, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => random.pick([0, 255, random.below(256)])));

const texts = ['', 'a', 'a\0b', 'ünï 😀', '\uFEFFmarked', '"quoted"', '__proto__', 'line\nline'];
const randomText = (random: Random): Buffer => Buffer.from(random.pick(texts));

function randomOffsets(random: Random, length: number, longest: number): number[] {
  const ends = [0];
  for (let index = 0; index < length; index++) ends.push(ends[index]! + random.below(longest));
  return ends;
}

/** Entries of maps with distinct keys, because a JavaScript map holds a key once. */
function randomEntries(random: Random, type: DataType, length: number, share: Share): Data {
  const [key, value] = type.children as [Field, Field];
  const keys = Array.from({ length }, (_, index) => Buffer.from(`k${index}`));
  const ends = [0];
  for (const each of keys) ends.push(ends.at(-1)! + each.length);
  const keyData = makeData({
    type: key.type as Utf8,
    length,
    nullCount: 0,
    valueOffsets: Int32Array.from(ends),
    data: Buffer.concat(keys),
  });
  const children = [keyData, randomData(random, value.type as DataType, length, share)];
  return makeData({ type: type as Struct, length, nullCount: 0, children });
}

/** Unscaled values of a decimal: the ends, zero, and digits of any number. */
function randomDecimals(random: Random, type: Decimal, length: number): Uint32Array {
  const end = 10n ** BigInt(type.precision) - 1n;
  const stride = type.bitWidth / 32;
  const words = new Uint32Array(length * stride);
  for (let index = 0; index < length; index++) {
    const any = BigInt(`0x${randomBytes(random, type.bitWidth / 8).toString('hex')}`) % (end + 1n);
    let rest = BigInt.asUintN(type.bitWidth, random.pick([0n, 1n, -1n, end, -end, any, -any]));
    for (let at = 0; at < stride; at++, rest >>= 32n) words[index * stride + at] = Number(rest & 0xffff_ffffn);
  }
  return words;
}

/**
 * Returns numbers, or times as counts. They are often the ends of their range, or near zero or the ends of other types.
 */
function randomNumbers(random: Random, type: DataType, length: number): unknown {
  const values = new (type.ArrayType as new (length: number) => { [index: number]: number | bigint })(length);
  const pick = numberPicker(random, type);
  for (let index = 0; index < length; index++) values[index] = pick();
  return values;
}

const perDay = [86_400n, 86_400_000n, 86_400_000_000n, 86_400_000_000_000n] as const;

function numberPicker(random: Random, type: DataType): () => number | bigint {
  if (DataType.isFloat(type)) {
    const special = [0, -0, 1, -1.5, Number.NaN, Infinity, -Infinity, 5e-324, Number.MAX_VALUE, 2 ** 53, 0.1];
    // A 16-bit float is stored as its bits.
    if (type.precision === Precision.HALF) return () => notSignallingHalf(random.below(65_536));
    return () => random.pick([...special, random.next() * 2 ** random.below(100)]);
  }
  if (DataType.isTime(type)) {
    const day = perDay[type.unit];
    const pick = () => random.pick([0n, 1n, day - 1n, BigInt(random.below(Number(day)))]);
    return type.bitWidth === 32 ? () => Number(pick()) : pick;
  }
  const bits =
    (type as { bitWidth?: number }).bitWidth ?? (DataType.isDate(type) && type.unit === DateUnit.DAY ? 32 : 64);
  const isSigned = !DataType.isInt(type) || type.isSigned;
  const [low, high] = isSigned
    ? [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n]
    : [0n, 2n ** BigInt(bits) - 1n];
  const edges = [low, low + 1n, -1n, 0n, 1n, high - 1n, high].filter((value) => value >= low && value <= high);
  // Around the ends of safe integers and of dates, and near today in each unit.
  const others = [2n ** 53n, 8_640_000_000_000_000n, 8_640_000_000_000n, 8_640_000_000_000_000_000n, 1_709_210_096n]
    .flatMap((value) => [value - 1n, value, value + 1n, -value - 1n, -value, 1000n * value + 7n, 1_000_000n * value])
    .filter((value) => value >= low && value <= high);
  return () => {
    const value = random.pick([...edges, ...others, BigInt(random.below(1_000_000))]);
    const fitting = isSigned ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
    return bits === 64 ? fitting : Number(fitting);
  };
}

/** Replaces every NaN by the same bits, because JavaScript has only one NaN. */
const notSignallingHalf = (bits: number): number =>
  (bits & 0x7c00) === 0x7c00 && (bits & 0x3ff) !== 0 ? 0x7e00 : bits;

/** Returns a table of these columns in one batch. */
export function tableOfColumns(columns: Readonly<Record<string, Data>>): Table {
  const fields = Object.entries(columns).map(([name, { type }]) => new Field(name, type, true));
  const schema = new Schema(fields);
  const children = Object.values(columns);
  const { length } = children[0]!;
  const data = makeData({ type: new Struct(fields), length, nullCount: 0, children });
  return new Table(schema, [new RecordBatch(schema, data)]);
}

/** Returns the same table in two batches that are slices of one. */
export function splitTable({ schema, batches, numRows }: Table): Table {
  const middle = Math.floor(numRows / 3);
  return new Table(schema, [batches[0]!.slice(0, middle), batches[0]!.slice(middle, numRows)]);
}

/** Returns the exact text of every value of a table, as tables are shown. */
export const tableTexts = (table: Table): Record<string, string[]> =>
  Object.fromEntries(
    table.schema.fields.map(({ name }, column) => {
      const format = columnFormatter(table.getChildAt(column)!, { limits: unlimited });
      return [name, Array.from({ length: table.numRows }, (_, row) => `${format(row).kind} ${format(row).text}`)];
    }),
  );

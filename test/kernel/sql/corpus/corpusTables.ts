import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  DateMillisecond,
  Decimal,
  Dictionary,
  DurationMicrosecond,
  DurationNanosecond,
  DurationSecond,
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
  LargeUtf8,
  List,
  makeData,
  Map_,
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
} from '#arrow';
import { negativeNaN, rawColumn } from '../rawColumn.ts';

// The tables of the corpus. Numbers are sums of powers of two, so that no result depends on the order of an addition.

type Columns = Readonly<Record<string, readonly [type: DataType, values: readonly unknown[]]>>;

const item = (type: DataType): Field => new Field('item', type, true);
const struct = (fields: Readonly<Record<string, DataType>>): Struct =>
  new Struct(Object.entries(fields).map(([name, type]) => new Field(name, type, true)));
const mapOf = (key: DataType, value: DataType): Map_ =>
  new Map_(
    new Field('entries', new Struct([new Field('key', key, false), new Field('value', value, true)]), false) as never,
  );

/** Repeats values up to a number of rows. */
const cycle = (rows: number, values: readonly unknown[]): unknown[] =>
  Array.from({ length: rows }, (_, row) => values[row % values.length]);
const each = (rows: number, value: (row: number) => unknown): unknown[] =>
  Array.from({ length: rows }, (_, row) => value(row));

const { SECOND, MILLISECOND, MICROSECOND, NANOSECOND } = TimeUnit;
/** 2024-02-28 22:00:00 UTC in seconds: two days around a leap day, and midnight in Berlin is on another day. */
const start = 1_709_157_600n;
const day = 86_400n;

const itemRows = 24;
const items: Columns = {
  id: [new Int32(), each(itemRows, (row) => row + 1)],
  name: [
    new Utf8(),
    [
      'mug',
      'größe',
      'lamp',
      'Mug',
      null,
      'a chair with a long name',
      '',
      "it's",
      'Ångström',
      'A\u030angström',
      '🐘',
      '日本語',
    ]
      .concat(['z\\', 'a%b_c', 'lamp', 'ß', 'SS', '\u{1f469}\u200d\u{1f467}', 'tab\there', 'two\nlines', '"quoted"'])
      .concat(['NULL', '0', 'éclair']),
  ],
  category: [new Utf8(), cycle(itemRows, ['kitchen', 'light', null, 'kitchen', 'größe', 'garden', 'light'])],
  price: [new Decimal(2, 9, 128), cycle(itemRows, [1890n, 250n, null, 999_999_999n, -1n, 0n, 1250n, 1251n, 99n])],
  weight: [
    new Float32(),
    cycle(itemRows, [0.5, -0, 0, Number.NaN, null, 1.25, Infinity, -Infinity, 2 ** -149, 16_777_216, negativeNaN]),
  ],
  score: [new Float64(), cycle(itemRows, [4.5, 3.25, null, 5, 0, -0, 2.125])],
  stock: [new Uint64(), cycle(itemRows, [2n ** 64n - 1n, 0n, 7n, null, 2n ** 63n, 2n ** 53n + 1n])],
  available: [new Bool(), cycle(itemRows, [true, false, true, null, true])],
  tags: [
    new List(item(new Utf8())),
    cycle(itemRows, [['red', 'big'], [], null, ['red', null, 'a tag of more than twelve bytes'], ['größe']]),
  ],
  vector: [
    new FixedSizeList(3, item(new Float32())),
    cycle(itemRows, [[1, 0, 0], [0.5, 0.25, -1], null, [0, 3, 4], [2, 2, 1]]),
  ],
  maker: [
    struct({ name: new Utf8(), country: new Utf8(), founded: new Int16() }),
    cycle(itemRows, [
      { name: 'Grün', country: 'DE', founded: 1890 },
      { name: 'Noir', country: 'FR', founded: null },
      null,
      { name: null, country: 'IT', founded: 2001 },
    ]),
  ],
  attributes: [
    mapOf(new Utf8(), new Utf8()),
    cycle(itemRows, [
      new Map([
        ['colour', 'red'],
        ['size', null],
      ] as never),
      new Map(),
      null,
      new Map([['größe', 'L']]),
    ]),
  ],
  photo: [
    new Binary(),
    cycle(itemRows, [Uint8Array.of(0, 255, 16), new Uint8Array(), null, new Uint8Array(40).fill(7)]),
  ],
  code: [new FixedSizeBinary(4), cycle(itemRows, [Uint8Array.of(1, 2, 3, 4), null, Uint8Array.of(0, 0, 0, 255)])],
  added: [new DateDay(), cycle(itemRows, [19_782, 19_783, null, 0, -1, 11_016, -719_162])],
};

const orderRows = 60;
const orders: Columns = {
  id: [new Int64(), each(orderRows, (row) => 1_000n + BigInt(row))],
  item: [new Int32(), each(orderRows, (row) => (row % 11 === 5 ? null : ((row * 7) % 27) + 1))],
  customer: [new Int32(), each(orderRows, (row) => (row % 13 === 4 ? null : ((row * 5) % 17) + 1))],
  quantity: [new Int16(), cycle(orderRows, [1, 2, 12, null, 0, -3, 32_767])],
  amount: [new Decimal(4, 18, 128), each(orderRows, (row) => (row % 9 === 8 ? null : BigInt(row * 12_345 - 100_000)))],
  ordered: [
    new Timestamp(MICROSECOND, 'UTC'),
    each(orderRows, (row) => (start + BigInt(row) * 5_400n) * 1_000_000n + BigInt(row)),
  ],
  placed: [
    new Timestamp(MILLISECOND, 'Europe/Berlin'),
    each(orderRows, (row) => (row % 10 === 7 ? null : (start + BigInt(row) * 5_400n) * 1000n + BigInt(row % 3))),
  ],
  paid: [new Timestamp(SECOND, null), each(orderRows, (row) => (row % 4 === 1 ? null : start + BigInt(row % 9) * day))],
  day: [new DateDay(), each(orderRows, (row) => 19_781 + Math.floor(row / 16))],
  note: [
    new Utf8(),
    cycle(orderRows, ['gift', null, 'a note of more than twelve bytes', '', 'größer', 'gift wrap 🎁']),
  ],
  discount: [new Float64(), cycle(orderRows, [0.125, null, 0, 0.5, Number.NaN, -0.25])],
  source: [
    new Dictionary(new Utf8(), new Int32()),
    cycle(orderRows, ['web', 'shop', null, 'a partner with a long name']),
  ],
};

const customerRows = 15;
const customers: Columns = {
  id: [new Int32(), each(customerRows, (row) => row + 1)],
  name: [
    new LargeUtf8(),
    ['Ada', 'Bo', 'Çelik', 'Dörte', 'Émile', null, 'Frank', 'Ґалина', '李', 'Zoë', "O'Neil", 'a', 'ä', 'Å', ''],
  ],
  country: [new Utf8(), cycle(customerRows, ['DE', 'FR', 'DE', null, 'IT', 'SE'])],
  parent: [new Int32(), [null, 1, 1, 2, 2, 3, 4, null, 8, 9, 10, 99, 12, 1, 14]],
  born: [new DateMillisecond(), cycle(customerRows, [0n, 951_782_400_000n, null, -86_400_000n, 1_709_164_800_000n])],
  balance: [
    new Decimal(6, 38, 128),
    cycle(customerRows, [10n ** 38n - 1n, -(10n ** 37n), 0n, null, 1n, 123_456_789_012_345n]),
  ],
  wakes: [new Time(MICROSECOND, 64), cycle(customerRows, [0n, 23_400_000_000n, 86_399_999_999n, null])],
  spent: [new DurationMicrosecond(), cycle(customerRows, [1n, 86_400_000_001n, null, -3_600_000_000n])],
  vip: [new Bool(), cycle(customerRows, [true, false, null])],
};

const numbers: Columns = {
  id: [new Int32(), each(12, (row) => row + 1)],
  i8: [new Int8(), cycle(12, [0, 127, -128, null, 1, -1])],
  i16: [new Int16(), cycle(12, [0, 32_767, -32_768, null, 1])],
  i32: [new Int32(), cycle(12, [0, 2 ** 31 - 1, -(2 ** 31), null, 1, 7])],
  i64: [new Int64(), cycle(12, [0n, 2n ** 63n - 1n, -(2n ** 63n), null, 2n ** 53n + 1n])],
  u8: [new Uint8(), cycle(12, [0, 255, null, 1, 128])],
  u16: [new Uint16(), cycle(12, [0, 65_535, null, 1])],
  u32: [new Uint32(), cycle(12, [0, 2 ** 32 - 1, null, 1, 2 ** 31])],
  u64: [new Uint64(), cycle(12, [0n, 2n ** 64n - 1n, null, 1n, 2n ** 63n])],
  f16: [new Float16(), cycle(12, [0, 1.5, -0.25, null, 65_504, -0])],
  f32: [new Float32(), cycle(12, [0, -0, Number.NaN, Infinity, -Infinity, null, 0.1, 2 ** -149, negativeNaN])],
  f64: [
    new Float64(),
    cycle(12, [0, -0, Number.NaN, Infinity, -Infinity, null, 0.1, 5e-324, 1e300, 2 ** 53, negativeNaN]),
  ],
  d4: [new Decimal(2, 4, 128), cycle(12, [0n, 9999n, -9999n, null, 1n, 150n])],
  d9: [new Decimal(3, 9, 128), cycle(12, [0n, 999_999_999n, -1n, null, 2500n])],
  d18: [new Decimal(0, 18, 128), cycle(12, [0n, 10n ** 18n - 1n, null, -7n])],
  d38: [new Decimal(10, 38, 128), cycle(12, [0n, 10n ** 38n - 1n, -(10n ** 38n) + 1n, null, 5n * 10n ** 9n])],
};

const moments: Columns = {
  id: [new Int32(), each(10, (row) => row + 1)],
  s: [new Timestamp(SECOND, null), cycle(10, [start, 0n, -1n, null, start + day, 253_402_300_799n])],
  ms: [new Timestamp(MILLISECOND, null), cycle(10, [start * 1000n, 1n, -1n, null, 951_782_400_000n])],
  us: [new Timestamp(MICROSECOND, null), cycle(10, [start * 1_000_000n + 1n, 0n, -1n, null])],
  ns: [new Timestamp(NANOSECOND, null), cycle(10, [start * 1_000_000_000n + 1n, 0n, -1n, null, 123_456_789n])],
  sz: [new Timestamp(SECOND, 'UTC'), cycle(10, [start, 0n, -1n, null])],
  msz: [new Timestamp(MILLISECOND, 'Europe/Berlin'), cycle(10, [start * 1000n, 1n, null, 1_711_846_800_000n])],
  usz: [new Timestamp(MICROSECOND, 'America/New_York'), cycle(10, [start * 1_000_000n + 1n, 0n, null])],
  nsz: [new Timestamp(NANOSECOND, 'Asia/Kolkata'), cycle(10, [start * 1_000_000_000n + 1n, -1n, null])],
  d32: [new DateDay(), cycle(10, [19_782, 0, -1, null, -719_162, 2_932_896])],
  d64: [new DateMillisecond(), cycle(10, [0n, -86_400_000n, null, 1_709_164_800_000n])],
  t32s: [new Time(SECOND, 32), cycle(10, [0, 86_399, null, 43_200])],
  t32ms: [new Time(MILLISECOND, 32), cycle(10, [1, 86_399_999, null])],
  t64us: [new Time(MICROSECOND, 64), cycle(10, [1n, 86_399_999_999n, null, 43_200_000_000n])],
  t64ns: [new Time(NANOSECOND, 64), cycle(10, [1n, 86_399_999_999_999n, null])],
  ds: [new DurationSecond(), cycle(10, [1n, -86_400n, null, 90_061n])],
  dus: [new DurationMicrosecond(), cycle(10, [1n, -86_400_000_001n, null])],
  dns: [new DurationNanosecond(), cycle(10, [1n, -1n, null])],
};

const nested: Columns = {
  id: [new Int32(), each(10, (row) => row + 1)],
  list: [new List(item(new Int64())), cycle(10, [[1n, null, 3n], [], null, [2n ** 53n + 1n]])],
  lists: [new List(item(new List(item(new Int32())))), cycle(10, [[[1, 2], null, []], null, [[3, null]], []])],
  structs: [
    new List(item(struct({ a: new Int32(), v: new FixedSizeList(2, item(new Float32())) }))),
    cycle(10, [
      [{ a: 1, v: [1, 2] }, null],
      null,
      [],
      [
        { a: null, v: null },
        { a: 7, v: [0.5, -0.5] },
      ],
    ]),
  ],
  deep: [
    struct({
      a: struct({ b: new List(item(new Utf8())), c: new Timestamp(MICROSECOND, 'UTC') }),
      d: new Decimal(2, 9, 128),
    }),
    cycle(10, [
      { a: { b: ['x', null], c: 0 }, d: Uint32Array.of(150, 0, 0, 0) },
      { a: null, d: null },
      null,
      { a: { b: [], c: null }, d: Uint32Array.of(1, 0, 0, 0) },
    ]),
  ],
  map: [
    mapOf(new Int32(), new List(item(new Utf8()))),
    cycle(10, [
      new Map([
        [1, ['a', null]],
        [2, null],
      ] as never),
      null,
      new Map(),
      new Map([[7, []]]),
    ]),
  ],
  pair: [new FixedSizeList(2, item(new Float64())), cycle(10, [[1, -0], [Number.NaN, 2], null, [0.1, 1e300]])],
  bytes: [new List(item(new Binary())), cycle(10, [[Uint8Array.of(1, 2), new Uint8Array()], null, []])],
  booleans: [
    new FixedSizeList(9, item(new Bool())),
    cycle(10, [[true, false, true, true, false, false, true, true, true], null]),
  ],
  dates: [new List(item(new DateDay())), cycle(10, [[new Date('2024-02-29'), null], []])],
};

function tableOf(columns: Columns): Table {
  const fields = Object.entries(columns).map(([name, [type]]) => new Field(name, type, true));
  const children = Object.values(columns).map(([type, values]) => rawColumn(type, values));
  const length = children[0]!.length;
  const data = makeData({ type: new Struct(fields), length, nullCount: 0, children });
  return new Table([new RecordBatch(new Schema(fields), data)]);
}

/** The tables by their names in SQL: the namespaces before the last dot, then the table. */
export const corpusTables: readonly { namespace: string; name: string; table: Table }[] = [
  { namespace: '', name: 'items', table: tableOf(items) },
  { namespace: 'shop', name: 'orders', table: tableOf(orders) },
  { namespace: 'shop/eu', name: 'customers', table: tableOf(customers) },
  { namespace: '', name: 'numbers', table: tableOf(numbers) },
  { namespace: '', name: 'moments', table: tableOf(moments) },
  { namespace: '', name: 'nested', table: tableOf(nested) },
];

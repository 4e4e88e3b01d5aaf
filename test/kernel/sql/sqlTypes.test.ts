import assert from 'node:assert/strict';
import {
  Binary,
  Bool,
  type Data,
  DataType,
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
  LargeBinary,
  LargeUtf8,
  List,
  makeData,
  Map_,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableFromIPC,
  tableToIPC,
  Time,
  Timestamp,
  TimeUnit,
  Uint16,
  Uint32,
  Uint64,
  Uint8,
  Utf8,
  Vector,
  vectorFromArray,
} from '#arrow';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { openSqlEngine } from '#sql/sqlEngine.ts';
import { arrowTable } from '#sql/sqlTable.ts';

const item = (type: DataType): Field => new Field('item', type, true);
const mapType = new Map_(
  new Field(
    'entries',
    new Struct([new Field('key', new Utf8(), false), new Field('value', new Int64(), true)]),
    false,
  ) as never,
);

/** Columns whose values are easily confused with others. Each has nulls. */
const columns: Readonly<Record<string, [type: DataType, values: readonly unknown[], result?: DataType]>> = {
  bool: [new Bool(), [true, false, null, true]],
  int8: [new Int8(), [127, -128, null, 0]],
  int16: [new Int16(), [32767, -32768, null, 0]],
  int32: [new Int32(), [2 ** 31 - 1, -(2 ** 31), null, 0]],
  int64: [new Int64(), [2n ** 53n + 1n, -(2n ** 63n), null, 2n ** 63n - 1n]],
  uint8: [new Uint8(), [255, 0, null, 7]],
  uint16: [new Uint16(), [65535, 0, null, 7]],
  uint32: [new Uint32(), [2 ** 32 - 1, 0, null, 7]],
  uint64: [new Uint64(), [2n ** 64n - 1n, 0n, null, 2n ** 63n]],
  half: [new Float16(), [1.5, -0.25, null, 65504, 2 ** -24, Infinity], new Float32()],
  single: [new Float32(), [0.1, -0, null, Number.NaN, Infinity]],
  double: [new Float64(), [0.1, -0, null, Number.NaN, -Infinity]],
  text: [new Utf8(), ['', 'größer', null, 'twelve bytes', 'thirteen byte', "it's 'a' longer text 🐘"]],
  largeText: [new LargeUtf8(), ['', 'größer', null, 'a text of more than twelve bytes'], new Utf8()],
  bytes: [new Binary(), [new Uint8Array(), new Uint8Array([0, 255]), null, new Uint8Array(40).fill(7)]],
  largeBytes: [new LargeBinary(), [new Uint8Array([1]), null, new Uint8Array(40).fill(9)], new Binary()],
  fixedBytes: [new FixedSizeBinary(3), [new Uint8Array([1, 2, 3]), null, new Uint8Array([0, 0, 255])]],
  decimal4: [new Decimal(2, 4, 128), decimals([1890n, -1n, null, 9999n])],
  decimal9: [new Decimal(2, 9, 128), decimals([1890n, -1n, null, 999_999_999n])],
  decimal18: [new Decimal(6, 18, 128), decimals([1890n, -1n, null, 10n ** 18n - 1n])],
  decimal38: [new Decimal(6, 38, 128), decimals([1890n, -1n, null, 10n ** 38n - 1n, -(10n ** 38n) + 1n])],
  date: [new DateDay(), [new Date('2024-02-29'), new Date('1969-12-31'), null]],
  date64: [new DateMillisecond(), [new Date('2024-02-29'), new Date('1969-12-31'), null]],
  time32s: [new Time(TimeUnit.SECOND, 32), [0, 86_399, null]],
  time32ms: [new Time(TimeUnit.MILLISECOND, 32), [1, 86_399_999, null]],
  time64us: [new Time(TimeUnit.MICROSECOND, 64), [1n, 86_399_999_999n, null]],
  time64ns: [new Time(TimeUnit.NANOSECOND, 64), [1n, 86_399_999_999_999n, null]],
  seconds: [new Timestamp(TimeUnit.SECOND, null), [1000, -1000, null]],
  millis: [new Timestamp(TimeUnit.MILLISECOND, null), [1, -1, null]],
  micros: [new Timestamp(TimeUnit.MICROSECOND, null), [1, -1, null]],
  nanos: [new Timestamp(TimeUnit.NANOSECOND, null), [1, -1, null]],
  zonedSeconds: [new Timestamp(TimeUnit.SECOND, 'UTC'), [1000, -1000, null]],
  zonedMillis: [new Timestamp(TimeUnit.MILLISECOND, 'Europe/Berlin'), [1, -1, null]],
  zonedMicros: [new Timestamp(TimeUnit.MICROSECOND, 'America/New_York'), [1, -1, null]],
  zonedNanos: [new Timestamp(TimeUnit.NANOSECOND, '+02:00'), [1, -1, null]],
  durationSeconds: [new DurationSecond(), [1n, -86_400n, null]],
  durationMicros: [new DurationMicrosecond(), [1n, -86_400_000_001n, null]],
  durationNanos: [new DurationNanosecond(), [1n, -1n, null]],
  list: [new List(item(new Int64())), [[1n, null, 3n], [], null, [2n ** 53n + 1n]]],
  texts: [new List(item(new Utf8())), [['a', null, 'a text of more than twelve bytes'], [], null, ['']]],
  lists: [new List(item(new List(item(new Int32())))), [[[1, 2], null, []], null, [[3, null]]]],
  zonedList: [new List(item(new Timestamp(TimeUnit.MILLISECOND, 'Europe/Berlin'))), [[1, null, -1], [], null]],
  vector: [new FixedSizeList(3, item(new Float32())), [[1, 2.5, -3], null, [0, null, 1]]],
  halfVector: [
    new FixedSizeList(2, item(new Float16())),
    [[1, 2.5], null, [0.5, -1]],
    new FixedSizeList(2, item(new Float32())),
  ],
  struct: [
    new Struct([new Field('a', new Int32(), true), new Field('b', new Utf8(), true)]),
    [{ a: 1, b: 'x' }, null, { a: null, b: 'a text of more than twelve bytes' }],
  ],
  structs: [
    new List(
      item(
        new Struct([
          new Field('a', new Int32(), true),
          new Field('v', new FixedSizeList(2, item(new Float32())), true),
        ]),
      ),
    ),
    [[{ a: 1, v: [1, 2] }, null], null, [], [{ a: null, v: null }]],
  ],
  map: [
    mapType,
    [
      new Map([
        ['a', 1n],
        ['b', null],
      ]),
      null,
      new Map(),
    ],
  ],
  dictionary: [
    new Dictionary(new Utf8(), new Int32()),
    ['red', 'a colour of more than twelve bytes', null, 'red'],
    new Utf8(),
  ],
  numbers: [new Dictionary(new Int64(), new Int16()), [7n, 2n ** 53n + 1n, null, 7n], new Int64()],
};

function decimals(values: readonly (bigint | null)[]): unknown[] {
  return values.map((value) =>
    value === null ? null : new Uint32Array(new BigInt64Array([BigInt.asIntN(64, value), value >> 64n]).buffer),
  );
}

/** Creates a column of an Arrow table, with the values again and again up to `rows`. */
function column(type: DataType, values: readonly unknown[], rows: number): Vector {
  const repeated = Array.from({ length: rows }, (_, row) => values[row % values.length]);
  return vectorFromArray(repeated, type as never) as Vector;
}

/** Returns all values of a column, so that two columns of one type can be compared whatever their buffers are. */
function valuesOf(vector: Vector): unknown[] {
  return Array.from({ length: vector.length }, (_, row) => plain(vector.get(row), vector.type as DataType));
}

function plain(value: unknown, type: DataType): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number' && Object.is(value, -0)) return '-0';
  if (typeof value !== 'object') return value;
  if (value instanceof Vector) return valuesOf(value);
  if (ArrayBuffer.isView(value)) return [...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)].join();
  if (value instanceof Date) return value.toISOString();
  if (DataType.isMap(type) || DataType.isStruct(type))
    return [...(value as Iterable<[unknown, unknown]>)].map(([key, each]) => [
      key,
      each instanceof Vector
        ? valuesOf(each)
        : each === null
          ? null
          : typeof each === 'object'
            ? JSON.stringify(each)
            : each,
    ]);
  return JSON.stringify(value);
}

const engine = openSqlEngine();

async function query(text: string, table: Table): Promise<Table> {
  const signal = new AbortController().signal;
  const find = async () => arrowTable('t', table);
  const { schema, batches } = await engine.query({ text, tables: { find } }, signal);
  const all: RecordBatch[] = [];
  for await (const batch of batches) all.push(batch);
  return new Table(schema, all);
}

const single = (name: string, vector: Vector): Table => {
  const field = new Field(name, vector.type, true);
  const schema = new Schema([field]);
  return new Table(
    schema,
    vector.data.map((data) => batchOf(schema, data)),
  );
};
const batchOf = (schema: Schema, data: Data): RecordBatch =>
  new RecordBatch(
    schema,
    makeData({ type: new Struct(schema.fields), length: data.length, nullCount: 0, children: [data] }),
  );

suite('Types of Arrow in SQL', function () {
  this.timeout(120_000);

  for (const [name, [type, values, result = type]] of Object.entries(columns)) {
    // More rows than the engine takes at a time, in a number that is no multiple of 8.
    const made = () => column(type, values, 5003);

    test(`${name} (${typeText(type)}) comes back with its values and its type`, async () => {
      const vector = made();
      const found = await query(`select c from t`, single('c', vector));
      assert.equal(typeText(found.schema.fields[0]!.type as DataType), typeText(result));
      const expected = result === type ? vector : column(result, values, 5003);
      assert.deepEqual(valuesOf(found.getChildAt(0)!), valuesOf(expected));
    });

    test(`${name} (${typeText(type)}) comes back from slices that begin within a byte of the bitmap`, async () => {
      const vector = made();
      const expected = valuesOf(result === type ? vector : column(result, values, 5003));
      const parts = [vector.slice(3, 2101), vector.slice(2101, 2102), vector.slice(2105, 5002)];
      const table = single('c', new Vector(parts.flatMap(({ data }) => [...data])));
      const found = await query('select c from t', table);
      assert.deepEqual(valuesOf(found.getChildAt(0)!), [...expected.slice(3, 2102), ...expected.slice(2105, 5002)]);
    });

    test(`${name} (${typeText(type)}) is null where it is null, in the engine`, async () => {
      const found = await query('select count(*) filter (where c is null) as nulls from t', single('c', made()));
      const nulls = Array.from({ length: 5003 }, (_, row) => values[row % values.length]).filter((v) => v === null);
      assert.equal(Number(found.getChildAt(0)!.get(0)), nulls.length);
    });
  }

  test('each batch of a column may have another dictionary', async () => {
    const parts = [['red', 'blue'], ['green', null, 'red'], ['blue'], ['a colour of more than twelve bytes', 'green']];
    const type = new Dictionary(new Utf8(), new Int32());
    const data = parts.map((values) => vectorFromArray(values, type).data[0] as Data);
    const found = await query('select c from t', single('c', new Vector(data)));
    assert.deepEqual([...found.getChildAt(0)!], parts.flat());
  });

  test('a null struct has null fields, whatever its children hold', async () => {
    const child = makeData({ type: new Int32(), length: 3, data: Int32Array.from([1, 2, 3]) });
    const type = new Struct([new Field('a', new Int32(), true)]);
    const data = makeData({ type, length: 3, nullCount: 1, nullBitmap: Uint8Array.of(0b101), children: [child] });
    const found = await query('select c.a as a, c is null as n from t', single('c', new Vector([data as Data])));
    assert.deepEqual([...found.getChild('a')!], [1, null, 3]);
  });

  test('a result is readable by another reader of Arrow', async () => {
    const names = Object.entries(columns).filter(([, [type]]) => !DataType.isDictionary(type));
    const vectors = names.map(([, [type, values]]) => column(type, values, 10));
    const schema = new Schema(names.map(([name, [type]]) => new Field(name, type, true)));
    const data = makeData({
      type: new Struct(schema.fields),
      length: 10,
      nullCount: 0,
      children: vectors.map((vector) => vector.data[0]!),
    });
    const found = await query('select * from t', new Table([new RecordBatch(schema, data)]));
    const read = tableFromIPC(tableToIPC(found, 'stream'));
    assert.deepEqual(read.schema.names, schema.names);
    assert.equal(read.numRows, 10);
  });
});

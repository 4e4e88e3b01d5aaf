import assert from 'node:assert/strict';
import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  DateMillisecond,
  Decimal as DecimalType,
  DurationSecond,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float32,
  Float64,
  Int32,
  Int64,
  LargeUtf8,
  List,
  Schema,
  TimeNanosecond,
  TimeSecond,
  Timestamp as TimestampType,
  TimestampMicrosecond,
  TimestampSecond,
  TimeUnit,
  Uint64,
  Utf8,
} from '#arrow';
import { inferRows } from '#catalog/arrow/inferRows.ts';
import { readRows } from '#catalog/arrow/rowValues.ts';
import { Decimal } from '#catalog/values/decimal.ts';
import { Duration } from '#catalog/values/duration.ts';
import { Time } from '#catalog/values/time.ts';
import { Timestamp } from '#catalog/values/timestamp.ts';
import { isCatalogError } from '#shared/errors.ts';
import { fails } from '../expect.ts';
import { forEachOfOurs } from '../subjects.ts';

const listOf = (type: DataType): List => new List(new Field('item', type, true));

const types: Readonly<Record<string, DataType>> = {
  int: new Int32(),
  long: new Int64(),
  unsigned: new Uint64(),
  float: new Float32(),
  double: new Float64(),
  bool: new Bool(),
  text: new Utf8(),
  largeText: new LargeUtf8(),
  bytes: new Binary(),
  twoBytes: new FixedSizeBinary(2),
  time: new TimestampMicrosecond(),
  second: new TimestampSecond('UTC'),
  zoned: new TimestampType(TimeUnit.NANOSECOND, 'Europe/Berlin'),
  day: new DateDay(),
  dayMs: new DateMillisecond(),
  price: new DecimalType(2, 38, 128),
  clock: new TimeSecond(),
  exactClock: new TimeNanosecond(),
  duration: new DurationSecond(),
  numbers: listOf(new Float64()),
  whole: listOf(new Int64()),
  texts: listOf(new Utf8()),
  times: listOf(new TimestampMicrosecond('UTC')),
  days: listOf(new DateDay()),
  prices: listOf(new DecimalType(2, 38, 128)),
  lists: listOf(listOf(new Int32())),
  vector: new FixedSizeList(2, new Field('item', new Float32(), true)),
};

const at = new Date('2024-02-29T12:34:56.789Z');
const midnight = new Date('2024-02-29T00:00:00Z');

const scalars: readonly unknown[] = [
  7,
  -5,
  5.5,
  1_700_000_000_000,
  7n,
  2n ** 64n - 1n,
  -(2n ** 63n),
  true,
  '7',
  '',
  '2024-02-29',
  "it's",
];
const times: readonly unknown[] = [at, midnight, new Timestamp(1_709_210_096_789_012_345n, 'ns'), new Date(-1)];
const exact: readonly unknown[] = [new Decimal(150, 2), new Decimal(1, 3), new Time(43_200n, 's'), new Time(1n, 'ns')];
const bytes: readonly unknown[] = [
  new Duration(5n, 's'),
  new Duration(1500n, 'ms'),
  new Uint8Array([1, 2]),
  new Uint8Array([1]),
];
const lists: readonly unknown[] = [
  [],
  [1, 2],
  [1, null],
  [null, null],
  [1.5, 2],
  [1n, -(2n ** 63n)],
  ['a', null],
  ["it's"],
  [true],
];
const nested: readonly unknown[] = [
  [at, null],
  [midnight],
  [new Decimal(150, 2), null],
  [[1, 2], [], null],
  [[]],
  Float32Array.of(1, 2),
];
const values: readonly unknown[] = [...scalars, ...times, ...exact, ...bytes, ...lists, ...nested];

forEachOfOurs('values of updates', (makeCatalog) => {
  test('are stored as add stores them, or refused as add refuses them', async function () {
    this.timeout(120_000);
    const { db } = await makeCatalog();
    const fields = Object.entries(types).map(([name, type]) => new Field(name, type, true));
    const table = await db.createTable('t', [{}], { schema: new Schema(fields) });
    const counts = { stored: 0, refused: 0 };
    for (const field of fields) {
      const { name } = field;
      for (const value of values) {
        const shown = `${name} = ${describe(value)}`;
        let expected: unknown;
        try {
          expected = readRows(inferRows([{ [name]: value }], new Schema([field])))[0]![name];
        } catch (error) {
          assert.ok(isCatalogError(error, 'SchemaValidation'), shown);
          const told = await fails(() => table.update({ values: { [name]: value } }), 'SchemaValidation');
          const problem = error.what.replace(`Column "${name}" of row 0`, `The value for "${name}"`);
          assert.equal(told.what, problem, shown);
          counts.refused++;
          continue;
        }
        await table.update({ values: { [name]: value } }).catch((error: unknown) => {
          throw new Error(`${shown}: ${String(error)}`);
        });
        assert.deepEqual((await table.query().select([name]).toArray())[0]![name], expected, shown);
        counts.stored++;
      }
    }
    assert.ok(counts.stored > 80 && counts.refused > 500, JSON.stringify(counts));
  });

  test('that the engine has no SQL for are refused with another way', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', [{ id: 1, name: 'a', meta: { n: 1, o: 'x' } }]);
    const name = "CASE WHEN id > 1 THEN 'x' ELSE 'y' END";
    await fails(() => table.update({ valuesSql: { name } }), 'InvalidInput', 'CASE', 'for each case');
    await fails(() => table.query().where(`${name} = 'x'`).toArray(), 'Unsupported', 'CASE', 'AND, OR');
    for (const update of [{ values: { 'meta.n': 2 } }, { valuesSql: { 'meta.n': '2' } }]) {
      await fails(() => table.update(update), 'Unsupported', '"meta.n"', 'named_struct(');
    }
    await table.update({ valuesSql: { meta: "named_struct('n', 2, 'o', meta.o)" } });
    assert.deepEqual((await table.query().toArray())[0]!['meta'], { n: 2, o: 'x' });
    // If a server sends no next step, the client must not invent one.
    const error = await fails(() => table.update({ valuesSql: { name: 'nofn(name)' } }), 'InvalidInput', 'nofn');
    assert.equal(error.hint, '');
  });

  test('that SQL has no literal for are refused', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', [{ m: { a: 1 }, list: [{ a: 1 }], price: 1.5 }]);
    await fails(() => table.update({ values: { m: { a: 2 } } }), 'InvalidInput', '"m" is an object', 'valuesSql');
    await fails(() => table.update({ values: { list: [{ a: 2 }] } }), 'InvalidInput', '"list[0]" is an object');
    await fails(() => table.update({ values: { price: Infinity } }), 'InvalidInput', '"price" is Infinity');
    await fails(() => table.update({ values: { colour: 'red' } }), 'ColumnNotFound', 'colour');
  });
});

const describe = (value: unknown): string =>
  Array.isArray(value) ? `[${value.map(describe).join(', ')}]` : `${typeof value} ${String(value)}`;

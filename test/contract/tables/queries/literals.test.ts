import assert from 'node:assert/strict';
import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  Decimal,
  DurationMillisecond,
  DurationNanosecond,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int64,
  List,
  Schema,
  TimeMicrosecond,
  TimeMillisecond,
  TimeNanosecond,
  TimeSecond,
  TimestampMicrosecond,
  TimestampNanosecond,
  TimestampSecond,
  Uint64,
  Utf8,
} from '#arrow';
import { Decimal as DecimalValue } from '#catalog/values/decimal.ts';
import { Duration } from '#catalog/values/duration.ts';
import { Time } from '#catalog/values/time.ts';
import { Timestamp } from '#catalog/values/timestamp.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { forEachSubject } from '../../subjects.ts';

const numbers = (type: DataType): Field => new Field('item', type, true);

/** A column's type, and values to write one after another and read back unchanged. */
const cases: Readonly<Record<string, readonly [DataType, readonly unknown[]]>> = {
  text: [
    new Utf8(),
    ["it's", '', 'back\\slash "double"\nline', "'; DROP TABLE t; --", 'ünï 😀', 'nul \0', '%_ $1 ?', null],
  ],
  whole: [new Int64(), [0n, -7n, 2n ** 63n - 1n, -(2n ** 63n), 9_007_199_254_740_993n, null]],
  natural: [new Uint64(), [0n, 2n ** 64n - 1n]],
  float: [new Float64(), [0, 1.5, -2.25, 1e300, 5e-324, 1.7976931348623157e308, 2 ** 53, 3, null]],
  truth: [new Bool(), [true, false, null]],
  bytes: [new Binary(), [Uint8Array.of(0, 255, 16), new Uint8Array(), null]],
  micros: [new TimestampMicrosecond('UTC'), [Date.UTC(2024, 1, 29, 12, 34, 56, 789), -1, -62_135_596_800_000, null]],
  nanos: [new TimestampNanosecond(), [Date.UTC(2024, 1, 29, 12, 34, 56, 789), null]],
  day: [new DateDay(), [Date.UTC(2024, 1, 29), Date.UTC(1969, 11, 31), null]],
  vector: [new FixedSizeList(3, numbers(new Float32())), [[1, 2, 3], [0.5, -1, 1e-7].map(Math.fround), null]],
  list: [new List(numbers(new Int64())), [[1n, 2n ** 60n], null]],
  words: [new List(numbers(new Utf8())), [["a'b", ''], null]],
};

/** Times are written as `Date` and read as milliseconds. */
const isTime = (name: string): boolean => ['micros', 'nanos', 'day'].includes(name);

function plain(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value;
  return [...(value as Iterable<unknown>)];
}

const exactCases: readonly (readonly [DataType, readonly unknown[]])[] = [
  [new TimestampMicrosecond('UTC'), [new Timestamp(-1n, 'us'), new Timestamp(1_709_210_096_789_001n, 'us')]],
  [new TimestampNanosecond(), [new Timestamp(2n ** 63n - 1n, 'ns'), new Timestamp(-(2n ** 63n) + 1n, 'ns')]],
  [new TimestampNanosecond('Europe/Berlin'), [new Timestamp(1_709_210_096_789_001_002n, 'ns')]],
  [new TimestampSecond(), [new Timestamp(2n ** 62n, 's')]],
  [new Decimal(2, 20, 128), [new DecimalValue(1890n, 2), new DecimalValue(-1n, 2), null]],
  [new Decimal(10, 38, 128), [new DecimalValue(10n ** 38n - 1n, 10)]],
  [new TimeSecond(), [new Time(43_200n, 's'), new Time(0n, 's')]],
  [new TimeMillisecond(), [new Time(86_399_999n, 'ms')]],
  [new TimeMicrosecond(), [new Time(86_399_999_999n, 'us')]],
  [new TimeNanosecond(), [new Time(1n, 'ns')]],
  [new DurationMillisecond(), [new Duration(1500n, 'ms'), new Duration(-(2n ** 40n), 'ms')]],
  [new DurationNanosecond(), [new Duration(2n ** 63n - 1n, 'ns')]],
];

forEachSubject('values of an update', (makeCatalog) => {
  for (const [name, [type, values]] of Object.entries(cases)) {
    test(`are read as they were said: ${name}`, async () => {
      const { db } = await makeCatalog();
      const schema = new Schema([new Field('id', new Int64(), true), new Field(name, type, true)]);
      const table = await db.createTable('t', [{ id: 1 }, { id: 2 }], { schema });
      for (const value of values) {
        const said = isTime(name) && value !== null ? new Date(value as number) : value;
        await table.update({ where: 'id = 1', values: { [name]: said } });
        const found = (await table.query().where('id = 1').toArrow()).getChild(name)!.get(0);
        assert.deepEqual(plain(found), value);
      }
      assert.equal(await table.countRows(`${name} is null and id = 2`), 1);
    });
  }

  test('are read as they were said: values of the classes of rows', async () => {
    const { db } = await makeCatalog();
    for (const [index, [type, values]] of exactCases.entries()) {
      const schema = new Schema([new Field('id', new Int64(), true), new Field('x', type, true)]);
      const table = await db.createTable(`t${index}`, [{ id: 1 }], { schema });
      for (const value of values) {
        await table.update({ values: { x: value } });
        const [found] = await table.query().select(['x']).toArray();
        assert.deepEqual(found, { x: value }, typeText(type));
      }
    }
  });

  test('of the classes of rows are refused if the column can not hold them', async () => {
    const { db } = await makeCatalog();
    const schema = new Schema([new Field('price', new Decimal(2, 10, 128), true), new Field('note', new Utf8(), true)]);
    const table = await db.createTable('t', [{ price: '1.50', note: 'a' }], { schema });
    await assert.rejects(table.update({ values: { price: new DecimalValue(1234n, 3) } }), /at most 2 decimals/);
    await assert.rejects(table.update({ values: { price: new Time(1n, 's') } }), /is a Time/);
    await assert.rejects(table.update({ values: { note: new Duration(1n, 's') } }), /is a Duration/);
  });
});

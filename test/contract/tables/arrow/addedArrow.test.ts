import assert from 'node:assert/strict';
import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  Decimal as DecimalType,
  Dictionary,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int32,
  Int64,
  Int8,
  LargeBinary,
  LargeUtf8,
  List,
  Schema,
  TimestampMicrosecond,
  TimestampNanosecond,
  TimestampSecond,
  Utf8,
} from '#arrow';
import { inferRows } from '#catalog/arrow/inferRows.ts';
import { Decimal } from '#catalog/values/decimal.ts';
import { Timestamp } from '#catalog/values/timestamp.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { fails } from '../../expect.ts';
import { forEachOfOurs } from '../../subjects.ts';

const schemaOf = (type: DataType): Schema => new Schema([new Field('n', type, true)]);
const listOf = (type: DataType): List => new List(new Field('item', type, true));
const vectorOf = (size: number): FixedSizeList => new FixedSizeList(size, new Field('item', new Float32(), true));
const noon = new Date('2024-02-29T12:00:00Z');
const midnight = new Date('2024-02-29T00:00:00Z');

const lossy: readonly (readonly [from: DataType, value: unknown, to: DataType])[] = [
  [new Float64(), 4.7, new Int32()],
  [new Float64(), Number.NaN, new Int32()],
  [new Float64(), 1e10, new Int32()],
  [new Float64(), 16_777_217, new Float32()],
  [new Int64(), 300n, new Int8()],
  [new Int64(), 2n ** 53n + 1n, new Float64()],
  [new Utf8(), '12', new Int32()],
  [new Utf8(), 'a', new Int32()],
  [new Int32(), 12, new Utf8()],
  [new Int32(), 2, new Bool()],
  [new Bool(), true, new Int32()],
  [new TimestampMicrosecond(), noon, new DateDay()],
  [new TimestampNanosecond(), new Timestamp(1n, 'ns'), new TimestampMicrosecond()],
  [new TimestampMicrosecond(), new Date(1500), new TimestampSecond()],
  [new DecimalType(3, 38, 128), new Decimal(1005, 3), new DecimalType(2, 38, 128)],
  [listOf(new Float64()), [1, 2.5], listOf(new Int32())],
  [listOf(new Float32()), [1, 2], vectorOf(3)],
  [new Dictionary(new Utf8(), new Int32()), '12', new Int32()],
];

const exact: readonly (readonly [from: DataType, value: unknown, to: DataType])[] = [
  [new Int32(), 12, new Int64()],
  [new Float32(), 1.5, new Float64()],
  [new Float64(), 12, new Int32()],
  [new Float64(), 0.5, new Float32()],
  [new Int64(), 12n, new Float64()],
  [new Dictionary(new Utf8(), new Int32()), 'x', new Utf8()],
  [new LargeUtf8(), 'x', new Utf8()],
  [new Utf8(), 'x', new LargeUtf8()],
  [new Binary(), Uint8Array.of(1), new LargeBinary()],
  [new TimestampSecond(), noon, new TimestampMicrosecond()],
  [new TimestampMicrosecond(), midnight, new DateDay()],
  [listOf(new Int32()), [1, 2], listOf(new Int64())],
  [listOf(new Float32()), [1, 2], vectorOf(2)],
];

forEachOfOurs('Arrow tables of other types', (makeCatalog) => {
  test('are refused where a value would change', async () => {
    const { db } = await makeCatalog();
    for (const [number, [from, value, to]] of lossy.entries()) {
      const table = await db.createEmptyTable(`t${number}`, schemaOf(to));
      const rows = inferRows([{ n: null }, { n: value }], schemaOf(from));
      const shown = `${typeText(from)} to ${typeText(to)}`;
      const told = await fails(() => table.add(rows), 'SchemaValidation', '"n" of row 1');
      assert.doesNotMatch(told.message, /the SQL|try_cast/, shown);
      assert.equal(await table.countRows(), 0, shown);
      await table.add(rows, { mode: 'overwrite' });
      assert.equal(await table.countRows(), 2, shown);
    }
  });

  test('are refused where the engine would take times as local times', async () => {
    const { db } = await makeCatalog();
    const berlin = new TimestampMicrosecond('Europe/Berlin');
    for (const [number, from] of [new TimestampMicrosecond(), new DateDay()].entries()) {
      const table = await db.createEmptyTable(`t${number}`, schemaOf(berlin));
      await fails(
        () => table.add(inferRows([{ n: midnight }], schemaOf(from))),
        'SchemaValidation',
        '"n"',
        'no time zone',
        'Europe/Berlin',
      );
      await table.add(inferRows([{ n: midnight }], schemaOf(new TimestampMicrosecond('UTC'))));
      assert.deepEqual(await table.query().toArray(), [{ n: midnight }]);
    }
    const table = await db.createEmptyTable('lists', schemaOf(listOf(berlin)));
    const rows = inferRows([{ n: [noon] }], schemaOf(listOf(new TimestampMicrosecond())));
    await fails(() => table.add(rows), 'SchemaValidation', '"n"', 'no time zone');
  });

  test('are added where no value changes', async () => {
    const { db } = await makeCatalog();
    for (const [number, [from, value, to]] of exact.entries()) {
      const table = await db.createEmptyTable(`t${number}`, schemaOf(to));
      await table.add(inferRows([{ n: null }, { n: value }], schemaOf(from)));
      const expected = await db.createTable(`e${number}`, [{ n: null }, { n: value }], { schema: schemaOf(to) });
      const shown = `${typeText(from)} to ${typeText(to)}`;
      assert.deepEqual(await table.query().toArray(), await expected.query().toArray(), shown);
    }
  });
});

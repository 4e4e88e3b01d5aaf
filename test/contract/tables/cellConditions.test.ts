import assert from 'node:assert/strict';
import {
  Binary,
  Bool,
  DateDay,
  Decimal,
  Field,
  Float16,
  Float32,
  Float64,
  Int64,
  Int8,
  Schema,
  TimestampMicrosecond,
  TimestampNanosecond,
  Uint64,
  Utf8,
} from '#arrow';
import { bothConditions, narrowedFilter } from '#catalog/view/valueCondition.ts';
import { Decimal as DecimalValue } from '#catalog/values/decimal.ts';
import { Timestamp } from '#catalog/values/timestamp.ts';
import { isCatalogError } from '#shared/errors.ts';
import { forEachSubject } from '../subjects.ts';

const fields = [
  new Field('id', new Int64(), false),
  new Field('big', new Int64(), true),
  new Field('huge', new Uint64(), true),
  new Field('small', new Int8(), true),
  new Field('half', new Float16(), true),
  new Field('single', new Float32(), true),
  new Field('double', new Float64(), true),
  new Field('money', new Decimal(2, 20, 128), true),
  new Field('text', new Utf8(), true),
  new Field('bytes', new Binary(), true),
  new Field('done', new Bool(), true),
  new Field('day', new DateDay(), true),
  new Field('at', new TimestampMicrosecond('UTC'), true),
  new Field('exact', new TimestampNanosecond(), true),
  new Field('Odd name', new Utf8(), true),
];

/** Values of each column that are easily mixed up with others. Every column has a null in its last row. */
const values: Record<string, unknown[]> = {
  big: [2n ** 53n, 2n ** 53n + 1n, -(2n ** 63n), 0n],
  huge: [2n ** 64n - 1n, 2n ** 63n, 1n, 2n ** 53n + 1n],
  small: [-128, 127, 0, 1],
  half: [0.5, Number.NaN, Infinity, -Infinity],
  single: [Math.fround(0.1), Math.fround(16_777_217), Number.NaN, -Infinity],
  double: [0.1, 0.1 + 2 ** -55, Number.NaN, Infinity],
  money: ['123456789012345678.90', '123456789012345678.91', '-0.01', '0.00'].map((text) => DecimalValue.from(text)),
  text: ["it's", '', "a'); --", '😀 ` " \\'],
  bytes: [Uint8Array.of(0, 255), new Uint8Array(0), Uint8Array.of(39), Uint8Array.of(1)],
  done: [true, false, true, false],
  day: ['2026-02-28', '1969-12-31', '2000-01-01', '2026-03-01'].map((text) => new Date(text)),
  at: [
    new Date('2026-01-01T00:00:00Z'),
    new Timestamp(1_767_225_600_000_001n, 'us'),
    new Date('1969-12-31T23:59:59.999Z'),
    new Date(0),
  ],
  exact: [
    new Timestamp(1n, 'ns'),
    new Timestamp(2n, 'ns'),
    new Timestamp(-1n, 'ns'),
    new Timestamp(1_767_225_600_000_000_001n, 'ns'),
  ],
  'Odd name': ['a = b', ' = ', 'x', 'y'],
};
const count = 5;
const rows = Array.from({ length: count }, (_, row) => ({
  id: row,
  ...Object.fromEntries(Object.entries(values).map(([name, some]) => [name, row < some.length ? some[row] : null])),
}));

const text = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'bigint'
      ? `${each}n`
      : Object.is(each, Number.NaN)
        ? 'NaN'
        : each instanceof Uint8Array
          ? [...each]
          : typeof each === 'number' && !Number.isFinite(each)
            ? String(each)
            : each,
  );

forEachSubject('filters by the value of a cell', (makeCatalog) => {
  test('find exactly the rows with that value, or all others', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows, { schema: new Schema(fields) });
    const idsOf = async (where: string): Promise<number[]> =>
      (await table.query().where(where).select(['id']).toArray()).map(({ id }) => Number(id));
    for (const column of Object.keys(values)) {
      for (let row = 0; row < count; row++) {
        const read = () => table.query().select([column]).offset(row).limit(1).toArrow();
        const value = (index: number): string => text((rows[index] as Record<string, unknown>)[column]);
        for (const isOther of [false, true]) {
          const filter = await narrowedFilter(read, undefined, { column, isOther });
          const wanted = rows.flatMap(({ id }) => ((value(id) === value(row)) !== isOther ? [id] : []));
          assert.deepEqual(await idsOf(filter), wanted, filter);
          const both = await narrowedFilter(read, 'id = 0 OR id > 2', { column, isOther });
          assert.deepEqual(
            await idsOf(both),
            wanted.filter((id) => id === 0 || id > 2),
            both,
          );
        }
      }
    }
    const read = () => table.query().select(['text']).offset(9).limit(1).toArrow();
    await assert.rejects(narrowedFilter(read, undefined, { column: 'text', isOther: false }), (error) =>
      isCatalogError(error, 'InvalidInput'),
    );
  });
});

suite('Two conditions', () => {
  test('are both needed, whatever the first one has', () => {
    for (const [before, both] of [
      ['', 'b'],
      ['a', 'a AND b'],
      ['a OR c', '(a OR c) AND b'],
      ["a = ' or '", "a = ' or ' AND b"],
      ['a -- all', '(a -- all\n) AND b'],
    ] as const)
      assert.equal(bothConditions(before, 'b'), both);
  });
});

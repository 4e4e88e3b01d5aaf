import assert from 'node:assert/strict';
import {
  Bool,
  DateDay,
  Decimal,
  Field,
  FixedSizeList,
  Float16,
  Float32,
  Float64,
  Int64,
  LargeUtf8,
  Schema,
  TimeMicrosecond,
  TimestampMicrosecond,
  TimestampMillisecond,
  TimestampNanosecond,
  Uint64,
  Utf8,
} from '#arrow';
import type { Table } from '#catalog/table/table.ts';
import { countValues } from '#catalog/view/countValues.ts';
import { Timestamp } from '#catalog/values/timestamp.ts';
import { Decimal as DecimalValue } from '#catalog/values/decimal.ts';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { isCatalogError } from '#shared/errors.ts';
import {
  type Comparison,
  type Condition,
  type Operator,
  operatorsOf,
  type ValueChoice,
  writeFilter,
} from '../../../webviews/table/filters/columnFilter.ts';
import { filterType } from '../../../webviews/table/filters/columnType.ts';
import { forEachSubject } from '../subjects.ts';

const schema = new Schema([
  new Field('id', new Int64(), false),
  new Field('whole', new Int64(), true),
  new Field('huge', new Uint64(), true),
  new Field('x', new Float64(), true),
  new Field('single', new Float32(), true),
  new Field('half', new Float16(), true),
  new Field('money', new Decimal(2, 20, 128), true),
  new Field('day', new DateDay(), true),
  new Field('clock', new TimeMicrosecond(), true),
  new Field('at', new TimestampMicrosecond('UTC'), true),
  new Field('berlin', new TimestampMillisecond('Europe/Berlin'), true),
  new Field('exact', new TimestampNanosecond(), true),
  new Field('done', new Bool(), true),
  new Field('order', new Utf8(), true),
  new Field('Odd name', new LargeUtf8(), true),
  new Field('v', new FixedSizeList(2, new Field('item', new Float32(), true)), true),
]);
const columns = columnsOf(schema);
const columnOf = (name: string) => columns.find((column) => column.name === name)!;

// Each column has six values; the last one is null.
const day = (text: string) => new Date(`${text}T00:00:00Z`);
const values: Readonly<Record<string, readonly unknown[]>> = {
  whole: [-(2n ** 63n), 2n ** 53n + 1n, 2n ** 53n, 0n, 5n, null],
  huge: [0n, 2n ** 64n - 1n, 2n ** 63n, 1n, 5n, null],
  x: [NaN, -0, 0, 1.5, -Infinity, null],
  single: [NaN, Math.fround(0.1), 0, 1.5, Infinity, null],
  half: [NaN, 0.5, 0, 1.5, -Infinity, null],
  money: ['1.50', '1.51', '-0.01', '0.00', '123456789012345678.90', null].map(
    (text) => text && DecimalValue.from(text),
  ),
  day: [day('2026-01-01'), day('2026-01-31'), day('1969-12-31'), day('2026-02-01'), day('2000-02-29'), null],
  clock: [0n, 1n, 3_600_000_000n, 86_399_999_999n, 5n, null],
  at: [
    '2026-01-01T00:00:00Z',
    '2026-01-01T23:59:59.999Z',
    '2026-01-02T00:00:00Z',
    '1969-12-31T23:59:59Z',
    '2026-07-01T12:00:00Z',
    null,
  ].map((text) => text && new Date(text)),
  berlin: [
    '2025-12-31T23:00:00Z',
    '2026-01-01T22:59:59.999Z',
    '2026-01-01T23:00:00Z',
    '2026-07-01T12:00:00Z',
    '2026-01-01T12:00:00Z',
    null,
  ].map((text) => text && new Date(text)),
  exact: [0n, 1n, 1_767_225_600_000_000_000n, 1_767_225_600_000_000_001n, -1n, null].map((count) =>
    count === null ? null : new Timestamp(count, 'ns'),
  ),
  done: [true, false, true, false, true, null],
  order: ['Red Mug', "it's", '', '50% of_f\\', 'ÄPFEL red', null],
  'Odd name': ['a', 'A', 'b', ' = ', '😀', null],
  v: [[NaN, 1], [0, -0], [1, 2], [0, 1], [0, NaN], null],
};
const rows = Array.from({ length: 6 }, (_, id) => ({
  id,
  ...Object.fromEntries(Object.entries(values).map(([name, some]) => [name, some[id]])),
}));

const compare = (operator: Operator, typed: readonly string[] = [], ignoresCase = false): Comparison => ({
  kind: 'comparison',
  operator,
  values: typed,
  ignoresCase,
});

/** Conditions as the user sets them, and the rows that have to be found, counted by hand. */
const conditions: readonly (readonly [name: string, condition: Comparison, ids: readonly number[]])[] = [
  ['whole', compare('atLeast', ['9007199254740993']), [1]],
  ['whole', compare('between', ['-9223372036854775808', '0']), [0, 3]],
  ['whole', compare('differs', ['0']), [0, 1, 2, 4, 5]],
  ['huge', compare('more', ['9223372036854775808']), [1]],
  ['huge', compare('atMost', ['1']), [0, 3]],
  ['x', compare('atLeast', ['0']), [1, 2, 3]],
  ['x', compare('less', ['2']), [1, 2, 3, 4]],
  ['x', compare('between', ['-inf', 'inf']), [1, 2, 3, 4]],
  ['x', compare('equals', ['0']), [1, 2]],
  ['x', compare('differs', ['1.5']), [0, 1, 2, 4, 5]],
  ['x', compare('isNaN'), [0]],
  ['x', compare('isNumber'), [1, 2, 3, 4]],
  ['single', compare('atLeast', ['0.1']), [1, 3, 4]],
  ['half', compare('between', ['0', '0.5']), [1, 2]],
  ['half', compare('isNumber'), [1, 2, 3, 4]],
  ['money', compare('atLeast', ['1.51']), [1, 4]],
  ['money', compare('equals', ['1.5']), [0]],
  ['day', compare('between', ['2026-01-01', '2026-01-31']), [0, 1]],
  ['day', compare('less', ['2000-02-29']), [2]],
  ['clock', compare('atMost', ['00:00:00.000001']), [0, 1]],
  ['clock', compare('more', ['00:59']), [2, 3]],
  ['at', compare('equals', ['2026-01-01']), [0, 1]],
  ['at', compare('more', ['2026-01-01']), [2, 4]],
  ['at', compare('atMost', ['2026-01-01 00:00']), [0, 3]],
  ['berlin', compare('equals', ['2026-01-01']), [0, 1, 4]],
  ['berlin', compare('atLeast', ['2026-07-01 14:00:00']), [3]],
  ['exact', compare('atLeast', ['2026-01-01 00:00:00.000000001']), [3]],
  ['exact', compare('between', ['1970-01-01', '1970-01-01']), [0, 1]],
  ['done', compare('isTrue'), [0, 2, 4]],
  ['done', compare('isFalse'), [1, 3]],
  ['order', compare('contains', ['red'], true), [0, 4]],
  ['order', compare('contains', ['red']), [4]],
  ['order', compare('lacks', ['red'], true), [1, 2, 3, 5]],
  ['order', compare('startsWith', ['äpf'], true), [4]],
  ['order', compare('endsWith', ['f\\']), [3]],
  ['order', compare('contains', ['% of_f']), [3]],
  ['order', compare('equals', ["it's"]), [1]],
  ['order', compare('equals', ['']), [2]],
  ['Odd name', compare('equals', ['a'], true), [0, 1]],
  ['Odd name', compare('differs', ['a']), [1, 2, 3, 4, 5]],
  ['Odd name', compare('contains', ['😀'], true), [4]],
  ['v', compare('hasNaN'), [0, 4]],
  ['v', compare('isZero'), [1]],
  ...columns.slice(1).flatMap(
    ({ name }) =>
      [
        [name, compare('isNull'), [5]],
        [name, compare('isSet'), [0, 1, 2, 3, 4]],
      ] as const,
  ),
];

async function idsOf(table: Table, name: string, ...all: readonly Condition[]): Promise<number[]> {
  const written = writeFilter(columnOf(name), { match: 'any', conditions: all });
  assert.ok('sql' in written, JSON.stringify(written));
  const found = await table.query().where(written.sql).select(['id']).toArray();
  return found.map(({ id }) => Number(id));
}

forEachSubject('the filters of columns', (makeCatalog) => {
  test('find the rows that their conditions name, with NaN, null and the last digit', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows, { schema });
    for (const [name, condition, ids] of conditions)
      assert.deepEqual(await idsOf(table, name, condition), ids, `${name} ${JSON.stringify(condition)}`);
    for (const { type, name } of columns) {
      const { kind } = filterType({ type, name, nullable: true });
      const tested = new Set(
        conditions.map(([column, { operator }]) => `${filterType(columnOf(column)).kind} ${operator}`),
      );
      if (kind === 'float' || kind === 'text' || kind === 'vector' || kind === 'boolean')
        for (const operator of operatorsOf[kind])
          assert.ok(tested.has(`${kind} ${operator}`) || ['more', 'atMost'].includes(operator));
    }
  });

  test('choose values by the literals that were counted', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', [...rows, { ...rows[1]!, id: 6 }], { schema });
    for (const name of Object.keys(values).filter((each) => each !== 'v')) {
      const { values: counted, isMore } = await countValues(table, {}, name, { maxValues: 10 });
      assert.equal(isMore, false);
      assert.equal(
        counted.reduce((total, { count }) => total + count, 0),
        7,
        name,
      );
      assert.ok(
        counted.every(({ count }, at) => at === 0 || count <= counted[at - 1]!.count),
        'the most frequent first',
      );
      for (const { kind, literal, count } of counted) {
        const choice: ValueChoice = {
          kind: 'values',
          isExcluded: false,
          literals: kind === 'value' ? [literal] : [],
          hasNull: kind === 'null',
          hasNaN: kind === 'nan',
        };
        const ids = await idsOf(table, name, choice);
        assert.equal(ids.length, count, `${name} ${kind} ${literal}`);
        const others = await idsOf(table, name, { ...choice, isExcluded: true });
        assert.deepEqual(
          [...ids, ...others].toSorted((a, b) => a - b),
          [0, 1, 2, 3, 4, 5, 6],
          `${name} without ${kind} ${literal}`,
        );
      }
      const all: ValueChoice = {
        kind: 'values',
        isExcluded: false,
        literals: counted.flatMap(({ kind, literal }) => (kind === 'value' ? [literal] : [])),
        hasNull: true,
        hasNaN: counted.some(({ kind }) => kind === 'nan'),
      };
      assert.equal((await idsOf(table, name, all)).length, 7, name);
      assert.deepEqual(await idsOf(table, name, { ...all, isExcluded: true }), [], name);
    }
  });

  test('count over the filter, stop at many values, and find values by their start', async () => {
    const { db } = await makeCatalog();
    const many = Array.from({ length: 3_000 }, (_, id) => ({ id, t: `Item ${id % 1_500}`, few: `${id % 3}` }));
    const table = await db.createTable('t', many);
    assert.deepEqual(await countValues(table, {}, 't', { maxValues: 1_000 }), { values: [], isMore: true });
    const { values: few } = await countValues(table, { where: 'id < 7' }, 'few', { maxValues: 3 });
    assert.deepEqual(
      few.map(({ text, count }) => [text, count]),
      [
        ['0', 3],
        ['1', 2],
        ['2', 2],
      ],
    );
    const { values: started } = await countValues(table, {}, 't', { maxValues: 1_000, start: 'item 149' });
    assert.deepEqual(
      started.map(({ literal, count }) => [literal, count]),
      ['149', ...Array.from({ length: 10 }, (_, at) => `149${at}`)].map((text) => [`'Item ${text}'`, 2]),
    );
    await assert.rejects(countValues(table, { where: 'nope = 1' }, 't', { maxValues: 9 }), (error) =>
      isCatalogError(error),
    );
    const reason = new Error('on purpose');
    await assert.rejects(countValues(table, {}, 't', { maxValues: 9, signal: AbortSignal.abort(reason) }), reason);
  });
});

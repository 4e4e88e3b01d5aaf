import assert from 'node:assert/strict';
import { Bool, Field, Float32, Float64, Int32, Int8, Utf8 } from '#arrow';
import { tableFilter } from '#session/sql/sqlFilter.ts';
import { parseSimpleSelect, wantedRows } from '#session/sql/sqlShape.ts';
import type { SqliteValue } from '#session/sql/sqlValues.ts';

const fields = [
  new Field('id', new Int32(), true),
  new Field('small', new Int8(), true),
  new Field('Price', new Float64(), true),
  new Field('weight', new Float32(), true),
  new Field('name', new Utf8(), true),
  new Field('yes', new Bool(), true),
  new Field('a b', new Int32(), true),
];

const filterOf = (text: string, bound: readonly SqliteValue[] = []): string | undefined => {
  const shape = parseSimpleSelect(text, fields);
  return shape && tableFilter(shape, bound, fields);
};

suite('the filter of a table for a condition of SQL', () => {
  const asked: readonly (readonly [condition: string, filter: string | undefined])[] = [
    ['id = 3', '`id` = 3'],
    ["PRICE < 20 and name = 'it''s'", "`Price` < 20 AND `name` = 'it''s'"],
    ['3 >= t.id', '`id` <= 3'],
    ['t.id <> 3', '`id` != 3'],
    ['id between -1 and 5', '(`id` >= -1 AND `id` <= 5)'],
    ["name in ('a', 'b')", "`name` IN ('a', 'b')"],
    ['yes = 1 and yes <> false', '`yes` = TRUE'],
    ['id is not null', '`id` IS NOT NULL'],
    ['id = 1 or (small = 2 and length(name) = 3)', '(`id` = 1 OR (`small` = 2))'],
    ['id > 3 and length(name) = 3', '`id` > 3'],
    ['weight = 0.5', '`weight` = 0.5'],
    // 0.1 as a float32 differs from the number 0.1 with which SQLite compares, so the condition is not passed on.
    ['weight = 0.1', undefined],
    ['id = 1 or length(name) = 3', undefined],
    // SQLite treats NaN as null, but the engine does not, so the condition is not passed on.
    ['Price is null', undefined],
    ['small < 300', undefined],
    ["id = '3'", undefined],
    ['name = 3', undefined],
    ['"a b" = 3', undefined],
    ['not id = 3', undefined],
    ['length(name) between 1 and id = 3', undefined],
    ['case when id = 1 and small = 1 then 1 else 0 end', undefined],
    ['id = 1 = 0', undefined],
    ['rowid = 1 and id = 1', undefined],
    ['id in (select 1)', undefined],
  ];
  for (const [condition, filter] of asked)
    test(`${filter === undefined ? 'leaves out' : 'asks'} ${condition}`, () =>
      assert.equal(filterOf(`select * from t where ${condition}`), filter));

  test('has the values of question marks, by where they stand', () =>
    assert.equal(filterOf('select ? from t where id = ? and name = ?', [1n, 2n, 'x']), "`id` = 2 AND `name` = 'x'"));

  for (const text of [
    'select * from t, u where id = 1',
    'select * from t join u on true where id = 1',
    'select * from t where id = 1 union select * from t',
    'select (select 1) from t where id = 1',
    'with x as (values (1)) select * from t where id = 1',
  ])
    test(`is none for a query that is more than one select of one table: ${text}`, () =>
      assert.equal(filterOf(text), undefined));
});

suite('the rows that a query wants', () => {
  const wanted: readonly (readonly [text: string, rows: number | undefined, reach?: number])[] = [
    ['select * from t limit 5', 5],
    ['select id, t.name from shop."t" limit 7;', 7],
    ['select id from t where length(name) = 3 limit 5 offset 2', 5, 7],
    ['select id from t limit ? offset ?', 3, 7],
    ['select * from t', undefined],
    ['select * from t limit 5, 2', undefined],
    ['select * from t limit -1', undefined],
    ['select distinct id from t limit 5', undefined],
    ['select count(*) from t limit 5', undefined],
    ['select * from t order by id limit 5', undefined],
    ['select id from t group by id limit 5', undefined],
  ];
  for (const [text, rows, reach = rows] of wanted)
    test(`are ${rows ?? 'not known'} of ${text}`, () => {
      const shape = parseSimpleSelect(text, fields);
      const found = shape && wantedRows(shape, [3n, 4n]);
      assert.deepEqual([found?.rows, found?.reach], [rows, reach]);
    });
});

import assert from 'node:assert/strict';
import { checkQuery, columnsIn, rowLimit } from '../../../kernel/session/sql/sqlText.ts';

suite('the text of a query', () => {
  const columns = ['id', 'Name', 'order', 'a b'];
  const reads: readonly (readonly [sql: string, columns: string[]])[] = [
    ['select id from t', ['id']],
    ['select NAME, t."order" from t', ['Name', 'order']],
    ['select `a b`, count(*) from t group by 1', ['a b']],
    ['select * from t', columns],
    ['select id * 2 from t', columns],
    ["select 'id', 1 -- name\n from t", ['id']],
    ['select count(*) from t', []],
  ];
  for (const [sql, expected] of reads)
    test(`says at least which columns it reads: ${JSON.stringify(sql)}`, () =>
      assert.deepEqual(columnsIn(sql, columns), expected));

  const limits: readonly (readonly [sql: string, rows: number | undefined])[] = [
    ['select * from t limit 5', 5],
    ['select id, t.name from shop."t" limit 7;', 7],
    ['select * from t', undefined],
    ['select distinct id from t limit 5', undefined],
    ['select count(*) from t limit 5', undefined],
    ['select * from t where id > 3 limit 5', undefined],
    ['select * from t order by id limit 5', undefined],
    ['select * from t limit 5 offset 2', undefined],
    ['select * from t, u limit 5', undefined],
    ['select * from t limit 5, 2', undefined],
    ['select id from t union select id from u limit 5', undefined],
    ['with t as (select 1) select * from t limit 5', undefined],
  ];
  for (const [sql, rows] of limits)
    test(`tells how many rows are enough, where that is sure: ${sql}`, () => assert.equal(rowLimit(sql), rows));

  test('may have one query with a semicolon and a comment behind it', () => checkQuery('SELECT 1; -- done\n'));

  for (const sql of ['', ' -- nothing', 'drop table t', 'pragma x', "attach 'a' as b", 'select 1; select 2'])
    test(`is refused when it is no single query: ${JSON.stringify(sql)}`, () =>
      assert.throws(() => checkQuery(sql), /Begin with select|is empty|more than one/));
});

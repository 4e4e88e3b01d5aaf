import assert from 'node:assert/strict';
import { checkQuery, columnsIn } from '#session/sql/sqlText.ts';

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

  test('may have one query with a semicolon and a comment behind it', () => checkQuery('SELECT 1; -- done\n'));

  for (const sql of ['', ' -- nothing', 'drop table t', 'pragma x', "attach 'a' as b", 'select 1; select 2'])
    test(`is refused when it is no single query: ${JSON.stringify(sql)}`, () =>
      assert.throws(() => checkQuery(sql), /Start with select|is empty|more than one/));
});

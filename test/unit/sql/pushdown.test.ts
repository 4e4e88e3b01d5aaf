import assert from 'node:assert/strict';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { Bool, Field, Float32, Float64, Int32, Int64, Int8, Schema, Utf8 } from '#arrow';
import type { Parameter } from '#sql/messages.ts';
import { quotedText } from '#shared/sqlTokens.ts';
import { findPushdowns, type Pushdown } from '#sql/pushdown.ts';
import type { SqlTable } from '#sql/sqlTable.ts';
import { readTree, type TreeNode } from '#sql/syntaxTree.ts';

const tableOf = (name: string, fields: Field[]): SqlTable => ({
  name,
  schema: new Schema(fields),
  rows: 10,
  scan: () => {
    throw new Error('These tests read no rows.');
  },
});

const tables: Readonly<Record<string, SqlTable>> = {
  t: tableOf('t', [
    new Field('id', new Int32(), true),
    new Field('small', new Int8(), true),
    new Field('Price', new Float64(), true),
    new Field('weight', new Float32(), true),
    new Field('name', new Utf8(), true),
    new Field('yes', new Bool(), true),
    new Field('a b', new Int32(), true),
  ]),
  u: tableOf('u', [new Field('id', new Int64(), true), new Field('code', new Utf8(), true)]),
};

suite('What a query leaves out of its tables', () => {
  let connection: DuckDBConnection;
  suiteSetup(async () => (connection = await (await DuckDBInstance.create(':memory:')).connect()));
  suiteTeardown(() => connection.closeSync());

  async function pushdownsOf(text: string, parameters: readonly Parameter[] = []): Promise<Record<string, Pushdown>> {
    const argument = `${quotedText(text)}::VARCHAR, skip_null := true, skip_empty := true`;
    const [row] = (await connection.runAndReadAll(`SELECT json_serialize_sql(${argument})`)).getRows();
    const tree = readTree(String(row?.[0]));
    assert.equal(tree.statements.length, 1, text);
    const byNode = new Map<TreeNode, SqlTable>(
      tree.references.flatMap(({ node, name }) => (tables[name] ? [[node, tables[name]]] : [])),
    );
    const found = findPushdowns(tree, parameters, (node) => byNode.get(node));
    return Object.fromEntries([...found].map(([table, pushdown]) => [table.name, pushdown]));
  }

  const conditions: readonly (readonly [condition: string, filter: string | undefined])[] = [
    ['id = 3', '`id` = 3'],
    ["PRICE < 20 and name = 'it''s'", "`Price` < 20 AND `name` = 'it''s'"],
    ['3 >= t.id', '`id` <= 3'],
    ['t.id <> 3', '`id` != 3'],
    ['id between -1 and 5', '(`id` >= -1 AND `id` <= 5)'],
    ["name in ('a', 'b')", "`name` IN ('a', 'b')"],
    ['yes = true and yes <> false', '`yes` = TRUE AND `yes` != FALSE'],
    ['not id = 3', '`id` != 3'],
    ['id is not null', '`id` IS NOT NULL'],
    ['Price is null', '`Price` IS NULL'],
    ['id = 1 or (small = 2 and length(name) = 3)', '((`id` = 1) OR (`small` = 2))'],
    ['id > 3 and length(name) = 3', '`id` > 3'],
    ['weight = 0.5', '`weight` = 0.5'],
    ['length(name) between 1 and 2 and id = 3', '`id` = 3'],
    // The engine takes NaN for the largest number, whatever its sign, and -0 for 0.
    ['Price > 5', '(`Price` > 5 OR isnan(`Price`))'],
    ['Price != 5', '(`Price` != 5 OR isnan(`Price`))'],
    ['Price = 0', '`Price` IN (0.0, -0.0)'],
    ['Price >= 0', '(`Price` >= -0.0 OR isnan(`Price`))'],
    ['Price in (0, 1)', '`Price` IN (0, 1, -0.0, 0.0)'],
    // 0.1 as a float32 differs from the number 0.1, so the condition is not passed on.
    ['weight = 0.1', undefined],
    ['id = 1 or length(name) = 3', undefined],
    ['small < 300', undefined],
    ["id = '3'", undefined],
    ['id = 2.5', undefined],
    ['id = 99999999999999999999', undefined],
    ['name = 3', undefined],
    ['yes = 1', undefined],
    ['"a b" = 3', undefined],
    ['not (id = 3 and small = 2)', undefined],
    ['case when id = 1 and small = 1 then true else false end', undefined],
    ['(id = 1) = false', undefined],
    ['id in (select 1)', undefined],
    ['id = small', undefined],
    ['id = null', undefined],
  ];
  for (const [condition, filter] of conditions)
    test(`${filter === undefined ? 'keeps' : 'passes on'} ${condition}`, async () => {
      const { t } = await pushdownsOf(`select * from t where ${condition}`);
      assert.equal(t?.filter, filter && `(${filter})`);
    });

  test('has the values of parameters', async () => {
    const parameters: Parameter[] = [
      { type: 'integer', value: 1n },
      { type: 'integer', value: 2n },
      { type: 'text', value: 'x' },
    ];
    const { t } = await pushdownsOf('select ? from t where id = ? and name = ?', parameters);
    assert.equal(t?.filter, "(`id` = 2 AND `name` = 'x')");
  });

  const queries: readonly (readonly [text: string, t: string | undefined, u?: string])[] = [
    ["select * from t join u on t.id = u.id where small = 1 and u.code = 'x'", '`small` = 1', "`code` = 'x'"],
    // The name of a column that both tables have belongs to neither.
    ["select * from t, u where id = 1 and code = 'x'", undefined, "`code` = 'x'"],
    ["select * from t left join u using (id) where code = 'x'", undefined, "`code` = 'x'"],
    // Without the row that is not null, the outer join would make a row of nulls, for which the condition is true.
    ['select * from t left join u on t.id = u.id where u.code is null', undefined],
    ["select * from t a, t b where a.id = 1 and b.name = 'x'", "`id` = 1) OR (`name` = 'x'"],
    ['select * from t where id = 1 union all select * from t', undefined],
    ['select (select max(id) from u) from t where id = 1', '`id` = 1'],
    ['select * from t where id = 1 and small in (select id from u where u.id = 2)', '`id` = 1', '`id` = 2'],
    ['with x as (select * from t where id = 1) select * from x where small = 2', '`id` = 1'],
    ['with t as (select 1 as id) select * from t where id = 1', undefined],
    ['with u as (select * from u where id = 1) select * from u', undefined, '`id` = 1'],
    ['select * from t tablesample 10% where id = 1', undefined],
    ['select * from t asof join u on t.id >= u.id where u.code = 1', undefined],
    ['select * from t positional join u where small = 1', undefined],
    ['select * from t as x(a, b) where small = 1', undefined],
    ['select * from t, (select 1 as small) s where small = 1', undefined],
    ['select * from t, (select 1 as small) s where t.small = 1', '`small` = 1'],
  ];
  for (const [text, t, u] of queries)
    test(`finds the conditions of each table: ${text}`, async () => {
      const found = await pushdownsOf(text);
      assert.deepEqual([found['t']?.filter, found['u']?.filter], [t && `(${t})`, u && `(${u})`]);
    });

  const limits: readonly (readonly [text: string, limit: number | undefined])[] = [
    ['select * from t limit 5', 5],
    ['select id, t.name from "t" limit 7;', 7],
    ['select id from t limit 5 offset 2', 7],
    ['select id from t limit ? offset ?', 7],
    ['select * from t', undefined],
    ['select id from t where length(name) = 3 limit 5', undefined],
    ['select * from t limit 10%', undefined],
    ['select distinct id from t limit 5', undefined],
    ['select count(*) from t limit 5', undefined],
    ['select * from t order by id limit 5', undefined],
    ['select id from t group by id limit 5', undefined],
    ['select a.id from t a, t b limit 5', undefined],
    ['select unnest([1, 2]) from t limit 5', undefined],
    ['(select * from t limit 5) union all (select * from t)', undefined],
  ];
  for (const [text, limit] of limits)
    test(`${limit ?? 'all'} rows are enough for ${text}`, async () => {
      const found = await pushdownsOf(text, [
        { type: 'integer', value: 4n },
        { type: 'integer', value: 3n },
      ]);
      assert.equal(found['t']?.limit, limit);
    });
});

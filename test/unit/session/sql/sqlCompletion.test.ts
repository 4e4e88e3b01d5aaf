import assert from 'node:assert/strict';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { reservedWords, sqlFunctions, sqlKeywords, startKeywords } from '#catalog/names/sqlNames.ts';
import type { SqlWord } from '#catalog/names/sqlCompletion.ts';
import { sqlCompletionAt } from '#session/sql/sqlCompletion.ts';

/** Returns what completes a cell at the bar; undefined outside of SQL. */
function completedAt(marked: string) {
  const offset = marked.indexOf('|');
  const cell = marked.replace('|', '');
  const found = sqlCompletionAt(cell, offset);
  return found && { ...found, cell };
}

/** Returns the name of the catalog at the bar, and the text that a chosen name replaces. */
function namedAt(marked: string): { what: object; replaced: string } | 'nothing' | 'no SQL' {
  const found = completedAt(marked);
  if (!found) return 'no SQL';
  const { naming, cell } = found;
  return naming ? { what: naming.what, replaced: cell.slice(naming.start, naming.end) } : 'nothing';
}

/** Returns the words of a kind at the bar. */
const wordsAt = (marked: string, kind: SqlWord['kind']): string[] =>
  (completedAt(marked)?.words ?? []).filter((word) => word.kind === kind).map(({ text }) => text);

const anyTable = (...namespacePath: string[]) => ({ kind: 'sqlAnyTable', catalog: 'db', namespacePath });
const tables = (namespacePath: string[], isPath = false) => ({
  kind: 'sqlTable',
  catalog: 'db',
  namespacePath,
  isPath,
});
const columns = (...all: [name: string, ...path: string[]][]) => ({
  kind: 'sqlColumn',
  catalog: 'db',
  tables: all.map(([name, ...namespacePath]) => ({ catalog: 'db', name, namespacePath })),
});

const products = columns(['products', 'shop']);
const both = columns(['orders', 'shop', 'eu'], ['products', 'shop']);

const cases: readonly (readonly [marked: string, what: object | 'nothing' | 'no SQL', replaced?: string])[] = [
  ['%%sql\nselect * from |', anyTable()],
  ['%%sql --to few\nselect * from pro| where 1', anyTable(), 'pro'],
  ['%%sql\nselect * from shop.pr|o', tables(['shop']), 'pro'],
  ['%%sql\nselect * from "shop/eu".|', tables(['shop', 'eu'])],
  ['%%sql\nselect * from "shop/e|', tables(['shop'], true), '"shop/e'],
  ['%%sql\nselect * from "sh|"', tables([], true), '"sh"'],
  ['%%sql\nselect * from a, |', anyTable()],
  ['%%sql\nselect * from a left join b|', anyTable(), 'b'],
  ['%%sql\nselect * from shop.products a|', 'nothing'],
  ['%%sql\nselect | from shop.products', products],
  ['%%sql\nselect id, na| from "shop/products"', products, 'na'],
  ['%%sql\nselect "na| from shop.products', products, '"na'],
  ['%%sql\nselect * from shop.products as p where p.pr|', products, 'pr'],
  ['%%sql\nselect * from shop.products where products.|', products],
  ['%%sql\nselect * from shop.products p where products.|', 'nothing'],
  ['%%sql\nselect | from "shop/eu".orders o join shop.products p on p.id = o.product_id', both],
  ['%%sql\nselect p.| from "shop/eu".orders o, shop.products p', products],
  ['%%sql\nselect id from shop.products order by |', products],
  ["%%sql\nselect * from shop.products where name = 're|", 'nothing'],
  ['%%sql\nselect * from shop.products where id = 3|', 'nothing'],
  ['%%sql\nselect * from shop.products -- fr|', 'nothing'],
  ['%%sql\nselect |', 'nothing'],
  ['%%sql\nselect * from pro|ducts where 1', anyTable(), 'products'],
  ['%%sql\nselect * from shop.eu.or|', anyTable('shop', 'eu'), 'shop.eu.or'],
  ['%%sql\nselect * from "sh|op/eu".orders', tables([], true), '"shop/eu"'],
  ['%%sql\nselect * from "shop/eu"|', 'nothing'],
  ['%%sql\nselect * from main.|', tables([])],
  ['%%sql\ninsert into |', anyTable()],
  ['%%sql\nupdate sh|', anyTable(), 'sh'],
  ['%%sql\nselect * from (a join |)', anyTable()],
  ['%%sql\nselect * from a join b on a.id = b.id, |', anyTable()],
  ['%%sql\nselect p.| from a join b using (id), shop.products p', products],
  ['%%sql\nselect price as na| from shop.products', 'nothing'],
  ['%%sql\nselect |, id from shop.products', products],
  ['%%sql\nselect pr|ice from shop.products', products, 'price'],
  ['%%sql\nselect "pr| from "shop/products" where "id" = 3', products, '"pr'],
  ['%%sql\nselect `pr|` from shop.products', products, '`pr`'],
  ['%%sql\nselect products.pr| from shop.products', products, 'pr'],
  ['%%sql\nselect shop.products.| from shop.products', products],
  ['%%sql\nselect p . | from shop.products p', products],
  ['%%sql\nselect 1.| from shop.products', 'nothing'],
  ['%%sql\nselect trim(both from na|) from shop.products', products, 'na'],
  ['%%sql\nselect * from shop.products where id is distinct from pr|', products, 'pr'],
  // Subqueries see the tables around them, and not the other way around.
  ['%%sql\nselect * from shop.products where id in (select | from "shop/eu".orders)', both],
  ['%%sql\nselect | from shop.products where id in (select product_id from "shop/eu".orders)', products],
  ['%%sql\nselect * from shop.products p where exists (select 1 from x where p.|)', products],
  ['%%sql\nselect * from shop.products p where exists (select 1 from x p where p.|)', columns(['x'])],
  ['%%sql\nselect id from x union select | from shop.products', products],
  ['%%sql\nselect | from x union select id from shop.products', columns(['x'])],
  ['%%sql\nselect c.| from (select * from shop.products) c', products],
  ['%%sql\nselect c.| from (select p.*, 1 from shop.products p join x on true) c', products],
  ['%%sql\nwith c as (select * from shop.products) select c.| from c', products],
  ['%%sql\nwith c as (select | from shop.products) select 1 from c', products],
  ['%%sql\nwith c as (select id from x) select c.| from c', 'nothing'],
  ['%%sql\nwith recursive c as (select * from c) select c.| from c', 'nothing'],
  ['%%sql\nselect id from x; select | from shop.products; select id from y', products],
  ['%%sql\nselect id from x /* from y */ where |', columns(['x'])],
  ['%%sql\nselect id /* from |', 'nothing'],
  ["%%sql\nselect 'a -- b', | from shop.products", products],
  ["%%sql\nselect 'it''s |' from shop.products", 'nothing'],
  ["%%sql\nselect id from shop.products where id = ${'}'} and |", products],
  ['%%sql\nselect ${{ a: 1 }.|a} from shop.products', 'no SQL'],
  ['%%sql\nselect ${|\nfrom shop.products', 'no SQL'],
  ['%%sql\nselect | ${\nfrom shop.products', products],
  ['%%sql\nselect ${na| + 1} from t', 'no SQL'],
  ['%%sql --to fe|w\nselect 1', 'no SQL'],
  ['const a = 1; a|', 'no SQL'],
];

suite('What completes SQL in a cell', () => {
  for (const [marked, what, replaced = ''] of cases)
    test(JSON.stringify(marked.slice(5).trim()), () =>
      assert.deepEqual(namedAt(marked), typeof what === 'string' ? what : { what, replaced }),
    );

  test('are the queries of WITH and what they name', () => {
    const query =
      '%%sql\nwith cheap (id, cost) as (select 1, 2), "very cheap" as (select id, count(*) n, price * 2 as twice from cheap) ';
    assert.deepEqual(wordsAt(`${query} select * from |`, 'table'), ['cheap', '"very cheap"']);
    assert.deepEqual(wordsAt(`${query} select * from x.|`, 'table'), []);
    assert.deepEqual(wordsAt(`${query} select c.| from cheap c`, 'column'), ['id', 'cost']);
    assert.deepEqual(wordsAt(`${query} select | from "very cheap"`, 'column'), ['id', 'n', 'twice']);
    assert.deepEqual(wordsAt('%%sql\nselect | from (select a.id, b.note "the note" from a, b) c', 'column'), [
      'id',
      '"the note"',
    ]);
  });

  test('are the aliases of tables', () => {
    assert.deepEqual(wordsAt('%%sql\nselect | from shop.products p, x as "a b", orders', 'alias'), [
      'p',
      '"a b"',
      'orders',
    ]);
    assert.deepEqual(wordsAt('%%sql\nselect p.| from shop.products p', 'alias'), []);
  });

  test('are functions where a value is expected, and keywords that can follow', () => {
    assert.ok(wordsAt('%%sql\nselect co| from x', 'function').includes('count'));
    assert.deepEqual(wordsAt('%%sql\nselect * from x |', 'function'), []);
    assert.ok(wordsAt('%%sql\nselect * from x |', 'keyword').includes('left join'));
    const starts = 'select with values from describe summarize explain'.split(' ');
    assert.deepEqual(wordsAt('%%sql\nse|', 'keyword'), [...starts, 'create table', 'insert into']);
    assert.deepEqual(wordsAt('%%sql\nselect p.| from x p', 'keyword'), []);
    for (const marked of ["'a |'", '"a |"', '1 -- |', '1 /* |', '3|', 'id as |'])
      assert.deepEqual(completedAt(`%%sql\nselect ${marked}`)?.words, [], marked);
  });

  test('are written in the case that the user writes', () => {
    assert.ok(wordsAt('%%sql\nSELECT id FROM x WH|', 'keyword').includes('WHERE'));
    assert.ok(wordsAt('%%sql\nselect id from x WH|', 'keyword').includes('WHERE'));
    assert.ok(wordsAt('%%sql\nSELECT |', 'function').includes('COUNT'));
    assert.ok(wordsAt('%%sql\nselect id from x |', 'keyword').includes('where'));
  });

  test('leave words alone that may be finished, because Enter accepts a suggestion', () => {
    for (const marked of [
      'select * from orders o|',
      'select * from orders ord|',
      'select * from orders join products p|',
      'select * from (select 1) s|',
      'select count(*) c| from orders',
      'select id i| from orders',
      "select 'a' t| from orders",
      'with t|',
      'select case when true then 1 else 2 end|',
      'select * from orders where|',
      'select * from orders order by id desc|',
    ]) {
      const { words, naming } = completedAt(`%%sql\n${marked}`) ?? {};
      assert.deepEqual([words, naming], [[], undefined], marked);
    }
    for (const [marked, keyword] of [
      ['select * from orders wh|', 'where'],
      ['select * from orders o le|', 'left join'],
      ['select * from orders order|', 'order by'],
      ['select count(*) fr|', 'from'],
      ['select * from orders where id > 5 an|', 'and'],
    ] as const)
      assert.ok(wordsAt(`%%sql\n${marked}`, 'keyword').includes(keyword), marked);
    // After a value, a column or a function can't follow.
    assert.deepEqual(wordsAt('%%sql\nselect * from orders where id > 5 an|', 'function'), []);
  });

  test('are the names that the query gives to values', () => {
    const query = '%%sql\nselect o.id, note, sum(amount) as total, count(*) n from orders o group by all order by ';
    assert.deepEqual(wordsAt(`${query}t|`, 'column'), ['total', 'n']);
  });

  test('is nothing slow to find in long or hostile text', () => {
    const deep = `%%sql\nselect ${'(select '.repeat(50_000)}`;
    assert.ok(sqlCompletionAt(deep, deep.length));
    const holes = `%%sql\nselect ${'${'.repeat(2000)}`;
    assert.equal(sqlCompletionAt(holes, holes.length), undefined);
  });
});

suite('The words of SQL that are offered', () => {
  let connection: DuckDBConnection;
  suiteSetup(async () => {
    connection = await (await DuckDBInstance.create(':memory:')).connect();
    await connection.run('create table t (id integer, name text)');
  });
  suiteTeardown(() => connection.closeSync());

  test('are functions that the engine has', async () => {
    const rows = await connection.runAndReadAll('select distinct function_name from duckdb_functions()');
    // These are part of the grammar, not functions of the catalog.
    const known = new Set<unknown>([...rows.getRows().flat(), 'coalesce', 'if', 'ifnull']);
    const unknown = sqlFunctions.map((text) => text.replace(/\(.*/, '')).filter((name) => !known.has(name));
    assert.deepEqual(unknown, []);
    await connection.run('select coalesce(null, 1), if(true, 1, 2), ifnull(null, 1)');
  });

  test('are keywords that the engine takes', async () => {
    const queries = [
      `with recursive c as (select id, name from t union all select id + 1, name from c where id < 3)
        select distinct id, case when name is null then 1 else 2 end, cast(id as text), current_date, current_timestamp,
        sum(id) filter (where true) over (partition by name order by id asc rows between unbounded preceding and 1 following),
        sum(id) over w from c where not false and id in (1) or name like 'a' and exists (select 1) group by id, name
        having count(*) > 0 window w as (order by id range between unbounded preceding and current row)
        order by id desc nulls first, name nulls last limit 3 offset 1`,
      'select * from t a join t b on a.id = b.id left join t c on true right join t d on true full join t e on true',
      'select * from t join t b using (id)',
      'select * from t a inner join t b on true cross join t c',
      'select * from t natural join t d',
      'select id from t union values (1) intersect select 1 except select 2 union select all 3',
      'from t select distinct on (id) id, try_cast(name as integer) qualify row_number() over (order by id) = 1',
      `select * exclude (name) replace (id + 1 as id) from t where name ilike 'a' and id is distinct from 2 and id = any (select 1)
        order by all`,
      'select name, count(*) from t group by all',
      'select id from t semi join t b using (id)',
      'select * from t asof join t b on t.id >= b.id',
      'select id from t union by name select name from t',
      "select date '2026-01-01' + interval 1 day, unnest([1, 2])",
      'select * from t, lateral (select t.id + 1)',
      'select * from t using sample 1',
      'select percentile_cont(0.5) within group (order by id) from t',
      'describe t',
      'summarize t',
      'explain select 1',
      'create table u as select 1 as id',
      'insert into t by name select 1 as id',
    ];
    for (const query of queries) await connection.run(query);
    const used = queries.join(' ').replaceAll(/\s+/g, ' ');
    const unused = [...sqlKeywords, ...startKeywords].filter(
      (keyword) => !new RegExp(String.raw`\b${keyword}\b`).test(used),
    );
    assert.deepEqual(unused, []);
  });

  test('need quotes as names where the engine says so', async () => {
    const words = [...sqlKeywords, ...startKeywords].filter((word) => !word.includes(' '));
    const refused: string[] = [];
    for (const word of words) {
      const isName = await connection.run(`select ${word} from (select 1 as ${word})`).then(
        () => true,
        () => false,
      );
      if (!isName) refused.push(word);
    }
    assert.deepEqual(
      refused.filter((word) => !reservedWords.has(word)),
      [],
    );
  });
});

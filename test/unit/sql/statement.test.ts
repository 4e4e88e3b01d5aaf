import assert from 'node:assert/strict';
import { isCatalogError } from '#shared/errors.ts';
import { readStatement } from '#sql/statement.ts';

suite('the text of a query', () => {
  test('may have one query with a semicolon and a comment behind it', () => {
    for (const text of ['SELECT 1; -- done\n', 'from t', '(select 1)', 'values (1)', 'describe t', 'explain select 1'])
      assert.deepEqual(readStatement(text), { query: text, write: undefined });
  });

  for (const sql of ['', ' -- nothing', 'pragma x', "attach 'a' as b", 'select 1; select 2', 'selct 1'])
    test(`is refused when it is no single query: ${JSON.stringify(sql)}`, () =>
      assert.throws(() => readStatement(sql), /Start with select|is empty|more than one|settings|connect\(/));

  const writes: readonly (readonly [text: string, write: object])[] = [
    ['create table top as select 1', { kind: 'create', name: name('top'), mode: 'create' }],
    ['CREATE OR REPLACE TABLE shop.top AS from t', { kind: 'create', name: name('top', 'shop'), mode: 'overwrite' }],
    [
      'create table if not exists "shop/eu".top as select 1',
      { kind: 'create', name: name('top', 'shop/eu'), mode: 'exist_ok' },
    ],
    ['insert into a.b.c select 1', insert(name('c', 'b', 'a'))],
    ['insert into t by name select 1', { ...insert(name('t')), isByName: true }],
    ['insert into t (id, "a b") values (1, 2)', { ...insert(name('t')), columns: ['id', 'a b'] }],
    ['insert into t (select 1)', insert(name('t'))],
  ];
  for (const [text, write] of writes)
    test(`is read for what it writes: ${text}`, () => {
      const { query, write: found } = readStatement(text);
      assert.deepEqual(found, write);
      // The query is where it was, so that errors have the positions that the user sees.
      assert.equal(text.endsWith(query.trim()), true);
      assert.equal(query.length, text.length);
    });

  const refused: readonly (readonly [text: string, hint: RegExp])[] = [
    ['drop table shop.orders', /db\.dropTable\(/],
    ['update t set id = 1', /table\.update\(/],
    ['delete from t', /table\.delete\(/],
    ['alter table t add column x int', /table\.addColumns\(/],
    ['create schema shop', /db\.createNamespace\(/],
    ['create table t (id int)', /create table shop\.top as select/],
    ['merge into t using u on true', /table\.mergeInsert\(/],
    ['insert or replace into t select 1', /insert into shop\.orders select/],
  ];
  for (const [text, hint] of refused)
    test(`is refused with what does it here: ${text}`, () =>
      assert.throws(
        () => readStatement(text),
        (error) =>
          isCatalogError(error, 'InvalidInput') && hint.test(error.hint) && error.what.startsWith('Expected a query'),
      ));
});

function name(table: string, schema = '', catalog = ''): object {
  return { catalog, schema, name: table };
}

function insert(into: object): object {
  return { kind: 'insert', name: into, columns: undefined, isByName: false };
}

import assert from 'node:assert/strict';
import { sqlNameAt } from '#catalog/names/sqlHover.ts';

const path = ({ namespacePath, name }: { namespacePath: readonly string[]; name: string }) =>
  [...namespacePath, name].join('.');

/** Returns the name at the bar, in short: `table shop.orders` or `column id of shop.orders`, and its range. */
function nameAt(marked: string): string | undefined {
  const offset = marked.indexOf('|');
  const sql = marked.replace('|', '');
  const found = sqlNameAt(sql, offset);
  if (!found) return undefined;
  const text = sql.slice(found.start, found.end);
  return found.kind === 'table'
    ? `table ${path(found.table)} at ${text}`
    : `column ${found.name} of ${found.tables.map(path).join(', ')} at ${text}`;
}

const cases: readonly (readonly [marked: string, expected: string | undefined])[] = [
  ['select * from shop.ord|ers o', 'table shop.orders at shop.orders'],
  ['select * from sh|op.orders o', 'table shop.orders at shop.orders'],
  ['select * from "shop/eu".or|ders', 'table shop.eu.orders at "shop/eu".orders'],
  ['select * from a join b|b on a.id = bb.id', 'table bb at bb'],
  ['select i|d from shop.orders', 'column id of shop.orders at id'],
  ['select "i|d" from shop.orders', 'column id of shop.orders at "id"'],
  ['select o.i|d from shop.orders o, shop.products p', 'column id of shop.orders at id'],
  ['select |o.id from shop.orders o, shop.products p', 'table shop.orders at o'],
  ['select id from a, b where nam|e = 1', 'column name of a, b at name'],
  ['select coun|t(id) from a', undefined],
  ["select 'i|d' from a", undefined],
  ['sel|ect id from a', undefined],
  ['with few as (select * from shop.orders) select * from fe|w', undefined],
  ['with few as (select * from shop.orders) select i|d from few', 'column id of shop.orders at id'],
  ['select 1; select i|d from b', 'column id of b at id'],
  ['select x from a as ne|w', undefined],
  ['select 1 -- i|d\nfrom a', undefined],
];

suite('A name in SQL', () => {
  for (const [marked, expected] of cases)
    test(`${JSON.stringify(marked)} is ${expected ?? 'nothing known'}`, () => assert.equal(nameAt(marked), expected));
});

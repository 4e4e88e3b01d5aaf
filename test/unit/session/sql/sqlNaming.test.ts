import assert from 'node:assert/strict';
import { sqlNamingAt } from '#session/sql/sqlNaming.ts';

/** Returns the name at the bar in a cell, and the text that a chosen name replaces. */
function namedAt(marked: string): { what: object; replaced: string } | 'nothing' | 'no SQL' {
  const offset = marked.indexOf('|');
  const cell = marked.replace('|', '');
  const found = sqlNamingAt(cell, offset);
  if (!found) return 'no SQL';
  return found.naming
    ? { what: found.naming.what, replaced: cell.slice(found.naming.start, found.naming.end) }
    : 'nothing';
}

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
  ['%%sql\nselect * from |', tables([])],
  ['%%sql --to few\nselect * from pro| where 1', tables([]), 'pro'],
  ['%%sql\nselect * from shop.pr|o', tables(['shop']), 'pro'],
  ['%%sql\nselect * from "shop/eu".|', tables(['shop', 'eu'])],
  ['%%sql\nselect * from "shop/e|', tables(['shop'], true), '"shop/e'],
  ['%%sql\nselect * from "sh|"', tables([], true), '"sh"'],
  ['%%sql\nselect * from a, |', tables([])],
  ['%%sql\nselect * from a left join b|', tables([]), 'b'],
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
  ['%%sql\nselect ${na| + 1} from t', 'no SQL'],
  ['%%sql --to fe|w\nselect 1', 'no SQL'],
  ['const a = 1; a|', 'no SQL'],
];

suite('What SQL names in a cell', () => {
  for (const [marked, what, replaced = ''] of cases)
    test(JSON.stringify(marked.slice(5).trim()), () =>
      assert.deepEqual(namedAt(marked), typeof what === 'string' ? what : { what, replaced }),
    );
});

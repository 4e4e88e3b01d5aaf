import assert from 'node:assert/strict';
import { Bool, Field, Float64, Int64, Schema, Utf8 } from '#arrow';
import type { Table } from '#catalog/table/table.ts';
import { joinTerms, splitTerms } from '#shared/sqlTerms.ts';
import { Random } from '../model/random.ts';
import { forEachSubject } from '../subjects.ts';

const schema = new Schema([
  new Field('id', new Int64(), false),
  new Field('x', new Float64(), true),
  new Field('Odd and', new Int64(), true),
  new Field('t', new Utf8(), true),
  new Field('b', new Bool(), true),
]);
const strings = ['and', ' AND ', "it's", 'a OR b', '--', '/*', null, ''];
const rows = Array.from({ length: 60 }, (_, id) => ({
  id,
  x: [null, Number.NaN, -1, 0, 1.5, 7][id % 6],
  'Odd and': id % 5 === 0 ? null : id % 4,
  t: strings[id % strings.length],
  b: [true, false, null][id % 3],
}));

const seed = Number(process.env['FILTER_TERMS_SEED'] ?? 1);
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Writes a random condition whose top level has neither AND nor OR. */
function simple(random: Random, depth: number): string {
  const text = quoted(random.pick(strings) ?? 'null');
  const space = random.pick([' ', '  ', ' /* and b */ ', '\t', ' -- or a\n ']);
  const and = random.pick(['AND', 'and', 'And']);
  const kinds = [
    () => `x${space}>= ${random.pick([-1, 0, 1.5])}`,
    () => `x BETWEEN${space}0 ${and} 2`,
    () => `x not between ${random.pick([-1, 0])} ${and}${space}1`,
    () => `\`Odd and\` IN (1, 2)`,
    () => `t =${space}${text}`,
    () => `NOT contains(t, ${text})`,
    () => `t IS${space}NOT NULL`,
    () => 'b',
    () => `NOT${space}b`,
    () => `NOT isnan(x)`,
    () => `CAST(x AS DOUBLE) < \`Odd and\``,
    () => `(${condition(random, depth + 1)})`,
    () => `NOT (${condition(random, depth + 1)})`,
  ];
  return random.pick(depth > 2 ? kinds.slice(0, -2) : kinds)();
}

/** Writes a random condition. */
function condition(random: Random, depth = 0): string {
  const parts = Array.from({ length: 1 + random.below(3) }, () => simple(random, depth));
  return parts.reduce((text, part) => `${text}${random.pick([' AND ', ' and ', '\nAND\t', ' OR '])}${part}`);
}

forEachSubject('the terms of a filter', (makeCatalog) => {
  test(`find together the rows of the filter, in random filters (FILTER_TERMS_SEED=${seed})`, async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows, { schema });
    const random = new Random(seed);
    let split = 0;
    for (let round = 0; round < 60; round++) {
      const where = condition(random);
      const terms = splitTerms(where).map(({ text }) => text);
      if (terms.length > 1) split++;
      const wanted = await idsOf(table, where);
      const found = await Promise.all(terms.map((term) => idsOf(table, term)));
      assert.deepEqual(
        rows.map(({ id }) => id).filter((id) => found.every((ids) => ids.includes(id))),
        wanted,
        where,
      );
      assert.deepEqual(await idsOf(table, joinTerms(terms)), wanted, where);
      const others = terms.slice(1);
      const left = rows.map(({ id }) => id).filter((id) => found.slice(1).every((ids) => ids.includes(id)));
      if (others.length > 0) assert.deepEqual(await idsOf(table, joinTerms(others)), left, where);
    }
    assert.ok(split > 15, `${split} filters have several terms`);
  });
});

const idsOf = async (table: Table, where: string): Promise<number[]> =>
  (await table.query().where(where).select(['id']).toArray()).map(({ id }) => Number(id));

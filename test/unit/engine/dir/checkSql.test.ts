import assert from 'node:assert/strict';
import { checkSearchText, checkSql } from '#engine/dir/checkSql.ts';
import { isCatalogError } from '#shared/errors.ts';

const list = (count: number, make: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, i) => make(i));

suite('limits of SQL', () => {
  test('count what several texts hold together', () => {
    const half = list(6_000, () => 'b').join(' AND ');
    checkSql(half);
    assert.throws(() => checkSql(half, half), /more than 20000 words and signs/);
  });

  test('of a text to search are its words', () => {
    checkSearchText('row '.repeat(900));
    assert.throws(() => checkSearchText('row '.repeat(1_100)), /1100 words/);
    assert.throws(() => checkSearchText('x'.repeat(70_000)), /70000 characters/);
  });

  test('let through what people and programs write', () => {
    const sqls = [
      list(200, (i) => `(id = ${i} AND name LIKE 'it''s -- ${i}%' AND price BETWEEN 1 AND ${i})`).join(' OR '),
      `id IN (${list(10_000, String).join(', ')})`,
      `name IN (${list(10_000, (i) => `'key ${i}'`).join(',')}) -- ${'+ x'.repeat(1000)}`,
      list(60, (i) => `column_${i}`).join(' + '),
      `text = '${"it''s ".repeat(1000)}' /* ${'('.repeat(1000)} */`,
      '`a $ ` = 1 AND a$b IS NOT NULL',
      "day >= DATE'2024-01-01' AND at < TIMESTAMP'2024-01-01 00:00:00' AND s LIKE'a%' AND s IN('a', 'b')",
      "CASE WHEN x THEN'a' ELSE'b' END = 'a' AND data = X'6162'",
      `id IN (${list(100_000, (i) => `-${i}`).join(', ')})`,
      "s = 'C:\\' AND n = 'a' -- it's",
    ];
    sqls.push("s = 'a; b' AND `c;` = 1 -- ; d\n; -- end");
    for (const sql of sqls) checkSql(sql);
  });

  const bombs: Record<string, string> = {
    'a sum': `x${'+x'.repeat(1000)}=1`,
    casts: `x${'::int'.repeat(1000)}=1`,
    'casts to a type named AND': `x${'::and'.repeat(1000)}=1`,
    'a column named AND': `x${' LIKE and'.repeat(1000)}`,
    'ranges of ranges': `x${' BETWEEN 1 AND 2'.repeat(1000)}`,
    'questions of questions': `x = 1${' IS TRUE'.repeat(1000)}`,
    intervals: `x = ${'INTERVAL '.repeat(1000)}1`,
    'types of types': `CAST(x AS ${'ARRAY<'.repeat(20_000)}int${'>'.repeat(20_000)})`,
    parentheses: `${'('.repeat(1000)}x${')'.repeat(1000)}`,
    'a sum in parentheses of sums': `${'(x'.repeat(40)}${'+x+x+x)'.repeat(40)} = 1`,
    'a sum between quotes within dollars': `y = $$ ' $$ || ${'+x'.repeat(1000)} $$ ' $$`,
    'a long text': `y = '${'x'.repeat(5 * 2 ** 20)}'`,
    'many conditions': Array.from({ length: 20_000 }, () => 'b').join(' AND '),
    'a text that is not closed': "name = 'not closed",
    'a name that is not closed': 'name = `not closed',
    'a comment that is not closed': 'name = 1 /* not closed',
    'a quote behind a number sign': "#'a' = 1",
    'a quote behind the signs of a variable': "@@'a' = 1",
    'a text behind a letter that changes how it is read': "N'a' = 1",
    'bytes that are not in hexadecimal': "X'\\'' = 1",
    'bytes in two texts': "X'61''62' = 1",
    'a text behind a number': "1'a' = 1",
    'a text behind U&': "U&'a' = 1",
    'text behind a semicolon': 'x = 1; nonsense',
    'a quote behind a semicolon and a comment': "x = 1 /* ; */ ; -- ;\n 'a'",
    'two semicolons': 'x = 1;;',
  };
  for (const [name, sql] of Object.entries(bombs)) {
    test(`refuse ${name}`, () => {
      assert.throws(
        () => checkSql(sql),
        (error) => isCatalogError(error, 'InvalidInput'),
      );
    });
  }

  test('take no time over what is long', () => {
    const before = process.cpuUsage();
    for (const sql of ['/*'.repeat(10 ** 6), "'".repeat(3_999_999), '('.repeat(4 * 10 ** 6), ' '.repeat(4 * 10 ** 6)]) {
      try {
        checkSql(sql);
      } catch (error) {
        assert.ok(isCatalogError(error, 'InvalidInput'));
      }
    }
    // Compare processor time, because elapsed time depends on other processes.
    assert.ok(process.cpuUsage(before).user < 3_000_000);
  });
});

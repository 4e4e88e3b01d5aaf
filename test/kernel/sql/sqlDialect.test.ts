import assert from 'node:assert/strict';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { runCli } from '../../harness/runCli.ts';
import { run, sampleCatalog, startKernel, valueOf, errorOf } from '../support.ts';

/** Queries written for other databases, and what the error says to write. `at` is a column of rows of the notebook. */
const differences: readonly (readonly [query: string, message: RegExp])[] = [
  ['select at from shop.products', /at is a keyword: write .* "at"/],
  ['select name, count(*) from shop.products', /Add the column to group by, or write any_value\(column\)/],
  ['select id from shop.products where name = "red"', /Text is written in single quotes: 'red'/],
  ["select '3' + name from shop.products", /with ::/],
  ['select iif(id > 1, 1, 0) from shop.products', /Write if\(condition, yes, no\)/],
  ['select total(id) from shop.products', /Write coalesce\(sum\(x\), 0\)::double/],
  ["select datetime('now')", /Write now\(\)/],
  ["select julianday('2024-01-01')", /Write julian\(/],
  ["select date(name, 'start of month') from shop.products", /Write date_trunc\('month', x\)/],
  ['select char(65)', /Write chr\(65\)/],
  ['select id from both.orders', /both is a keyword: write a name as "both"/],
];

/** Next steps that differ, because the user can do other things in a terminal than in a notebook. */
const steps: readonly (readonly [query: string, cell: RegExp, terminal: RegExp])[] = [
  [
    'delete from shop.products',
    /await table\.delete\("id = 1"\)/,
    /lance-catalog run NOTEBOOK runs it: await table\.delete/,
  ],
  ['select 1; select 2', /one query per cell/, /Run the command once for each statement/],
  ["copy shop.products to 'x.csv'", /code of a cell/, /add -o FILE/],
  ['attach x', /Connections of the window/, /--catalog NAME=DIR/],
  ['show tables', /db\.listTables/, /lance-catalog list/],
  ['vacuum', /table\.optimize/, /lance-catalog optimize/],
  ["select * from read_csv('x.csv')", /in the code of a cell.*\$\{rows\}/, /to a table in a notebook/],
  ['with x as (select 1) delete from y', /await table\.update/, /insert into shop\.orders/],
];

suite('The dialect of SQL in a cell and in a terminal', function () {
  this.timeout(180_000);
  let kernel: KernelProcess;
  let root: string;
  suiteSetup(async () => {
    root = await sampleCatalog();
    kernel = await startKernel({ catalog: { implementation: 'dir', root } });
  });
  suiteTeardown(() => kernel?.shutdown());

  const inCell = async (query: string): Promise<string> =>
    String(errorOf((await run(kernel, `%%sql\n${query}`)).outputs)?.evalue);

  for (const [query, message] of differences)
    test(`says what to write for ${JSON.stringify(query)}`, async () => {
      const { code, stdout, stderr } = await runCli('sql', query, '--catalog', root);
      const [first = '', ...excerpt] = stderr.split('\n');
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(first, message);
      // If the engine says where, the terminal shows the query below the error, with a mark.
      if (first.includes('(line')) assert.ok(excerpt.includes(`> 1 | ${query}`), stderr);
      assert.match(await inCell(query), message);
    });

  for (const [query, cell, terminal] of steps)
    test(`names the next step for ${JSON.stringify(query)}`, async () => {
      const { code, stderr } = await runCli('sql', query, '--catalog', root);
      assert.ok(code === 1 || code === 2, String(code));
      assert.match(stderr, terminal);
      assert.doesNotMatch(stderr, /\bcell\b|\$\{|%%sql/);
      const error = await inCell(query);
      assert.match(error, cell);
      assert.doesNotMatch(error, /lance-catalog run/);
    });

  test('divides as DuckDB does', async () => {
    const { stdout } = await runCli('sql', 'select 7 / 2 as a, 7 // 2 as b', '--catalog', root, '--format', 'csv');
    assert.equal(stdout, 'a,b\r\n3.5,3\r\n');
    assert.equal(await valueOf(kernel, '(await sql`select 7 / 2 as a, 7 // 2 as b`.toArray())[0]'), '{ a: 3.5, b: 3 }');
  });
});

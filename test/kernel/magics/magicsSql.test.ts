import assert from 'node:assert/strict';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { cells, runStep } from '../cells.ts';
import { resultOf, run, sampleCatalog, startKernel, until, valueOf } from '../support.ts';

suite('SQL in cells', function () {
  this.timeout(120_000);
  let kernel: KernelProcess;
  suiteSetup(async () => {
    kernel = await startKernel({ catalog: { implementation: 'dir', root: await sampleCatalog() } });
    await run(kernel, 'const rowsOf = (table: arrow.Table) => table.toArray().map((row) => row.toJSON())');
  });
  suiteTeardown(() => kernel.shutdown());
  const notebook = () => kernel;

  test('%%sql joins tables of namespaces, and its result is shown as a table', async () => {
    const { outputs } = await run(
      kernel,
      `%%sql
select p.id, count(*) as times, sum(o.quantity) as many
from "shop/eu".orders o join shop.products p on p.id = o.product_id
group by p.id order by times desc, p.id limit 3`,
    );
    const shown = resultOf(outputs);
    assert.match(String(shown?.['text/plain']), /id +times +many/);
    assert.ok(shown && 'application/vnd.apache.arrow.stream' in shown);
    const checked = await valueOf(
      kernel,
      `const first = rowsOf(_)[0]!;
const bought = await (await db.openTable('orders', { namespacePath: ['shop', 'eu'] })).countRows('product_id = ' + first.id);
[BigInt(bought) === first.times, _.numRows]`,
    );
    assert.equal(checked, '[ true, 3 ]');
  });

  cells(
    '%%sql takes values of the notebook, and gives its result the name that is wanted',
    notebook,
    { cell: 'const least = 3, most = 5' },
    {
      cell: '%%sql --to few\nselect id from shop.products where id between ${least} and ${most} order by id',
      value: /3[^]*4[^]*5/,
    },
    { cell: 'rowsOf(few).map(({ id }) => id)', value: '[ 3n, 4n, 5n ]' },
    { cell: '%%sql\nselect `id` from "shop/products" limit 1', value: /id/ },
    {
      cell: '\n%%sql --to few\nselect 1,\n  ${nope}',
      error: /Cannot find name 'nope'/,
      trace: /^\[\d+\]:4:5 - error TS\d+: .*\n4 \| {3}\$\{nope\}\n {8}\^{4}$/,
    },
    { cell: '%%sql\nselect nope', error: /^CatalogError: SQL: no such column/, trace: /^CatalogError: [^\n]*$/ },
    { cell: '%%sql\nselct 1', error: /^CatalogError: Expected a query, got "selct"/, trace: /^CatalogError: [^\n]*$/ },
    { cell: '%%sql --to class\nselect 1', error: /%%sql: "class" is a reserved word/ },
    { cell: 'const _ = "mine"' },
    { cell: '%%sql\nselect 1 as one', value: /one/ },
    { cell: '_', value: "'mine'" },
    { cell: '%%sql --into x\nselect 1', error: /%%sql: Write the query on the lines below/ },
    { cell: '%%sql', error: /%%sql: There is no query/ },
  );

  test('%%sql gives its result to _ also where the query before it failed', async () => {
    const other = await startKernel();
    try {
      await runStep(other, { cell: '%%sql\nselct 1', error: /Expected a query, got "selct"/ });
      await runStep(other, { cell: '%%sql\nselect 2 as two', value: /two/ });
      await runStep(other, { cell: '_.numRows', value: '1' });
    } finally {
      await other.shutdown();
    }
  });

  cells('sql`…` leaves the warnings of the process as they were, also when two load SQLite at once', notebook, {
    cell: `const warns = process.emitWarning;
await Promise.all([sql\`select 1\`, sql\`select 2\`]);
process.emitWarning === warns`,
    value: 'true',
  });

  cells(
    'sql`…` gives a table of Arrow, and takes values and lists, never text of the query',
    notebook,
    {
      cell: 'rowsOf(await sql`select ${"it\'s"} as text, ${true} as yes, ${null} as none, ${12n} as big, ${1.5} as half`)',
      value: '[ { text: "it\'s", yes: 1n, none: null, big: 12n, half: 1.5 } ]',
    },
    {
      cell: 'rowsOf(await sql`select count(*) as n from shop.products where id in (${[1, 2, 999999]})`)',
      value: '[ { n: 2n } ]',
    },
    { cell: 'rowsOf(await sql`select ${new Date(0)} as moment`)', value: "[ { moment: '1970-01-01 00:00:00.000' } ]" },
    { cell: 'await sql`select ${{} as never}`', error: /^CatalogError: Can't use a value of type object in a query/ },
  );

  cells(
    'sql`…` says of a ${…} where SQLite takes no value how to write it, and leaves out one in a comment',
    notebook,
    {
      cell: 'await sql`select count(*) from shop.products where id not in ${[1, 2]}`',
      error: /^CatalogError: SQL: the \$\{…\} after in has no parentheses\. Write in \(\$\{…\}\)\.$/,
    },
    {
      cell: "await sql`select ${1}, 'it''s ${2} of' || '?'`",
      error: /^CatalogError: SQL: the string 'it''s \$\{…\} of' contains \$\{…\}, .*\. Write \$\{…\} without quotes/,
    },
    {
      cell: '%%sql\nselect * from "${"shop"}".products',
      error: /^CatalogError: SQL: the name "\$\{…\}" contains \$\{…\}, .*\. Write names of tables and columns in full/,
    },
    { cell: 'await sql`select * from ${"shop"}`', error: /near "\?".*\. \$\{…\} is a value: write names/ },
    {
      cell: 'rowsOf(await sql`select ${"a"} as a, -- ${"b"} as b,\n /* ${[1, 2]} */ ${"c"} as c where 3 not in (${[1, 2]}) and 3 not in ( ${[]} )`)',
      value: "[ { a: 'a', c: 'c' } ]",
    },
  );

  cells(
    'sql`…` keeps the types of columns, and says times and what is nested as SQLite has functions for them',
    notebook,
    {
      cell: `await db.createTable('typed', [
        { id: 9007199254740993n, yes: true, text: 'ä', number: 1.5, when: new Date('2024-02-03T04:05:06.789Z'), vector: [1, 2.5], bytes: new Uint8Array([1, 2]) },
        { id: 2n, yes: false, text: null, number: null, when: null, vector: null, bytes: null },
      ], { mode: 'overwrite' });
      const typed = await sql\`select id, yes, text, number, "when", vector, bytes, strftime('%Y', "when") as year, json_array_length(vector) as length from typed\`;
      rowsOf(typed)[0]!.id`,
      value: '9007199254740993n',
    },
    {
      cell: 'const [one, two] = rowsOf(typed); [one!.yes, one!.text, one!.number, one!.when, one!.year, one!.length, [...one!.bytes]]',
      value: /^\[\s*true,\s*'ä',\s*1\.5,\s*'2024-02-03 04:05:06\.789',\s*'2024',\s*2n,\s*\[ 1, 2 \]\s*\]$/,
    },
    { cell: 'JSON.parse(one!.vector)', value: '[ 1, 2.5 ]' },
    { cell: '[two!.yes, two!.text, two!.number, two!.when]', value: '[ false, null, null, null ]' },
    { cell: 'rowsOf(await sql`select count(*) as n from typed where id > 9007199254740992`)', value: '[ { n: 1n } ]' },
    { cell: '(await sql`select id, text from typed where id < 0`).numRows', value: '0' },
    {
      cell: '(await sql`select a.id, b.id from typed a, typed b`).schema.fields.map(({ name }) => name)',
      value: "[ 'id', 'id_2' ]",
    },
    {
      cell: 'const cheap = (await sql`select price from shop.products where price < 20`).numRows; const shop = await db.openTable("products", { namespacePath: ["shop"] }); cheap === await shop.countRows("price < 20") && cheap > 0',
      value: 'true',
    },
  );

  cells(
    'sql`…` reads only, and says what is wrong with what it is given',
    notebook,
    {
      cell: 'await sql`delete from shop.products`',
      error: /^CatalogError: Expected a query, got "delete": SQL is read-only here/,
    },
    {
      cell: 'await sql`with x as (select 1) delete from typed`',
      error: /^CatalogError: SQL: attempt to write a readonly database/,
    },
    { cell: 'await sql`select 1; select 2`', error: /There is more than one query/ },
    { cell: 'await sql`selec 1`', error: /Expected a query, got "selec"/ },
    {
      cell: 'await sql`select * from shop.product`',
      error: /^CatalogError: There is no table shop\.product in .*There are products/s,
    },
    {
      cell: 'await sql`select nope from shop.products`',
      error: /no such column: nope\. Columns of products: id, \w+, /,
    },
    {
      cell: 'await sql`select * from shop.eu.orders`',
      error: /Write a table in nested namespaces as "shop\/eu"\.orders/,
    },
    {
      cell: 'const kept = db; (db as unknown) = 5; await sql`select * from typed`',
      error: /db is no longer a catalog/,
    },
    { cell: 'db = kept; rowsOf(await sql`values (1)`).length', value: '1' },
  );

  cells(
    'sql`…` reads no more of large tables than it can hold, and little where it is limited',
    notebook,
    {
      cell: 'await sql`select count(*) from "shop/eu".orders a, "shop/us".prices b, "shop/eu/orders" c`',
      error: /^CatalogError: .*orders has 1,000,000 rows.*, but a query reads at most 2,000,000 rows\./,
    },
    { cell: '(await sql`select * from "shop/eu".orders limit 5`).numRows', value: '5' },
  );

  test('%%sql is interrupted while it reads, and the notebook goes on', async () => {
    let isShown = false;
    let seen = '';
    const running = kernel.execute(
      '%%sql\nselect country, count(*) from "shop/eu".orders group by country',
      (output) => {
        isShown ||= output.type === 'display_data';
        if ('data' in output.content) seen = String(output.content.data['text/plain']);
      },
    );
    await until('the progress of reading', () => isShown);
    await kernel.interrupt();
    const reply = await running;
    assert.equal(reply.status === 'error' && reply.ename, 'Interrupted');
    assert.match(seen, /^Reading orders: (?:stopped at )?[\d,]+ of 1,000,000 rows \(\d+ %\)/);
    assert.equal(await valueOf(kernel, 'least + most'), '8');
  });
});

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
    { cell: '%%sql fewer\nselect 7 as seven', value: /seven/ },
    { cell: 'fewer.numRows', value: '1' },
    { cell: '%%sql\nselect "id" from "shop/products" limit 1', value: /id/ },
    {
      cell: '\n%%sql --to few\nselect 1,\n  ${nope}',
      error: /Cannot find name 'nope'/,
      trace: /^\[\d+\]:4:5 - error TS\d+: .*\n4 \| {3}\$\{nope\}\n {8}\^{4}$/,
    },
    {
      cell: '%%sql\nselect nope',
      error: /^CatalogError: SQL: referenced column "nope" .*\(line 2, column 8\)/,
      trace: /^CatalogError: [^\n]*$/,
    },
    { cell: '%%sql\nselct 1', error: /^CatalogError: Expected a query, got "selct"/, trace: /^CatalogError: [^\n]*$/ },
    { cell: '%%sql --to class\nselect 1', error: /%%sql: "class" is a reserved word/ },
    // The places count the text of values as the user wrote it.
    {
      cell: '%%sql\nselect ${least + most}, nope from shop.products where id in (${[1, 2]})',
      error: /"nope" .*\(line 2, column 25\)/,
    },
    { cell: '%%sql\nselect ${least +\n  most}, nope from shop.products', error: /"nope" .*\(line 3, column 10\)/ },
    { cell: '%%sql\nselect ${"`"} || ${{ a: "b" }.a} as text', value: /`b/ },
    { cell: 'await sql`select ${least}, nope from shop.products`', error: /"nope" [^(]*\(line 1\)/ },
    { cell: 'await sql`select ${least},\n nope from shop.products`', error: /"nope" [^(]*\(line 2, column 2\)/ },
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

  cells('sql`…` leaves the warnings of the process as they were, also when two start the engine at once', notebook, {
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
      value: '[ { text: "it\'s", yes: true, none: null, big: 12, half: 1.5 } ]',
    },
    {
      cell: 'rowsOf(await sql`select count(*) as n from shop.products where id in (${[1, 2, 999999]})`)',
      value: '[ { n: 2n } ]',
    },
    { cell: '(await sql`select ${new Date(5)} as moment`.toArray())[0]!.moment', value: '1970-01-01T00:00:00.005Z' },
    { cell: 'await sql`select ${{} as never}`', error: /^CatalogError: Can't use a value of type object in a query/ },
  );

  cells(
    'sql`…` says of a ${…} where SQL takes no value how to write it, and leaves out one in a comment',
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
    { cell: 'await sql`select * from ${"shop"}`', error: /after from has no rows.*\. \$\{…\} is a value: write names/ },
    {
      cell: 'rowsOf(await sql`select ${"a"} as a, -- ${"b"} as b,\n /* ${[1, 2]} */ ${"c"} as c where 3 not in (${[1, 2]}) and 3 not in ( ${[]} )`)',
      value: "[ { a: 'a', c: 'c' } ]",
    },
  );

  cells(
    'sql`…` keeps the types of columns, also of times and of what is nested',
    notebook,
    {
      cell: `await db.createTable('typed', [
        { id: 9007199254740993n, yes: true, text: 'ä', number: 1.5, when: new Date('2024-02-03T04:05:06.789Z'), vector: [1, 2.5], bytes: new Uint8Array([1, 2]) },
        { id: 2n, yes: false, text: null, number: null, when: null, vector: null, bytes: null },
      ], { mode: 'overwrite' });
      const typed = await sql\`select id, yes, text, number, "when", vector, bytes, strftime("when", '%Y') as year, len(vector) as length from typed\`;
      rowsOf(typed)[0]!.id`,
      value: '9007199254740993n',
    },
    {
      cell: 'const [one, two] = rowsOf(typed); [one!.yes, one!.text, one!.number, one!.when, one!.year, one!.length, [...one!.bytes]]',
      value: /^\[\s*true,\s*'ä',\s*1\.5,\s*1706933106789,\s*'2024',\s*2n,\s*\[ 1, 2 \]\s*\]$/,
    },
    {
      cell: 'const source = await (await db.openTable("typed")).schema(); [typed.schema.fields.slice(0, 7).map((field) => String(field.type)).join() === source.fields.map((field) => String(field.type)).join(), String(typed.schema.fields[5]!.type)]',
      value: "[ true, 'FixedSizeList[2]<Float32>' ]",
    },
    { cell: '[...one!.vector]', value: '[ 1, 2.5 ]' },
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
      error: /^CatalogError: Expected a query, got "delete"\. To delete rows, write await table\.delete/,
    },
    {
      cell: 'await sql`with x as (select 1) delete from typed`',
      error: /^CatalogError: Expected a query, got a statement that changes data\. .*table\.delete/,
    },
    { cell: 'await sql`select 1; select 2`', error: /There is more than one query/ },
    { cell: 'await sql`selec 1`', error: /Expected a query, got "selec"/ },
    {
      cell: 'await sql`select * from shop.product`',
      error: /^CatalogError: There is no table shop\.product in .*Did you mean shop\.products\?/s,
    },
    {
      cell: 'await sql`select nope from shop.products`',
      error: /column "nope" not found in FROM clause \(line 1, column 8\)\. Columns of products: id, \w+, /,
    },
    {
      cell: 'await sql`select * from shop.eu.nope`',
      error:
        /There is no table shop\.eu\.nope in .*The namespace shop\/eu has the tables orders, returns\. Write a table in nested namespaces as "shop\/eu"\.orders/,
    },
    {
      cell: 'const kept = db; (db as unknown) = 5; await sql`select * from typed`',
      error: /db is no longer a catalog/,
    },
    { cell: 'db = kept; rowsOf(await sql`values (1)`).length', value: '1' },
  );

  cells(
    'sql`…` reads tables of any size, and little where it is limited',
    notebook,
    {
      cell: 'rowsOf(await sql`select count(*) as n from "shop/eu".orders a join "shop/eu/orders" b on a.id = b.id join "shop/eu".orders c on a.id = c.id`)',
      value: '[ { n: 1000000n } ]',
    },
    { cell: '(await sql`select * from "shop/eu".orders limit 5`).numRows', value: '5' },
  );

  cells(
    'sql`…` reads rows and tables of the notebook after from and join, and catalogs by their names',
    notebook,
    {
      cell: 'const pairs = [{ id: 1, label: "one" }, { id: 2, label: "two" }]; rowsOf(await sql`select label from ${pairs} r join shop.products p on p.id = r.id order by 1`)',
      value: "[ { label: 'one' }, { label: 'two' } ]",
    },
    {
      cell: 'const labels = await sql`select * from ${pairs}`; rowsOf(await sql`select a.label from ${pairs} a, ${labels} b where a.id = b.id and b.id > ${1}`)',
      value: "[ { label: 'two' } ]",
    },
    { cell: 'await sql`select * from ${[]}`', error: /has no rows, so its columns are unknown/ },
    {
      cell: 'const company = await connect(db.location); rowsOf(await sql`select count(*) as n from company.shop.products a join shop.products b on a.id = b.id`)[0]!.n > 0n',
      value: 'true',
    },
    { cell: 'await sql`select * from nobody.shop.products`', error: /There is no table nobody\.shop\.products/ },
  );

  cells(
    'sql`…` writes a table of its rows, or none',
    notebook,
    {
      cell: 'rowsOf(await sql`create table top as select id, price from shop.products order by price desc limit 3`)',
      value: '[ { rows: 3n } ]',
    },
    { cell: 'rowsOf(await sql`insert into top (price, id) select 1.5, 7`)', value: '[ { rows: 1n } ]' },
    {
      cell: 'rowsOf(await sql`select count(*) as n, min(price)::double as least from top`)',
      value: '[ { n: 4n, least: 1.5 } ]',
    },
    { cell: 'await sql`create table top as select 1 as id`', error: /exists already\. Write create or replace table/ },
    { cell: 'await sql`insert into top select 1`', error: /The query has 1 columns, and top has 2/ },
    { cell: "await sql`create table broken as select id, error('stop') as x from shop.products`", error: /SQL: / },
    { cell: 'await db.tableExists("broken")', value: 'false' },
    { cell: 'rowsOf(await sql`insert into top select * from top where id < 0`)', value: '[ { rows: 0n } ]' },
    { cell: 'await db.dropTable("top"); await sql`drop table top`', error: /write await db\.dropTable/ },
  );

  test('%%sql is interrupted while it reads, and the notebook goes on', async () => {
    let isShown = false;
    let seen = '';
    const running = kernel.execute(
      // The engine has so much to do for each row that it reads slowly.
      `%%sql\nselect count(*) from "shop/eu".orders where sha256(repeat('x', 10000 + id % 2)) <> 'a'`,
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

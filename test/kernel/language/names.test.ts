import assert from 'node:assert/strict';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { run, sampleCatalog, startKernel } from '../support.ts';

suite('completion in a kernel', function () {
  this.timeout(60_000);
  let kernel: KernelProcess;

  /** Returns the completions at the end of code, and the text that they replace. */
  async function offered(code: string): Promise<{ texts: string[]; replaced: string }> {
    const { matches, cursorStart, cursorEnd } = await kernel.complete(code, code.length);
    return { texts: matches.map(({ text }) => text), replaced: code.slice(cursorStart, cursorEnd) };
  }

  suiteSetup(async () => {
    const root = await sampleCatalog();
    kernel = await startKernel({ catalog: { implementation: 'dir', root } });
    const { reply } = await run(
      kernel,
      `const nested = (await db.listNamespaces()).namespaces;
       const names = await db.tableNames(['shop']);
       const table = await db.openTable('products', ['shop']);
       const columns = (await table.schema()).fields.map((field) => field.name);
       const again = await connect(${JSON.stringify(root)});`,
    );
    assert.equal(reply.status, 'ok', JSON.stringify(reply));
  });
  suiteTeardown(() => kernel.shutdown());

  const listed = async (expression: string): Promise<string[]> => {
    const { outputs } = await run(kernel, `console.log(JSON.stringify(${expression}))`);
    const text = outputs.find((output) => output.type === 'stream')?.content.text ?? '[]';
    return JSON.parse(text) as string[];
  };

  test('names the tables of db', async () => {
    const { matches } = await kernel.complete("db.openTable('', ['shop'])", "db.openTable('".length);
    assert.deepEqual(
      matches.map(({ text }) => text),
      await listed('names'),
    );
  });

  test('names the tables of all namespaces as arguments of the call', async () => {
    const { texts, replaced } = await offered("await db.openTable('");
    assert.equal(replaced, '');
    assert.ok(texts.includes("products', ['shop']"), texts.join());
    assert.ok(texts.includes("orders', ['shop', 'eu']"), texts.join());
    assert.deepEqual((await offered('await db.tableExists("prod')).texts, ['products", ["shop"]']);
    const closed = "await db.openTable('ret')";
    const { matches, cursorStart, cursorEnd } = await kernel.complete(closed, closed.length - 2);
    assert.deepEqual(
      matches.map(({ text }) => text),
      ["returns', ['shop', 'eu']"],
    );
    const completed = closed.slice(0, cursorStart) + matches[0]?.text + closed.slice(cursorEnd);
    assert.equal(completed, "await db.openTable('returns', ['shop', 'eu'])");
    const { reply } = await run(kernel, completed);
    assert.equal(reply.status, 'ok');
    assert.deepEqual((await offered("db.copy(['shop', 'prod")).texts, ['products']);
  });

  test('names the tables of a catalog that a cell connected to', async () => {
    assert.deepEqual((await offered("again.listTables(['")).texts, await listed('nested'));
    assert.deepEqual((await offered("nested.listTables(['")).texts, [], 'a variable that is no catalog');
  });

  test('names namespaces', async () => {
    assert.deepEqual((await offered("db.listTables(['")).texts, await listed('nested'));
  });

  test('names the columns of a table that a variable holds', async () => {
    const columns = await listed('columns');
    assert.ok(columns.length > 0);
    assert.deepEqual((await offered("table.query().select(['")).texts, columns);
    const first = columns[0] ?? '';
    const begun = first.slice(0, 1);
    const { texts, replaced } = await offered(`table.query().where('${begun}`);
    assert.ok(texts.includes(first), texts.join());
    assert.equal(replaced, begun);
  });

  test('names the columns of a table that is opened in the cell itself', async () => {
    const code = "const t = await db.openTable('products', ['shop']);\nt.query().select(['";
    assert.deepEqual((await offered(code)).texts, await listed('columns'));
  });

  test('says of functions how they are called', async () => {
    const { matches } = await kernel.complete('db.', 3);
    const open = matches.find(({ text }) => text === 'openTable');
    assert.equal(open?.kind, 'method');
    assert.match(open.signature ?? '', /^\(name: string, options\?: OpenTableOptions\): Promise<Table>/);
  });

  test('names tables, namespaces and columns in %%sql', async () => {
    const from = await offered('%%sql\nselect * from ');
    assert.ok(from.texts.includes('shop.products'), from.texts.join());
    assert.ok(from.texts.includes('"shop/eu".orders'), from.texts.join());
    assert.deepEqual((await offered('%%sql\nselect * from prod')).texts, ['shop.products']);
    assert.deepEqual(await offered('%%sql\nselect * from shop.eu.or'), {
      texts: ['"shop/eu".orders'],
      replaced: 'shop.eu.or',
    });
    assert.ok((await offered('%%sql\nselect * from shop.pro')).texts.includes('products'));
    const { texts, replaced } = await offered('%%sql\nselect * from "shop/');
    assert.ok(texts.includes('"shop/eu"'), texts.join());
    assert.equal(replaced, '"shop/');
    const columns = await listed('columns');
    const { matches } = await kernel.complete('%%sql\nselect  from shop.products p where id > 3', 13);
    assert.deepEqual(
      matches.slice(0, columns.length).map(({ text }) => text),
      columns,
    );
    const types = matches.flatMap(({ kind, signature }) => (kind === 'column' ? [signature] : []));
    assert.ok(types.length === columns.length && types.every((type) => type !== undefined), 'columns have types');
    assert.ok(matches.some(({ text, kind }) => text === 'count' && kind === 'function'));
    assert.ok(matches.some(({ text, kind }) => text === 'case' && kind === 'keyword'));
    assert.deepEqual((await offered('%%sql\nselect * from shop.products p where p.')).texts, columns);
    assert.deepEqual((await offered("%%sql\nselect * from shop.products where kind = 'a")).texts, []);
  });

  test('offers in %%sql no name of TypeScript, and in its ${…} only those', async () => {
    for (const code of [
      'sel',
      'select ',
      'select * from ',
      'select id from shop.products ',
      'select co',
      "select 'a",
    ]) {
      const { matches } = await kernel.complete(`%%sql\n${code}`, 6 + code.length);
      const kinds = new Set(matches.map(({ kind }) => kind));
      for (const kind of kinds)
        assert.ok(['table', 'namespace', 'column', 'alias', 'function', 'keyword'].includes(kind), kind);
      assert.ok(!matches.some(({ text }) => ['columns', 'console', 'await', 'Map'].includes(text)), code);
    }
    const inValue = await offered('%%sql\nselect * from shop.products where id = ${col');
    assert.ok(inValue.texts.includes('columns'));
    assert.equal(inValue.replaced, 'col');
    const member = '%%sql\nselect ${columns.len} from shop.products';
    const { matches } = await kernel.complete(member, member.indexOf('}'));
    assert.deepEqual(
      matches.map(({ text }) => text),
      ['length'],
    );
  });

  test('finds a table that a cell has created since', async () => {
    assert.deepEqual((await offered('%%sql\nselect * from completed_')).texts, []);
    const { reply } = await run(kernel, "await db.createTable('completed_table', [{ id: 1 }], { mode: 'overwrite' })");
    assert.equal(reply.status, 'ok');
    assert.deepEqual((await offered('%%sql\nselect * from completed_')).texts, ['completed_table']);
    await run(kernel, "await db.dropTable('completed_table')");
  });

  test('offers nothing of a catalog that fails, and no error', async () => {
    assert.deepEqual((await offered("db.openTable('', { namespacePath: ['none', '")).texts, []);
  });

  test('knows code below the line of a magic', async () => {
    assert.ok((await offered('%cd ..\nnames.at')).texts.includes('at'));
  });
});

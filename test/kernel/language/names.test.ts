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
    assert.deepEqual(await offered("await db.openTable('"), {
      texts: await listed('(await db.tableNames())'),
      replaced: '',
    });
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
    assert.deepEqual(from.texts, [...(await listed('(await db.tableNames())')), ...(await listed('nested'))]);
    assert.ok((await offered('%%sql\nselect * from shop.pro')).texts.includes('products'));
    const { texts, replaced } = await offered('%%sql\nselect * from "shop/');
    assert.ok(texts.includes('"shop/eu"'), texts.join());
    assert.equal(replaced, '"shop/');
    const columns = await listed('columns');
    const { matches } = await kernel.complete('%%sql\nselect  from shop.products p where id > 3', 13);
    assert.deepEqual(
      matches.map(({ text }) => text),
      columns,
    );
    assert.deepEqual((await offered('%%sql\nselect * from shop.products p where p.')).texts, columns);
    assert.deepEqual((await offered("%%sql\nselect * from shop.products where kind = 'a")).texts, []);
    assert.ok((await offered('%%sql\nselect * from shop.products where id = ${col')).texts.includes('columns'));
  });

  test('offers nothing of a catalog that fails, and no error', async () => {
    assert.deepEqual((await offered("db.openTable('', { namespacePath: ['none', '")).texts, []);
  });

  test('knows code below the line of a magic', async () => {
    assert.ok((await offered('%cd ..\nnames.at')).texts.includes('at'));
  });
});

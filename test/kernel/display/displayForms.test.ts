import assert from 'node:assert/strict';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { arrowStreamMime } from '#shared/mime.ts';
import type { KernelOutput, MimeBundle } from '#shared/protocol/kernelMessages.ts';
import { errorOf, printed, resultOf, run, sampleCatalog, startKernel } from '../support.ts';

const displayed = (outputs: readonly KernelOutput[]): MimeBundle[] =>
  outputs.filter((output) => output.type === 'display_data').map((output) => output.content.data);

suite('The forms of an output', function () {
  this.timeout(60_000);
  let kernel: KernelProcess;
  suiteSetup(async () => {
    kernel = await startKernel({ catalog: { implementation: 'dir', root: await sampleCatalog() } });
  });
  suiteTeardown(() => kernel.shutdown());

  const text = async (code: string): Promise<string> => {
    const { outputs } = await run(kernel, code);
    return errorOf(outputs)?.evalue ?? String(resultOf(outputs)?.['text/plain']);
  };

  for (const [code, mimes] of [
    [`display.html('<b>x</b>')`, ['text/html', 'text/plain']],
    [`display.markdown('**x**')`, ['text/markdown', 'text/plain']],
    [`display.latex('x^2')`, ['text/latex', 'text/plain']],
    [`display.svg('<svg xmlns="http://www.w3.org/2000/svg"/>')`, ['image/svg+xml', 'text/plain']],
    [`display.json({ a: [1n] })`, ['application/json', 'text/plain']],
    [`display.vegaLite({ mark: 'bar' })`, ['application/vnd.vegalite.v5+json', 'text/plain']],
    [
      `display.vegaLite({ $schema: 'https://vega.github.io/schema/vega-lite/v6.json', mark: 'bar' })`,
      ['application/vnd.vegalite.v6+json', 'text/plain'],
    ],
    [
      `display.vegaLite({ $schema: 'https://vega.github.io/schema/vega/v5.json', marks: [] })`,
      ['application/vnd.vega.v5+json', 'text/plain'],
    ],
    [`display.plotly([{ x: [1], y: [2] }])`, ['application/vnd.plotly.v1+json', 'text/plain']],
    [`display.image('data:image/gif;base64,R0lGODlhAwAFAIAAAP///wAAACH5BAEAAAAA')`, ['image/gif', 'text/plain']],
    [`display(Buffer.from('GIF89a...........'))`, ['image/gif', 'text/plain']],
    [`display(arrow.vectorFromArray([1, 2, 3]))`, [arrowStreamMime, 'text/html', 'text/plain']],
    [`display(arrow.tableFromArrays({ n: [1] }).schema)`, ['text/html', 'text/plain']],
  ] as const) {
    test(`${code.slice(0, 60)} gives ${mimes[0]}`, async () => {
      const { outputs } = await run(kernel, code);
      assert.equal(errorOf(outputs)?.traceback.join('\n'), undefined);
      assert.deepEqual(displayed(outputs).map(Object.keys), [[...mimes]]);
    });
  }

  test('draws charts of queries, of tables and of SQL, and says when rows are missing', async () => {
    const code = `const orders = await db.openTable('orders', ['shop', 'eu']);
const chart = (values: unknown) => ({ mark: 'point', data: { values }, encoding: { x: { field: 'id' } } });
await display.vegaLite(chart(orders.query().select(['id']).limit(2)));
display.vegaLite(chart(orders), { limit: 3 });
display.vegaLite(chart(await sql\`select id, name from shop.products order by id limit 4\`));
display.plotly([{ x: (await orders.query().select(['id']).limit(5).toArrow()).getChild('id') }])`;
    const { outputs, reply } = await run(kernel, code);
    assert.equal(reply.status, 'ok', JSON.stringify(errorOf(outputs)));
    type Form = { data: { values?: unknown[] } | { x: unknown[] }[] };
    const lengths = displayed(outputs).map((forms) => {
      const { data } = Object.values(forms)[0] as Form;
      return (Array.isArray(data) ? data[0]?.x : data.values)?.length ?? 0;
    });
    assert.deepEqual(
      lengths.toSorted((a, b) => a - b),
      [2, 3, 4, 5],
    );
    assert.equal(
      printed(outputs),
      'The chart draws the first 3 rows. Aggregate the rows first, for example with sql, or pass { limit: 30 } as a second argument.\n',
    );
    assert.match(
      await text(`display.vegaLite({ mark: 'bar', data: { values: orders.query().where('nope = 1') } })`),
      /nope/,
    );
  });

  test('has a formula between the signs that notebooks look for, once', async () => {
    const { outputs } = await run(kernel, `display.latex('x^2'); display.latex('$x^2$');`);
    assert.deepEqual(
      displayed(outputs).map((data) => data['text/latex']),
      ['$$x^2$$', '$x^2$'],
    );
  });

  test('refuses a value that is neither a chart nor an image, and names the supported ones', async () => {
    assert.match(
      await text(`display.vegaLite([] as any)`),
      /Expected a chart specification for display\.vegaLite\. Pass/,
    );
    assert.match(await text(`display.plotly({} as any)`), /Expected a chart specification for display\.plotly\. Pass/);
    assert.match(
      await text(`await display.image('no picture')`),
      /Expected an image for display\.image\. Pass the bytes/,
    );
    assert.match(
      await text(`display(1, { limit: 0 })`),
      /Expected a positive integer for "limit", got 0\. Pass 1 or more/,
    );
    assert.match(
      await text(`progress(7 as any)`),
      /Expected an iterable or an async iterable for progress\. Pass an array/,
    );
  });

  test('fails its cell once if a display that is not awaited fails', async () => {
    const { outputs, reply } = await run(
      kernel,
      `display({ toHtml: async () => { throw new RangeError('from toHtml'); } }); await new Promise((r) => setTimeout(r, 50)); 'done'`,
    );
    assert.equal(reply.status, 'error');
    assert.deepEqual(
      outputs.filter((output) => output.type === 'error').map((output) => output.content.ename),
      ['RangeError'],
    );
    assert.equal(outputs.filter((output) => output.type === 'stream').length, 0);
  });

  test('of db is a card that says where it is and what it holds', async () => {
    const { outputs } = await run(kernel, 'db');
    const data = resultOf(outputs);
    assert.match(
      String(data?.['text/plain']),
      /^Catalog\nkind +dir\nlocation .*\nnamespaces +lab, shop\ntables +none$/,
    );
    assert.match(String(data?.['text/html']), />namespaces<\/td><td [^>]*>lab, shop<\/td>/);
  });

  test('of a catalog that does not answer says why, without what may be a key', async () => {
    const code = `await connect('https://name:pass@127.0.0.1:1/path?key=secret').catch((error) => error.message)`;
    assert.doesNotMatch(await text(code), /pass|secret/);
    const card = await text(`const far = connectNamespace('rest', { uri: 'http://127.0.0.1:1' }); await far`);
    assert.match(card, /127\.0\.0\.1:1/);
  });

  test('of a table handle begins with its name, version and indexes', async () => {
    const { outputs } = await run(
      kernel,
      `const indexed = await db.createTable('indexed', [{ id: 1 }, { id: 2 }], ['lab']);
       await indexed.createIndex('id');
       indexed`,
    );
    const data = resultOf(outputs);
    assert.match(String(data?.['text/plain']), /^lab\/indexed · version \d+ · index: id \(BTREE\)\n\nid\n1\n2\n/);
    assert.match(String(data?.['text/html']), /<strong>lab\/indexed<\/strong>/);
    await run(kernel, `await db.dropTable('indexed', ['lab'])`);
  });

  test('of an error that is a value has the lines of the cell', async () => {
    assert.match(
      await text(`function make() { return new TypeError('kept'); }\nmake()`),
      /^TypeError: kept\n\s+at make .*:1:\d+/,
    );
  });

  test('of more rows than usual are as many as are asked for', async () => {
    const { outputs } = await run(
      kernel,
      `display((await db.openTable('orders', ['shop', 'eu'])).query().select(['id']), { limit: 5000 })`,
    );
    const [shown] = outputs.filter((output) => output.type === 'display_data');
    assert.deepEqual(shown?.content.metadata[arrowStreamMime], { total_rows: null, included_rows: 5000 });
  });
});

suite('db of a notebook without a catalog', function () {
  this.timeout(60_000);

  test('is shown as what it is, with the ways to choose one', async () => {
    const kernel = await startKernel();
    try {
      const { outputs, reply } = await run(kernel, 'db');
      assert.equal(reply.status, 'ok');
      assert.match(
        String(resultOf(outputs)?.['text/plain']),
        /^Catalog \(none chosen\)\nNo catalog is chosen for this notebook, .* Choose one in the editor/,
      );
    } finally {
      await kernel.shutdown();
    }
  });
});

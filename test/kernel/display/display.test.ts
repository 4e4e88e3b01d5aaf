import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableFromIPC } from '#arrow';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { imageMime } from '#shared/format/images.ts';
import { arrowStreamMime, decodeBase64, type TableOutputMetadata } from '#shared/mime.ts';
import type { MimeBundle } from '#shared/protocol/kernelMessages.ts';
import { npm, quietInstall } from '../../../scripts/npm.mjs';
import { inRoot } from '../../../scripts/paths.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { command, errorOf, resultOf, run, sampleCatalog, startKernel } from '../support.ts';

const rowsOf = (data: MimeBundle | undefined) => tableFromIPC(decodeBase64(String(data?.[arrowStreamMime])));

/** Returns code of a value with its own representations, one of them given as code. */
const own = (form: string) => `({ [Symbol.for('Jupyter.display')]: () => ({ 'text/plain': 'a', 'x/y': ${form} }) })`;

suite('A table in a notebook output', function () {
  this.timeout(60_000);
  let kernel: KernelProcess;
  suiteSetup(async () => {
    kernel = await startKernel({ catalog: { implementation: 'dir', root: await sampleCatalog() } });
  });
  suiteTeardown(() => kernel.shutdown());

  test('shows a table that Arrow makes of empty columns as a table', async () => {
    const made = 'arrow.tableFromArrays({ a: new Float64Array(0), b: new Int32Array(0) })';
    const { outputs } = await run(kernel, made);
    assert.equal(resultOf(outputs)?.['text/plain'], 'a  b\n\n0 rows × 2 columns');
  });

  test('of rows that are still to come says its columns, and leaves the rows to who reads them', async () => {
    const { outputs } = await run(
      kernel,
      `const orders = await (await db.openTable('orders', ['shop', 'eu'])).query().select(['id']).limit(3).execute(); orders`,
    );
    assert.match(
      String(resultOf(outputs)?.['text/plain']),
      /^column [^]*\nid [^]*The rows can be read only once: display\(…\)/,
    );
    const read = await run(kernel, 'let n = 0; for await (const { numRows } of orders.batches) n += numRows; n');
    assert.equal(resultOf(read.outputs)?.['text/plain'], '3');
  });

  test('comes as an Arrow stream, as HTML and as text', async () => {
    const { outputs } = await run(
      kernel,
      'arrow.tableFromArrays({ id: [9007199254740993n, 2n], name: ["<b>", null] })',
    );
    const data = resultOf(outputs);
    assert.deepEqual(Object.keys(data ?? {}), [arrowStreamMime, 'text/html', 'text/plain']);
    assert.equal(rowsOf(data).getChild('id')?.get(0), 9007199254740993n);
    assert.match(String(data?.['text/html']), /<td class="n">9007199254740993<\/td><td>&lt;b&gt;<\/td>/);
    assert.doesNotMatch(String(data?.['text/html']), /<script|style=|\son\w+=/);
    // Each rule must apply only inside `.lance-table`, because all outputs of a notebook may share one document.
    const [, rules = ''] = /<style>([^<]*)<\/style>/.exec(String(data?.['text/html'])) ?? [];
    assert.match(rules, /^(?:\s*\.lance-table [^{},]*(?:\([^)]*\)[^{},]*)*\{[^}]*\})+\s*$/);
    assert.match(String(data?.['text/plain']), /9007199254740993 {2}<b>[^]*2 rows × 2 columns/);
  });

  test('is what a query as the last expression shows, with its rows counted when they are few', async () => {
    const { outputs } = await run(
      kernel,
      `(await db.openTable('products', ['shop'])).query().where('id <= 5').select(['id', 'price'])`,
    );
    const result = outputs.find((output) => output.type === 'execute_result');
    assert.equal(rowsOf(result?.content.data).numRows, 5);
    assert.deepEqual(result?.content.metadata[arrowStreamMime], { total_rows: 5, included_rows: 5 });
  });

  test('holds at most 1,000 rows of a catalog table, and says how many there are', async () => {
    const { outputs } = await run(kernel, `await db.openTable('orders', ['shop', 'eu'])`);
    const result = outputs.find((output) => output.type === 'execute_result');
    assert.equal(rowsOf(result?.content.data).numRows, 1000);
    assert.deepEqual(result?.content.metadata[arrowStreamMime], {
      total_rows: 1_000_000,
      included_rows: 1000,
      title: 'shop/eu/orders',
      facts: 'version 1 · no index',
    });
  });

  test('stays within 256 KB', async () => {
    const { outputs } = await run(kernel, `await db.openTable('products', ['shop'])`);
    const result = outputs.find((output) => output.type === 'execute_result');
    const bytes = decodeBase64(String(result?.content.data[arrowStreamMime]));
    const { included_rows: included } = (result?.content.metadata[arrowStreamMime] ?? {}) as TableOutputMetadata;
    assert.ok(bytes.length <= 256 * 1024, `${bytes.length} bytes`);
    assert.ok(included > 150, `${included} rows`);
    assert.equal(tableFromIPC(bytes).numRows, included);
  });

  test('holds 8 MB if the user gives a limit, and says what it leaves out', async () => {
    const photos = `import { randomBytes } from 'node:crypto';
const png = Buffer.from('89504e470d0a1a0a', 'hex');
const photos = Array.from({ length: 200 }, (_, id) => ({ id, photo: Buffer.concat([png, randomBytes(120_000)]) }));
const pictures = await db.createTable('photos', photos, ['lab']);`;
    await run(kernel, photos);
    const told = async (code: string): Promise<[number, TableOutputMetadata]> => {
      const { outputs } = await run(kernel, code);
      const shown = outputs.find((each) => each.type === 'execute_result' || each.type === 'display_data');
      const bytes = decodeBase64(String(shown?.content.data[arrowStreamMime])).length;
      return [bytes, shown?.content.metadata[arrowStreamMime] as TableOutputMetadata];
    };
    const [bytes, requested] = await told('display(pictures, { limit: 200 })');
    assert.ok(bytes <= 8 * 1024 * 1024 && bytes > 8_000_000, `${bytes} bytes`);
    assert.deepEqual([requested.total_rows, requested.included_rows, requested.max_bytes], [200, 200, 8 * 1024 * 1024]);
    assert.ok((requested.omitted_cells?.['photo']?.from ?? 0) > 60);
    const [few, plain] = await told('pictures');
    assert.ok(few <= 256 * 1024, `${few} bytes`);
    assert.deepEqual(
      [plain.included_rows, plain.max_bytes, plain.omitted_cells?.['photo']?.from],
      [200, 256 * 1024, 2],
    );
    const [, whole] = await told('display(pictures, { whole: true })');
    assert.deepEqual([whole.included_rows, whole.omitted_cells], [2, undefined]);
    await run(kernel, "await db.dropTable('photos', ['lab'])");
  });

  test('has thumbnails if the pictures do not fit, and the kernel gives the whole ones', async () => {
    const code = `import { deflateSync, crc32 } from 'node:zlib';
import { createHash, randomBytes } from 'node:crypto';
const chunk = (type, data) => {
  const framed = Buffer.concat([Buffer.alloc(4), Buffer.from(type, 'latin1'), data, Buffer.alloc(4)]);
  framed.writeUInt32BE(data.length, 0);
  framed.writeUInt32BE(crc32(framed.subarray(4, -4)), framed.length - 4);
  return framed;
};
const side = 208;
const head = Buffer.alloc(13);
head.writeUInt32BE(side, 0);
head.writeUInt32BE(side, 4);
head.set([8, 2, 0, 0, 0], 8);
const lines = () => Buffer.concat(Array.from({ length: side }, () => Buffer.concat([Buffer.alloc(1), randomBytes(side * 3)])));
const png = () => Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'),
  chunk('IHDR', head), chunk('IDAT', deflateSync(lines(), { level: 1 })), chunk('IEND', Buffer.alloc(0))]);
const rows = Array.from({ length: 200 }, (_, id) => ({ id, photo: png() }));
const photos = await db.createTable('thumbnails', rows, ['lab']);
await display(photos, { limit: 200 });
createHash('sha256').update(rows[150].photo).digest('hex')`;
    const { outputs } = await run(kernel, code);
    const shown = outputs.find(({ type }) => type === 'display_data');
    assert.ok(shown?.type === 'display_data');
    const metadata = shown.content.metadata[arrowStreamMime] as TableOutputMetadata;
    assert.deepEqual([metadata.total_rows, metadata.included_rows, metadata.max_bytes], [200, 200, undefined]);
    const bytes = decodeBase64(String(shown.content.data[arrowStreamMime]));
    assert.ok(bytes.length < 4_000_000, `${bytes.length} bytes`);
    const column = tableFromIPC(bytes).getChild('photo')!;
    for (let row = 0; row < 200; row++) assert.equal(imageMime(column.get(row) as Uint8Array), 'image/jpeg');
    assert.match(
      String(shown.content.data['text/html']),
      /<img src="data:image\/jpeg;base64,[^"]+" alt="image\/png, 13\d,\d+ bytes"/,
    );
    const place = { output: metadata.pictures ?? '', column: 'photo', row: 150 };
    const whole = decodeBase64((await kernel.picture(place)) ?? '');
    const hash = createHash('sha256').update(whole).digest('hex');
    assert.equal(resultOf(outputs)?.['text/plain'], `'${hash}'`);
    assert.equal(await kernel.picture({ ...place, output: 'other' }), null);
    await run(kernel, "await db.dropTable('thumbnails', ['lab'])");
  });

  test('of no rows still has its columns', async () => {
    const { outputs } = await run(kernel, `await db.openTable('returns', ['shop', 'eu'])`);
    const table = rowsOf(resultOf(outputs));
    assert.equal(table.numRows, 0);
    assert.ok(table.numCols > 0);
  });

  test('can be a record batch', async () => {
    const { outputs } = await run(kernel, 'arrow.tableFromArrays({ n: [1, 2, 3] }).batches[0]');
    assert.equal(rowsOf(resultOf(outputs)).numRows, 3);
  });

  test('shows in the middle of a cell, and again in the same place', async () => {
    const { outputs } = await run(
      kernel,
      `display(arrow.tableFromArrays({ n: [1] }), { id: 'spot' }); await display(1, { id: 'spot' }); display('text');`,
    );
    const shown = outputs.filter((output) => output.type === 'display_data' || output.type === 'update_display_data');
    assert.deepEqual(
      shown.map((output) => output.type),
      ['display_data', 'update_display_data', 'display_data'],
    );
    assert.equal(shown[0]?.content.displayId, shown[1]?.content.displayId);
  });

  test('shows a value once when display is the last line', async () => {
    const { outputs } = await run(kernel, `display('once')`);
    const shown = outputs.filter((output) => output.type === 'display_data' || output.type === 'execute_result');
    assert.deepEqual(
      shown.map((output) => output.type),
      ['display_data'],
    );
  });

  test('gives way to the forms that a value brings itself', async () => {
    const { outputs } = await run(
      kernel,
      `({ [Symbol.for('Jupyter.display')]: () => ({ 'text/markdown': '**own**' }) })`,
    );
    assert.deepEqual(resultOf(outputs), { 'text/markdown': '**own**' });
  });

  test('keeps the kernel alive whatever forms a value brings', async () => {
    assert.deepEqual(resultOf((await run(kernel, own('1n'))).outputs), { 'text/plain': 'a', 'x/y': 1 });
    const { outputs } = await run(kernel, own('() => 1'));
    assert.match(errorOf(outputs)?.evalue ?? '', /Can't send the form "x\/y" as JSON/);
    const shown = await run(kernel, `display.mime(null as any)`);
    assert.match(
      errorOf(shown.outputs)?.evalue ?? '',
      /expected a MIME bundle, got a value of type null\. Pass an object/,
    );
    const rows = `display.mime({ 'application/json': await table.query().select(['id']).limit(1).toArray() })`;
    const products = `const table = await db.openTable('products', ['shop']);`;
    assert.equal((await run(kernel, products + rows)).reply.status, 'ok');
  });

  test('shows an error in place of an output that no message can hold', async () => {
    const { reply, outputs } = await run(kernel, `display(1, { id: 5n as any })`);
    assert.equal(reply.status, 'ok');
    assert.match(errorOf(outputs)?.evalue ?? '', /Can't send the display_data of this cell/);
    assert.deepEqual(resultOf((await run(kernel, '1 + 1')).outputs), { 'text/plain': '2' });
  });

  test('whose query fails is an error that names the column', async () => {
    const { outputs } = await run(kernel, `(await db.openTable('products', ['shop'])).query().where('nonesuch = 1')`);
    assert.equal(errorOf(outputs)?.ename, 'CatalogError');
    assert.match(errorOf(outputs)?.evalue ?? '', /nonesuch/);
  });
});

suite("A table of the notebook folder's own apache-arrow", function () {
  this.timeout(180_000);

  for (const version of ['17.0.0', '18.1.0', '21.2.0']) {
    test(`${version} reaches pyarrow with the same rows`, async () => {
      const folder = join(tempFolder(), 'notebook');
      mkdirSync(folder);
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'notebook', private: true }));
      await npm(['install', ...quietInstall, `apache-arrow@${version}`], { cwd: folder, quiet: true });
      const kernel = await startKernel({ cwd: folder });
      try {
        const { outputs } = await run(
          kernel,
          `import * as own from 'apache-arrow';
           if ((own.Table as unknown) === arrow.Table) throw new Error('the kernel lent its own copy');
           new own.Table({
             big: own.vectorFromArray([1n, 9007199254740993n, -3n], new own.Int64()),
             text: own.vectorFromArray(['a', null, 'ü'], new own.Utf8()),
             real: own.vectorFromArray([0.1, -0, 1e300], new own.Float64()),
             lists: own.vectorFromArray([[1, 2], [], null], new own.List(new own.Field('item', new own.Int32(), true))),
           })`,
        );
        assert.equal(errorOf(outputs)?.traceback.join('\n'), undefined);
        const file = join(folder, 'stream.b64');
        writeFileSync(file, String(resultOf(outputs)?.[arrowStreamMime]));
        const { stdout, stderr } = await command(python(), [inRoot('test/kernel/python/rows.py'), file]);
        assert.equal(stderr, '');
        assert.deepEqual(JSON.parse(stdout), [
          { big: '1', text: 'a', real: 0.1, lists: [1, 2] },
          { big: '9007199254740993', text: null, real: -0, lists: [] },
          { big: '-3', text: 'ü', real: 1e300, lists: null },
        ]);
      } finally {
        await kernel.shutdown();
      }
    });
  }

  test('is lent to a folder that has none', async () => {
    const kernel = await startKernel();
    const { outputs } = await run(kernel, `import { Table } from 'apache-arrow'; Table === arrow.Table`);
    await kernel.shutdown();
    assert.equal(resultOf(outputs)?.['text/plain'], 'true');
  });
});

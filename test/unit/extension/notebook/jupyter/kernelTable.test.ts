import assert from 'node:assert/strict';
import { tableFromArrays, tableToIPC } from '#arrow';
import { arrowStreamMime } from '#shared/mime.ts';
import { previewCode, previewMime, variableProblem } from '../../../../../extension/notebook/jupyter/kernelCode.ts';
import { type KernelCodeOutput, readKernelTable } from '../../../../../extension/notebook/jupyter/kernelTable.ts';

const signal = new AbortController().signal;
const bytes = (text: string) => new TextEncoder().encode(text);
const head = (total: number | null): KernelCodeOutput => ({
  items: [{ mime: previewMime, data: bytes(JSON.stringify({ columns: [{ name: 'id', type: 'int64' }], total })) }],
});
const page = (rows: number, content: string | Uint8Array): KernelCodeOutput => ({
  items: [{ mime: arrowStreamMime, data: bytes(Buffer.from(content).toString('base64')) }],
  metadata: { metadata: { [arrowStreamMime]: { included_rows: rows } } },
});
async function* outputs(...all: KernelCodeOutput[]): AsyncGenerator<KernelCodeOutput> {
  for (const output of all) yield await Promise.resolve(output);
}

suite('a table of a running kernel', () => {
  test('has the rows of all its pages', async () => {
    const source = await readKernelTable('t', outputs(head(700), page(500, 'one'), page(200, 'two')));
    const table = await source.open(signal);
    assert.equal(table.numRows, 700);
    assert.deepEqual(table.columns, [{ name: 'id', type: 'int64', nullable: true }]);
    assert.equal(new TextDecoder().decode(await source.rows(500, 700, signal)), 'two');
  });

  test('has its types in the words that tables have everywhere, whatever the kernel calls them', async () => {
    const rows = tableFromArrays({ id: Int32Array.of(1, 2), at: [new Date(0), new Date(1)] });
    const named = { columns: rows.schema.fields.map(({ name, type }) => ({ name, type: String(type) })), total: 2 };
    const header: KernelCodeOutput = { items: [{ mime: previewMime, data: bytes(JSON.stringify(named)) }] };
    const source = await readKernelTable('t', outputs(header, page(2, tableToIPC(rows, 'stream'))));
    const { columns } = await source.open(signal);
    assert.deepEqual(
      columns.map(({ name, type }) => `${name}: ${type}`),
      ['id: int32', 'at: timestamp[ms]'],
    );
  });

  test('ends at the first page that the kernel had to cut, so that no row is in the wrong place', async () => {
    const source = await readKernelTable('t', outputs(head(1000), page(300, 'one'), page(500, 'two')));
    const table = await source.open(signal);
    assert.equal(table.numRows, 300);
    assert.match(table.note ?? '', /^The first 300 of 1,000 rows, /);
  });

  test('tells the error of the kernel', async () => {
    const error = {
      items: [{ mime: 'application/vnd.code.notebook.error', data: bytes('{"name":"NameError","message":"t"}') }],
    };
    await assert.rejects(readKernelTable('t', outputs(error)), /Can't show "t": NameError: t/);
  });

  test('is refused when the kernel gave none', async () => {
    await assert.rejects(readKernelTable('t', outputs()), /returned no table for "t"/);
  });

  test('is asked for by the name of a variable and nothing that could be other code', () => {
    for (const name of ['t', 'self.table', '_x1', 'größe']) assert.equal(variableProblem(name), undefined, name);
    for (const name of ['', '1a', 'a b', 'a;b', 'a()', 'a\n']) assert.ok(variableProblem(name), JSON.stringify(name));
    assert.throws(() => previewCode('python', '__import__("os")'), /not a valid variable name/);
  });

  test('is not asked for in a language that is not known', () => {
    assert.throws(() => previewCode('julia', 't'), /julia kernel/);
  });
});

import assert from 'node:assert/strict';
import { tableFromIPC } from '#arrow';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import type { KernelOutput, ShownOutput } from '#shared/protocol/kernelMessages.ts';
import type { KernelView, ViewAnswer } from '#shared/protocol/outputTables.ts';
import { errorOf, printed, resultOf, run, sampleCatalog, startKernel } from '../support.ts';

const shownIn = (outputs: readonly KernelOutput[]): ShownOutput[] =>
  outputs.flatMap((output) =>
    output.type === 'execute_result' || output.type === 'display_data' || output.type === 'update_display_data'
      ? [output.content]
      : [],
  );

const many = (count: number, first = 0): string =>
  `arrow.tableFromArrays({ id: Int32Array.from({ length: ${count} }, (_, i) => ${first} + i) })`;

const orders = `await db.openTable('orders', ['shop', 'eu'])`;

suite('The table of a notebook output', function () {
  this.timeout(60_000);
  let kernel: KernelProcess;
  let root: string;
  let views: KernelView[] = [];
  let answer: ViewAnswer = { kind: 'shown' };

  suiteSetup(async () => {
    root = await sampleCatalog();
    kernel = await startKernel({
      catalog: { implementation: 'dir', root },
      view: async (asked) => (views.push(asked), answer),
    });
  });
  suiteTeardown(() => kernel.shutdown());
  setup(() => {
    views = [];
    answer = { kind: 'shown' };
  });

  const outputOf = async (code: string): Promise<string> => {
    const { outputs } = await run(kernel, code);
    const id = shownIn(outputs).at(-1)?.table;
    assert.ok(id !== undefined, errorOf(outputs)?.evalue);
    return id;
  };

  const failure = async (options: string): Promise<string | undefined> =>
    errorOf((await run(kernel, `await (${orders}).view(${options} as any)`)).outputs)?.evalue;

  const lastIds = async (output: string, start: number, end: number): Promise<unknown[]> => {
    const rows = await kernel.outputRows({ output, start, end, columns: ['id'] });
    assert.ok(rows);
    return Array.from(tableFromIPC(rows).getChild('id')!, Number);
  };

  test('has all rows, although the output has only the first ones', async () => {
    const output = await outputOf(`const numbers = ${many(5000)}; numbers`);
    const found = await kernel.outputTable({ output, hasRows: false });
    assert.deepEqual(found, {
      kind: 'rows',
      variable: 'numbers',
      columns: [{ name: 'id', type: 'int32', nullable: false }],
      numRows: 5000,
      isCut: false,
      isReadAgain: false,
    });
    assert.deepEqual(await lastIds(output, 4997, 5000), [4997, 4998, 4999]);
  });

  test('without a variable has all rows too', async () => {
    const output = await outputOf(many(3000, 7));
    await run(kernel, 'globalThis.gc?.()');
    const found = await kernel.outputTable({ output, hasRows: false });
    assert.equal(found?.kind === 'rows' && found.variable, null);
    assert.deepEqual(await lastIds(output, 2999, 3000), [3006]);
  });

  test('of a query is read again, with its filter and order', async () => {
    const output = await outputOf(`(${orders}).query().where('id > 10').select(['id']).orderBy('id')`);
    const found = await kernel.outputTable({ output, hasRows: false });
    assert.ok(found?.kind === 'rows' && found.isReadAgain);
    const count = await run(kernel, `await (${orders}).countRows('id > 10')`);
    assert.equal(String(found.numRows), resultOf(count.outputs)?.['text/plain']);
    assert.deepEqual(await lastIds(output, 0, 2), [11, 12]);
  });

  test('of a catalog says where it is, and has its rows if they are wanted', async () => {
    const output = await outputOf(orders);
    const table = { implementation: 'dir', catalog: root, namespacePath: ['shop', 'eu'], name: 'orders' };
    assert.deepEqual(await kernel.outputTable({ output, hasRows: false }), { kind: 'catalog', table });
    const rows = await kernel.outputTable({ output, hasRows: true });
    assert.equal(rows?.kind, 'rows');
    const old = await outputOf(`await db.openTable('orders', { namespacePath: ['shop', 'eu'], version: 1 })`);
    const pinned = await kernel.outputTable({ output: old, hasRows: false });
    assert.deepEqual(pinned, { kind: 'catalog', table: { ...table, version: 1 } });
  });

  test('of an output that changes is the one that it shows', async () => {
    const first = await run(kernel, `display(${many(10)}, { id: 'changes' })`);
    const output = shownIn(first.outputs)[0]?.table;
    assert.ok(output !== undefined);
    const next = await run(kernel, `display(${many(20, 100)}, { id: 'changes' })`);
    assert.equal(shownIn(next.outputs)[0]?.table, output);
    assert.deepEqual(await lastIds(output, 19, 20), [119]);
    await run(kernel, `display('no table', { id: 'changes' })`);
    assert.equal(await kernel.outputTable({ output, hasRows: false }), null);
    assert.equal(await kernel.outputRows({ output, start: 0, end: 1 }), null);
  });

  test('is not kept for a client without panels', async () => {
    const other = await startKernel();
    try {
      const { outputs } = await run(other, many(3));
      assert.deepEqual(
        shownIn(outputs).map(({ table }) => table),
        [undefined],
      );
    } finally {
      await other.shutdown();
    }
  });

  test('is opened in the panel by table.view', async () => {
    const table = { implementation: 'dir', catalog: root, namespacePath: ['shop', 'eu'], name: 'orders' };
    const code = `const table = ${orders};
      await table.view({ where: 'id > 5', orderBy: [{ column: 'id', descending: true }, 'note'], columns: ['note', 'id'] });
      await table.view()`;
    const { reply, outputs } = await run(kernel, code);
    assert.equal(reply.status, 'ok', errorOf(outputs)?.evalue);
    const orderBy = [
      { column: 'id', descending: true },
      { column: 'note', descending: false },
    ];
    assert.deepEqual(views, [
      { table, view: { where: 'id > 5', orderBy }, columns: ['note', 'id'] },
      { table, view: { where: '', orderBy: [] } },
    ]);
    assert.deepEqual(shownIn(outputs), []);
  });

  test('is refused by table.view with a sentence for wrong options, unknown columns and by the window', async () => {
    assert.match((await failure(`{ filter: 'id > 5' }`)) ?? '', /filter/);
    assert.match((await failure(`{ where: 5 }`)) ?? '', /Expected SQL for "where", got a value of type number/);
    assert.match((await failure(`{ orderBy: [{ descending: true }] }`)) ?? '', /Expected a column for "orderBy"/);
    assert.match((await failure(`{ columns: ['id', 'nope'] }`)) ?? '', /no column "nope"/);
    assert.deepEqual(views, []);
    answer = { kind: 'refused', problem: "Can't open the panel: no connection." };
    assert.match((await failure('{}')) ?? '', /Can't open the panel: no connection/);
  });

  test('has its first rows in the cell where there is no panel', async () => {
    answer = { kind: 'absent' };
    const { outputs } = await run(kernel, `await (${orders}).view({ where: 'id < 3', columns: ['id'] })`);
    assert.match(printed(outputs), /The table panel is part of VS Code\. The first rows of "shop\/eu\/orders":/);
    assert.match(String(shownIn(outputs)[0]?.data['text/plain']), /^id\n/);
  });
});

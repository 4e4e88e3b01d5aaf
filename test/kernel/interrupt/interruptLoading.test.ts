import assert from 'node:assert/strict';
import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import { tempFolder } from '../../harness/temp.ts';
import { printed, run, startKernel, until, valueOf } from '../support.ts';

/** Delays the next load of a package's first file by half a second. */
const slowly = (part: string): string => `import { Module } from 'node:module';
const compile = (Module.prototype as any)._compile;
let isSlow = true;
(Module.prototype as any)._compile = function (text: string, file: string, ...rest: unknown[]) {
  if (isSlow && file.includes(${JSON.stringify(part)})) {
    isSlow = false;
    process.stdout.write('loading');
    for (const end = performance.now() + 500; performance.now() < end;);
  }
  return compile.call(this, text, file, ...rest);
};
undefined`;

suite('An interrupt while the kernel loads a part of its own', function () {
  this.timeout(60_000);

  for (const [what, part, cell, later] of [
    ['the engine', '/@lancedb/lancedb/', 'await db.listTables([])', '(await db.listTables([])).tables.length'],
    ['the clouds', '/dist/cluster.cjs', 'await cluster.profiles()', 'Number(!Array.isArray(await cluster.profiles()))'],
    ['Arrow', '/apache-arrow/', 'arrow.Table.name', 'arrow.tableFromArrays({ a: [1] }).numRows - 1'],
  ] as const)
    test(`waits for ${what}, which works afterwards`, async () => {
      const kernel = await startKernel({ catalog: { implementation: 'dir', root: tempFolder() } });
      try {
        await run(kernel, slowly(part));
        const outputs: KernelOutput[] = [];
        const cut = kernel.execute(cell, (output) => outputs.push(output));
        await until('the part to be loaded', () => printed(outputs) === 'loading');
        assert.equal((await kernel.interrupt()).status, 'ok');
        // Wait for the end of the cell. The cell may have ended before the interrupt, so its result is not checked.
        await cut;
        assert.equal(await valueOf(kernel, later), '0');
      } finally {
        await kernel.shutdown();
      }
    });

  test('comes all the same where code of the cell keeps it from coming to its end', async () => {
    const kernel = await startKernel({ catalog: { implementation: 'dir', root: tempFolder() } });
    try {
      const outputs: KernelOutput[] = [];
      const cell = `void db.listTables([]).catch(() => {}); console.log('loops'); while (true);`;
      const cut = kernel.execute(cell, (output) => outputs.push(output));
      await until('the loop', () => printed(outputs) !== '');
      assert.equal((await kernel.interrupt()).status, 'ok');
      await cut;
      assert.equal(await valueOf(kernel, '(await db.listTables([])).tables.length'), '0');
    } finally {
      await kernel.shutdown();
    }
  });
});

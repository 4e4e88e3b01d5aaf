import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { runStep } from '../cells.ts';
import { printed, startKernel, until } from '../support.ts';

/** Creates a file that the Arrow library can't read without codecs. */
const packing = `
import sys, pyarrow as pa
rows = pa.record_batch({"text": [f"of row {n}" for n in range(1000)]})
with pa.ipc.new_stream(sys.argv[1], rows.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as out: out.write_batch(rows)
`;

/** Prints at the end of a program whether it has loaded Arrow. */
const watching = `process.once('exit', () => process._rawDebug(
  Object.keys(require('node:module')._cache).some((file) => file.includes('/apache-arrow/')) ? 'loaded' : 'not loaded'))`;

suite('Arrow in a program', function () {
  this.timeout(60_000);

  for (const [name, args] of Object.entries({
    'the help of the command line': [inRoot('dist/cli.cjs'), '--help'],
    'the engine before the first request': [
      '-e',
      `require(${JSON.stringify(inRoot('dist/engine.cjs'))}); process.exit()`,
    ],
    'the clusters before the first request': [
      '-e',
      `require(${JSON.stringify(inRoot('dist/cluster.cjs'))}); process.exit()`,
    ],
  }))
    test(`is not loaded by ${name}`, () => {
      const hook = join(tempFolder(), 'hook.cjs');
      writeFileSync(hook, watching);
      const { stderr, status } = spawnSync(process.execPath, ['--require', hook, ...args], { encoding: 'utf8' });
      assert.deepEqual([status, stderr], [0, 'not loaded\n']);
    });
});

suite('Arrow in a kernel', function () {
  this.timeout(60_000);
  const folder = tempFolder();
  let kernel: KernelProcess;
  suiteSetup(() => {
    const packed = spawnSync(python(), ['-c', packing, join(folder, 'packed.arrow')], { encoding: 'utf8' });
    assert.equal(packed.status, 0, packed.stderr);
  });
  setup(async () => void (kernel = await startKernel({ cwd: folder })));
  teardown(() => kernel.shutdown());

  test('is loaded when something uses it, for that takes as long as a first cell', async () => {
    const loaded = 'Object.keys(require("node:module")._cache).some((file) => file.includes("/apache-arrow/"))';
    await runStep(kernel, { cell: '({ a: 1 })', value: '{ a: 1 }' });
    await runStep(kernel, { cell: loaded, value: 'false' });
    await runStep(kernel, { cell: 'arrow.Table.name', value: "'Table'" });
    await runStep(kernel, { cell: loaded, value: 'true' });
  });

  test('is loaded also where a cell has made a global unchangeable', async () => {
    await runStep(kernel, {
      cell: "Object.defineProperty(globalThis, 'Date', { value: class Mine extends Date {}, configurable: false, writable: false }); 1",
      value: '1',
    });
    await runStep(kernel, { cell: 'arrow.vectorFromArray([1, 2]).length', value: '2' });
    await runStep(kernel, { cell: 'Date.name', value: "'Mine'" });
  });

  test('is whole after an interrupt that came while it was loaded', async () => {
    await runStep(kernel, {
      cell: `import { Module } from 'node:module';
const compile = (Module.prototype as any)._compile;
let isSlow = true;
(Module.prototype as any)._compile = function (text: string, file: string, ...rest: unknown[]) {
  if (isSlow && file.endsWith('/apache-arrow/util/chunk.js')) { console.log('loading'); while (isSlow); }
  return compile.call(this, text, file, ...rest);
};
undefined`,
    });
    const outputs: KernelOutput[] = [];
    const cut = kernel.execute('arrow.Table.name', (output) => outputs.push(output));
    await until('Arrow to be half loaded', () => printed(outputs) === 'loading\n');
    await kernel.interrupt();
    await cut;
    await runStep(kernel, { cell: 'isSlow = false', value: 'false' });
    // Use many parts of Arrow. After an interrupted load, modules that were already loaded once referred to modules
    // that were missing.
    await runStep(kernel, {
      cell: `const lists = new arrow.List(new arrow.Field('item', new arrow.Int32()));
const table = new arrow.Table({ a: arrow.vectorFromArray([[1], [2, 3]], lists) });
arrow.tableFromIPC(arrow.tableToIPC(table)).get(1)?.toJSON().a.toArray()`,
      value: 'Int32Array(2) [ 2, 3 ]',
    });
  });

  for (const [how, cell] of Object.entries({
    'the preloaded name': 'const bytes = readFileSync("packed.arrow"); arrow.tableFromIPC(bytes).get(1)?.toJSON()',
    'an import':
      'import { tableFromIPC } from "apache-arrow"; tableFromIPC(readFileSync("packed.arrow")).get(1)?.toJSON()',
    'import()':
      'const { tableFromIPC: read } = await import("apache-arrow"); read(readFileSync("packed.arrow")).get(1)?.toJSON()',
  }))
    test(`reads compressed data, by ${how}`, async () => {
      await runStep(kernel, { cell: 'import { readFileSync } from "node:fs";' });
      await runStep(kernel, { cell, value: "{ text: 'of row 1' }" });
    });
});

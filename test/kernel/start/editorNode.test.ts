import assert from 'node:assert/strict';
import { findNode } from '#processes/childProcess.ts';
import { KernelProcess } from '#processes/kernelProcess.ts';
import { tempFolder } from '../../harness/temp.ts';
import { kernelEntry, valueOf } from '../support.ts';

suite('A kernel of an editor', function () {
  this.timeout(60_000);

  test('starts from a snapshot on the Node.js of PATH', async () => {
    const kernel = await KernelProcess.start({
      entry: kernelEntry,
      node: await findNode(),
      cwd: tempFolder(),
      catalog: null,
    });
    try {
      assert.equal(await valueOf(kernel, 'process.execArgv.includes("--snapshot-blob")'), 'true');
    } finally {
      await kernel.shutdown();
    }
  });

  test("starts without a snapshot on the editor's own Node.js, if PATH has none", async () => {
    const path = process.env['PATH'];
    process.env['PATH'] = tempFolder();
    const node = await findNode().finally(() => (process.env['PATH'] = path));
    assert.deepEqual(node, {
      path: process.execPath,
      env: { ELECTRON_RUN_AS_NODE: '1' },
      version: process.versions.node,
    });
    const kernel = await KernelProcess.start({ entry: kernelEntry, node, cwd: tempFolder(), catalog: null });
    try {
      const seen = '[process.env.ELECTRON_RUN_AS_NODE, process.execArgv.includes("--snapshot-blob")].join()';
      assert.equal(await valueOf(kernel, seen), "'1,false'");
    } finally {
      await kernel.shutdown();
    }
  });
});

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openDir } from '#engine/dir/dirCatalog.ts';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { freePorts } from '../../harness/freePorts.ts';
import { tempFolder } from '../../harness/temp.ts';
import { errorOf, run, startKernel } from '../support.ts';

suite('What a cell gives a backfill as its Ray', function () {
  this.timeout(60_000);
  let kernel: KernelProcess;

  suiteSetup(async () => {
    const folder = tempFolder();
    const root = join(folder, 'data');
    mkdirSync(root);
    const db = await openDir({ root });
    await db.createTable('products', [{ id: 1, caption: 'a mug' }]);
    await db.close();
    const env = { XDG_DATA_HOME: join(folder, 'state') };
    mkdirSync(env.XDG_DATA_HOME);
    kernel = await startKernel({ cwd: folder, env, catalog: { implementation: 'dir', root } });
    await run(kernel, "const table = await db.openTable('products'); const size = { sql: 'length(caption)' };");
  });
  suiteTeardown(() => kernel.shutdown());

  const refusalOf = async (ray: string): Promise<string | undefined> => {
    const { outputs } = await run(
      kernel,
      `await table.backfill('size', { function: size, runner: 'ray', ray: ${ray} })`,
    );
    const error = errorOf(outputs);
    return error && `${error.ename}: ${error.evalue}`;
  };

  test('may be the address of its dashboard, which is asked', async () => {
    const [port = 0] = await freePorts(1);
    const refusal = await refusalOf(`'http://127.0.0.1:${port}'`);
    assert.match(
      refusal ?? '',
      new RegExp(`^JobError: .* Ray at http://127\\.0\\.0\\.1:${port}: no server listens there`),
    );
  });

  test('is refused in a sentence if it is not an address', async () => {
    assert.match(
      (await refusalOf("'127.0.0.1:8265'")) ?? '',
      /^JobError: .*Ray address.* "http:\/\/127\.0\.0\.1:8265"/,
    );
  });

  for (const given of ['8265', '{}', '{"place":"here"}', '[]'])
    test(`is refused in a sentence if it is ${given}`, async () => {
      // Use `JSON.parse` to hide the type, so that the type checker does not refuse the cell before it runs.
      const refusal = await refusalOf(`JSON.parse('${given}')`);
      assert.match(
        refusal ?? '',
        /^JobError: Can't run the backfill on Ray: expected a Ray connection or an address for "ray", got /,
      );
    });
});

import assert from 'node:assert/strict';
import { tempFolder } from '../../harness/temp.ts';
import { printed, run, startKernel } from '../support.ts';
import type { KernelProcess } from '#processes/kernelProcess.ts';

suite('Integers beyond the safe ones', function () {
  this.timeout(60_000);
  let kernel: KernelProcess;
  suiteSetup(async () => {
    kernel = await startKernel({ catalog: { implementation: 'dir', root: tempFolder() } });
  });
  suiteTeardown(() => kernel.shutdown());

  const print = async (cell: string): Promise<string> => printed((await run(kernel, cell)).outputs);

  const notice =
    "has integers beyond ±(2^53 − 1), which are bigints in its rows; toArray({ int64: 'bigint' }) returns bigints for all 64-bit integers.\n";

  test('are announced once in a cell that reads them as numbers, by the name of their column', async () => {
    await run(
      kernel,
      `const table = await db.createTable('big', [
         { small: 1n, big: 1n, 'a\\nb': { list: [1n] } }, { small: 2n, big: 2n ** 60n, 'a\\nb': { list: [2n ** 60n] } }
       ]);`,
    );
    assert.equal(
      await print('await table.query().toArray(); await table.query().toArray(); 0'),
      `The column "big" ${notice}`,
    );
    assert.equal(await print('(await table.query().toArray()).length'), `The column "big" ${notice}`);
    assert.equal(await print(`await table.query().select(['a\\nb']).toArray(); 0`), `The column "a\\nb" ${notice}`);
    assert.equal(await print('await sql`select big from big`.toArray(); 0'), `The column "big" ${notice}`);
  });

  test('are not announced if no row has one, or if bigints are asked for', async () => {
    assert.equal(await print("await table.query().where('small = 1').toArray(); 0"), '');
    assert.equal(await print("await table.query().toArray({ int64: 'bigint' }); 0"), '');
    assert.equal(await print('await table.toArrow(); 0'), '');
  });
});

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from '../../../harness/temp.ts';
import { eventually } from '../../eventually.ts';
import { descendantsOf } from '../../processTree.ts';
import { type At, BackfillTables } from '../backfillTables.ts';
import { drive, failing, functionOf, specOf, typescriptRow } from './driving.ts';

const functions = (): number[] =>
  descendantsOf(process.pid)
    .filter(({ command }) => /functionWorker\.mjs/.test(command) && !/backfill/.test(command))
    .map(({ pid }) => pid);

suite('what is said of processes of a backfill that end by themselves', function () {
  this.timeout(120_000);
  let tables: BackfillTables;
  suiteSetup(() => void (tables = new BackfillTables()));
  suiteTeardown(async () => tables.stop());

  async function makeTable(): Promise<At> {
    const at = { uri: join(tempFolder(), 't.lance') };
    await tables.make(at, { fragments: 4, rows: 60 });
    return at;
  }

  for (const code of [0, 2, 3])
    test(`a function that ends its process with ${code} is named, and tried a few times`, async () => {
      const at = await makeTable();
      const ends = `export default ({ id }) => { if (id === 200n) process.exit(${code}); return Number(id); };`;
      const fn = functionOf(typescriptRow(ends), { inputs: ['id'] });
      const job = drive(specOf(at, fn, { concurrency: 1 }));
      const said = `^The process of the function f ended with code ${code}\\. It was started 4 times\\.`;
      await assert.rejects(job.done, failing('FunctionCrashed', new RegExp(said)));
      assert.deepEqual(
        job.all('restarted').map(({ reason }) => reason),
        Array.from({ length: 3 }, () => `The process of the function f ended with code ${code}.`),
      );
    });

  test('a function that does not load is said to, and not tried again', async () => {
    const at = await makeTable();
    const job = drive(specOf(at, functionOf(typescriptRow("throw new Error('no key');"))));
    await assert.rejects(job.done, failing('FunctionInvalid', /no key/));
    assert.deepEqual(job.all('restarted'), []);
  });

  test('a Node that stood still is said to', async function () {
    // Other systems do not report that a process is stopped.
    if (process.platform !== 'linux') this.skip();
    const at = await makeTable();
    const [begun, gate] = [join(tempFolder(), 'begun'), join(tempFolder(), 'gate')];
    const fn = functionOf(
      typescriptRow(`
        import { existsSync, writeFileSync } from 'node:fs';
        import { setTimeout } from 'node:timers/promises';
        export default async ({ id }) => {
          writeFileSync(${JSON.stringify(begun)}, '');
          while (!existsSync(${JSON.stringify(gate)})) await setTimeout(10);
          return Number(id);
        };`),
      { inputs: ['id'] },
    );
    const job = drive(specOf(at, fn, { concurrency: 1 }), { env: { LANCE_CATALOG_STALL_SECONDS: '1.5' } });
    await eventually(() => assert.ok(existsSync(begun)), 60);
    process.kill(functions()[0]!, 'SIGSTOP');
    writeFileSync(gate, '');
    await job.done;
    assert.deepEqual(
      job.all('restarted').map(({ reason }) => reason),
      ['The process of the function f did not respond for 1.5 seconds and was stopped.'],
    );
  });
});

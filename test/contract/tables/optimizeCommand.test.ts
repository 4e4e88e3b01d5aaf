import assert from 'node:assert/strict';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { runCli } from '../../harness/runCli.ts';
import { tempFolder } from '../../harness/temp.ts';

const optimize = (...args: string[]) => runCli('optimize', ...args);

suite('lance-catalog optimize', function () {
  this.timeout(60_000);
  let root: string;

  setup(async () => {
    root = tempFolder();
    const db = await openDir({ root });
    await db.createNamespace(['shop']);
    const table = await db.createTable('orders', [{ id: 0 }], ['shop']);
    for (let id = 1; id < 5; id++) await table.add([{ id }]);
    await db.close();
  });

  test('joins the fragments of a table and prints what changed', async () => {
    const { code, stdout, stderr } = await optimize('shop/orders', '--catalog', root);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^shop\/orders: 5 to 1 fragment, [\d.]+ \w+ to [\d.]+ \w+, version 7\n$/);
  });

  test('prints JSON, and removes old versions only if an age is given', async () => {
    const first = await optimize('shop/orders', '--catalog', root, '--json');
    const kept = JSON.parse(first.stdout) as Record<string, number>;
    assert.deepEqual([kept['numFragmentsAfter'], kept['numVersionsRemoved'], kept['version']], [1, 0, 7]);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const second = await optimize('["shop","orders"]', '--catalog', root, '--older-than', '1s');
    assert.match(second.stdout, /version 7\nRemoved 6 versions and [\d.]+ \w+ of files\.\n$/);
    const db = await openDir({ root });
    const table = await db.openTable('orders', ['shop']);
    assert.deepEqual(
      (await table.listVersions()).map(({ version }) => version),
      [7],
    );
    assert.equal(await table.countRows(), 5);
    await db.close();
  });

  test('refuses wrong arguments, and names the tables of the namespace if the table does not exist', async () => {
    const wrong = await optimize('shop/orders', '--catalog', root, '--older-than', 'yesterday');
    assert.deepEqual([wrong.code, wrong.stdout], [2, '']);
    assert.match(wrong.stderr, /Expected an age such as 7d or 12h for --older-than, got "yesterday"/);
    assert.match((await optimize('--catalog', root)).stderr, /needs one TABLE/);
    assert.match((await optimize('shop', 'orders', '--catalog', root)).stderr, /needs one TABLE/);
    const none = await optimize('shop/order', '--catalog', root);
    assert.equal(none.code, 1);
    assert.match(none.stderr, /orders/);
  });
});

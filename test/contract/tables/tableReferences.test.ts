import assert from 'node:assert/strict';
import { relative } from 'node:path';
import { inspect } from 'node:util';
import { connect, connectNamespace } from '#catalog/connect.ts';
import { referenceOf } from '#catalog/tableReference.ts';
import { registerDir } from '#engine/register.ts';
import { tempFolder } from '../../harness/temp.ts';

suite('references of tables', () => {
  let root: string;
  suiteSetup(() => {
    registerDir();
    root = tempFolder();
  });

  test('a table says how its catalog was connected, with the whole path of a directory', async () => {
    await using db = await opened(relative(process.cwd(), root));
    await db.catalog.createNamespace(['shop'], { mode: 'exist_ok' });
    const table = await db.catalog.createTable('orders', [{ id: 1 }], { namespacePath: ['shop'], mode: 'overwrite' });
    assert.deepEqual(referenceOf(table), {
      catalog: { implementation: 'dir', root },
      namespacePath: ['shop'],
      name: 'orders',
    });
  });

  test('a table that stays at a version has no reference, since a job writes', async () => {
    await using db = await opened(root);
    await db.catalog.createTable('pinned', [{ id: 1 }], { mode: 'overwrite' });
    assert.equal(referenceOf(await db.catalog.openTable('pinned', { version: 1 })), undefined);
    assert.notEqual(referenceOf(await db.catalog.openTable('pinned')), undefined);
  });

  test('settings of the storage, which may be secret, are in the reference and on no object that is shown', async () => {
    const catalog = await connectNamespace('dir', { root, storageOptions: { secret: 'hushhush' } });
    const table = await catalog.createTable('hidden', [{ id: 1 }], { mode: 'overwrite' });
    assert.ok(JSON.stringify(referenceOf(table)).includes('hushhush'));
    assert.ok(!inspect(table, { depth: 9, showHidden: true }).includes('hushhush'));
    await catalog.close();
  });
});

async function opened(root: string) {
  const catalog = await connect(root);
  return { catalog, [Symbol.asyncDispose]: () => catalog.close() };
}

import assert from 'node:assert/strict';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { fails } from '../expect.ts';
import { forEachSubject } from '../subjects.ts';

const rows = [{ id: 1 }, { id: 2 }];

forEachSubject('renaming', (makeCatalog) => {
  test('gives a table another name, with its rows, versions and indexes', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    const table = await db.createTable('old', rows, ['shop']);
    await table.add([{ id: 3 }]);
    await table.createIndex('id', { type: 'BTREE' });
    await db.renameTable('old', 'new', ['shop']);
    assert.deepEqual(await db.tableNames(['shop']), ['new']);
    const renamed = await db.openTable('new', ['shop']);
    assert.equal(await renamed.countRows(), 3);
    assert.equal((await renamed.listVersions()).length, 3);
    assert.equal((await renamed.listIndices()).length, 1);
    await fails(() => db.openTable('old', ['shop']), 'TableNotFound', 'old');
  });

  test('moves a table to another namespace', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['eu']);
    await db.createNamespace(['us']);
    await db.createTable('orders', rows, ['eu']);
    await db.renameTable('orders', 'orders', ['eu'], { newNamespacePath: ['us'] });
    assert.deepEqual([await db.tableNames(['eu']), await db.tableNames(['us'])], [[], ['orders']]);
    assert.equal(await (await db.openTable('orders', ['us'])).countRows(), 2);
  });

  test('is seen by other clients of the same root, and the old name is free again', async () => {
    const { db, root } = await makeCatalog();
    await db.createNamespace(['shop']);
    await db.createTable('old', rows, ['shop']);
    const other = await openDir({ root });
    await db.renameTable('old', 'new', ['shop']);
    assert.deepEqual(await other.tableNames(['shop']), ['new']);
    await other.createTable('old', [{ x: 'y' }], ['shop']);
    assert.deepEqual(await (await db.openTable('old', ['shop'])).query().toArray(), [{ x: 'y' }]);
    assert.equal(await (await db.openTable('new', ['shop'])).countRows(), 2);
    await other.close();
  });

  test('refuses a name that is taken, and leaves both tables', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    await db.createTable('a', rows, ['shop']);
    await db.createTable('b', [{ x: 'y' }], ['shop']);
    const taken = await fails(() => db.renameTable('a', 'b', ['shop']), 'TableAlreadyExists', 'b');
    assert.doesNotMatch(taken.message, /mode/);
    assert.deepEqual((await db.tableNames(['shop'])).toSorted(), ['a', 'b']);
    assert.deepEqual(await (await db.openTable('b', ['shop'])).query().toArray(), [{ x: 'y' }]);
  });

  test('of what is not there, or to where nothing is, says so', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    await db.createTable('a', rows, ['shop']);
    await fails(() => db.renameTable('nope', 'b', ['shop']), 'TableNotFound', 'nope');
    await fails(() => db.renameTable('a', 'b', ['shop'], { newNamespacePath: ['nope'] }), 'NamespaceNotFound', 'nope');
    assert.deepEqual(await db.tableNames(['shop']), ['a']);
  });

  test('to the name that it has changes nothing, and a missing table is an error', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    for (const path of [[], ['shop']]) {
      await db.createTable('t', rows, path);
      await db.renameTable('t', 't', path);
      await db.renameTable('t', 't', path, { newNamespacePath: path });
      assert.deepEqual(await db.tableNames(path), ['t']);
      assert.equal(await (await db.openTable('t', path)).countRows(), 2);
      await fails(() => db.renameTable('nope', 'nope', path), 'TableNotFound', 'nope');
    }
    await fails(() => db.renameTable('t', 't', ['nope']), 'NamespaceNotFound', 'nope');
  });

  test('takes names by the rule, before anything is asked', async () => {
    const { db } = await makeCatalog();
    await db.createTable('t', rows);
    await fails(() => db.renameTable('t', 'a/b'), 'InvalidInput', 'a/b');
    await fails(() => db.renameTable('t', 'u', { newNamespacePath: [''] }), 'InvalidInput', 'empty');
    assert.deepEqual(await db.tableNames(), ['t']);
  });

  test('of a table in the root works, or says why it does not', async () => {
    const { db } = await makeCatalog();
    await db.createTable('t', rows);
    const renaming = db.renameTable('t', 'u');
    if (
      await renaming.then(
        () => true,
        () => false,
      )
    ) {
      assert.deepEqual(await db.tableNames(), ['u']);
      assert.equal(await (await db.openTable('u')).countRows(), 2);
    } else {
      await fails(() => renaming, 'Unsupported', '"t"');
      assert.deepEqual(await db.tableNames(), ['t']);
      assert.equal(await (await db.openTable('t')).countRows(), 2);
    }
  });
});

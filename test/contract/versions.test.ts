import assert from 'node:assert/strict';
import { fails } from './expect.ts';
import { forEachSubject } from './subjects.ts';

const rows = [{ id: 1 }, { id: 2 }];

forEachSubject('versions', (makeCatalog) => {
  test('are listed oldest first, with their time', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.add([{ id: 3 }]);
    await table.delete('id = 3');
    const versions = await table.listVersions();
    assert.deepEqual(
      versions.map(({ version }) => version),
      [1, 2, 3],
    );
    assert.ok(versions.every(({ timestamp }) => Math.abs(timestamp.getTime() - Date.now()) < 120_000));
  });

  test('are restored as a new version', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.delete('id = 1');
    await table.restore(1);
    assert.equal(await table.countRows(), 2);
    assert.equal(await table.version(), 3);
  });

  test('that are not there are not restored', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await fails(() => table.restore(0), 'InvalidInput', '0');
    await fails(() => table.restore(99), 'VersionNotFound', '99');
    assert.equal(await table.version(), 1);
  });

  test('hold still for who opened one', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const old = await db.openTable('t', { version: 1 });
    await table.add([{ id: 3 }]);
    assert.equal(await old.countRows(), 2);
    assert.deepEqual(await old.query().toArray(), [{ id: 1n }, { id: 2n }]);
    assert.equal(await old.countRows('id > 1'), 1);
    await table.addColumns([{ name: 'twice', expression: 'id * 2' }]);
    assert.deepEqual((await old.schema()).names, ['id']);
  });
});

forEachSubject('tags', (makeCatalog) => {
  test('name versions', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.add([{ id: 3 }]);
    await table.tags().create('first', 1);
    await table.tags().create('v2.0', 2);
    assert.equal(await table.tags().getVersion('first'), 1);
    const tags = await table.tags().list();
    assert.deepEqual([...tags].map(([name, { version }]) => `${name} ${version}`).toSorted(), ['first 1', 'v2.0 2']);
  });

  test('open the version that they name, to read alone', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.tags().create('first', 1);
    await table.add([{ id: 3 }]);
    const old = await db.openTable('t', { tag: 'first' });
    assert.equal(await old.countRows(), 2);
    assert.equal(await old.version(), 1);
    assert.equal((await db.describeTable('t', { tag: 'first' })).numRows, 2);
    await fails(() => old.add(rows), 'InvalidInput', '"t"');
    await fails(() => db.openTable('t', { tag: 'first', version: 1 }), 'InvalidInput', 'tag', 'version');
    await fails(() => db.openTable('t', { tag: 'nope' }), 'TagNotFound', 'nope');
  });

  test('move to another version, and go', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.add([{ id: 3 }]);
    await table.tags().create('now', 1);
    await table.tags().update('now', 2);
    assert.equal(await table.tags().getVersion('now'), 2);
    await table.tags().delete('now');
    assert.equal((await table.tags().list()).size, 0);
  });

  test('that are wrong say what is wrong', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.tags().create('now', 1);
    await fails(() => table.tags().create('now', 1), 'TagAlreadyExists', 'now');
    await fails(() => table.tags().getVersion('nope'), 'TagNotFound', 'nope');
    await fails(() => table.tags().update('nope', 1), 'TagNotFound', 'nope');
    await fails(() => table.tags().delete('nope'), 'TagNotFound', 'nope');
    await fails(() => table.tags().create('later', 99), 'VersionNotFound', '99');
    await fails(() => table.tags().update('now', 99), 'VersionNotFound', '99');
    assert.deepEqual([...(await table.tags().list()).keys()], ['now']);
  });
});

forEachSubject('branches', (makeCatalog) => {
  test('go their own way from a version', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.branches().create('try', { fromVersion: 1 });
    assert.deepEqual([...(await table.branches().list()).keys()], ['try']);
    const branch = await db.openTable('t', { branch: 'try' });
    await branch.add([{ id: 3 }, { id: 4 }]);
    assert.equal(await branch.countRows(), 4);
    assert.equal(await table.countRows(), 2);
    await table.add([{ id: 9 }]);
    assert.equal(await branch.countRows('id = 9'), 0);
    assert.deepEqual((await branch.query().select(['id']).toArray()).length, 4);
  });

  test('say where they came from', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.add([{ id: 3 }]);
    await table.branches().create('try', { fromVersion: 1 });
    assert.equal((await table.branches().list()).get('try')?.parentVersion, 1);
  });

  test('are deleted, and those that are not there are missed', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.branches().create('try');
    await table.branches().delete('try');
    assert.equal((await table.branches().list()).size, 0);
    await assert.rejects(() => db.openTable('t', { branch: 'try' }));
    await assert.rejects(() => table.branches().delete('try'));
    assert.equal(await table.countRows(), 2);
  });
});

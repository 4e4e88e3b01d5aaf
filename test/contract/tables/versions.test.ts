import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as upstream from '@lancedb/lancedb';
import { fails } from '../expect.ts';
import { forEachOfOurs, forEachSubject } from '../subjects.ts';

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
    assert.deepEqual(await old.query().toArray(), [{ id: 1 }, { id: 2 }]);
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

forEachOfOurs('tags and branches', (makeCatalog) => {
  test('that are made on a branch are of that branch', async () => {
    const { db } = await makeCatalog();
    const main = await db.createTable('t', rows);
    await main.branches().create('trial');
    const trial = await db.openTable('t', { branch: 'trial' });
    await trial.add([{ id: 3 }]);
    await trial.tags().create('three', 2);
    await main.add([{ id: 4 }, { id: 5 }]);
    assert.equal(await (await db.openTable('t', { tag: 'three' })).countRows(), 3);
    assert.equal(await (await db.openTable('t', { tag: 'three', branch: 'trial' })).countRows(), 3);
    await fails(() => db.openTable('t', { tag: 'three', branch: 'main' }), 'InvalidInput', '"trial"', '"main"');
    await main.tags().create('four', 2);
    await fails(() => db.openTable('t', { tag: 'four', branch: 'trial' }), 'InvalidInput', '"main"', '"trial"');
    await trial.branches().create('next');
    assert.equal((await main.branches().list()).get('next')?.parentBranch, 'trial');
    assert.equal(await (await db.openTable('t', { branch: 'next' })).countRows(), 3);
    await trial.branches().create('other', { fromBranch: 'main' });
    assert.equal(await (await db.openTable('t', { branch: 'other' })).countRows(), 4);
    await fails(() => main.branches().delete('trial'), 'InvalidInput', '"trial"', '"next"');
  });

  test('have names that the engine finds again', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    for (const name of ['ü', 'main', 'a b', '.a', 'a..b', 'a.lock', '', 'x'.repeat(200)]) {
      await fails(() => table.tags().create(name, 1), 'InvalidInput', 'tag');
      await fails(() => table.branches().create(name), 'InvalidInput', 'branch');
    }
    await fails(() => table.tags().create('a/b', 1), 'InvalidInput', '"a/b"');
    await fails(() => table.branches().create('a//b'), 'InvalidInput', '"a//b"');
    await table.branches().create('a/b');
    assert.deepEqual(
      [[...(await table.tags().list()).keys()], [...(await table.branches().list()).keys()]],
      [[], ['a/b']],
    );
  });

  test('are listed though another client has made a tag that the engine loses, and can go', async () => {
    const { db, root } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.tags().create('one', 1);
    const theirs = await upstream.connectNamespace('dir', { root });
    await (await (await theirs.openTable('t')).tags()).create('ü', 1);
    assert.deepEqual([...(await table.tags().list()).keys()].toSorted(), ['one', 'ü']);
    await table.tags().delete('ü');
    assert.deepEqual([...(await table.tags().list()).keys()], ['one']);
    await table.branches().create('trial');
    await table.branches().delete('trial');
  });
});

forEachOfOurs('versions of branches', (makeCatalog) => {
  test('are listed by their tags with the branch that each is of, whatever other files are there', async () => {
    const { db, root } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.tags().create('here', 1);
    await table.branches().create('try');
    const branch = await db.openTable('t', { branch: 'try' });
    await branch.add([{ id: 3 }]);
    await branch.tags().create('there', 2);
    const branches = async () =>
      Object.fromEntries([...(await table.tags().list())].map(([name, tag]) => [name, [tag.version, tag.branch]]));
    const expected = { here: [1, undefined], there: [2, 'try'] };
    assert.deepEqual(await branches(), expected);
    for (const file of ['.DS_Store', 'note.txt', 'half.json', '%zz.json']) {
      await writeFile(join(root, 't.lance', '_refs', 'tags', file), '{"version":');
    }
    assert.deepEqual(await branches(), expected);
  });

  test('are described by the tags that were made or moved there', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.branches().create('try');
    const branch = await db.openTable('t', { branch: 'try' });
    await branch.add([{ id: 3 }]);
    await table.add([{ id: 3 }, { id: 4 }]);
    await branch.tags().create('there', 2);
    assert.equal(await (await db.openTable('t', { tag: 'there' })).countRows(), 3);
    assert.equal((await db.describeTable('t', { tag: 'there' })).numRows, 3);
    await table.tags().update('there', 2);
    assert.equal((await db.describeTable('t', { tag: 'there' })).numRows, 4);
    await branch.tags().update('there', 2);
    assert.equal((await db.describeTable('t', { tag: 'there' })).numRows, 3);
  });

  test('have the indexes that they had', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.branches().create('try');
    const branch = await db.openTable('t', { branch: 'try' });
    await branch.createIndex('id', { type: 'BTREE' });
    await table.add([{ id: 3 }]);
    const version = await branch.version();
    const at = await db.openTable('t', { branch: 'try', version });
    assert.deepEqual(
      (await at.listIndices()).map(({ name }) => name),
      ['id_idx'],
    );
    assert.equal((await at.indexStats('id_idx')).numIndexedRows, 2);
  });
});

import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import * as upstream from '@lancedb/lancedb';
import { type DirCatalog, openDir } from '#engine/dir/dirCatalog.ts';
import { updateManifest } from '#engine/dir/files/manifestTable.ts';
import { tempFolder } from '../../harness/temp.ts';
import { fails } from '../expect.ts';
import { startServing } from '../serve/serving.ts';

const rows = [{ id: 1 }, { id: 2 }];

/** Creates a root beside another one, whose table the first one must not touch. */
async function neighbours(): Promise<{ root: string; db: DirCatalog; victim: string }> {
  const both = tempFolder();
  const [root, other] = [join(both, 'a'), join(both, 'b')];
  mkdirSync(root);
  mkdirSync(other);
  await (await openDir({ root: other })).createTable('victim', rows);
  return { root, db: await openDir({ root }), victim: join(other, 'victim.lance') };
}

suite('places of tables in a directory', function () {
  this.timeout(60_000);

  const astray = ['../b/victim', 'x/../../b/victim', './../b/victim', '..\\b\\victim', '/b/victim'];

  test('are below its root, whatever path a name is', async () => {
    const { db, victim } = await neighbours();
    for (const name of [...astray, victim.replace(/\.lance$/, '')]) {
      await fails(() => db.dropTable(name), 'TableNotFound');
      await fails(() => db.renameTable(name, 'mine'), 'TableNotFound');
      await fails(() => db.deregisterTable(name), 'TableNotFound');
      await fails(() => db.openTable(name), 'TableNotFound');
      assert.equal(await db.declaredLocation(name, []), undefined);
    }
    assert.ok(existsSync(join(victim, '_versions')));
    assert.ok(!existsSync(join(victim, '.lance-deregistered')));
    assert.deepEqual(await db.tableNames(), []);
  });

  test('are below its root over our server too', async () => {
    const { root, victim } = await neighbours();
    const server = await startServing(root);
    try {
      for (const call of ['drop', 'rename', 'deregister']) {
        const answer = await fetch(`${server.uri}/v1/table/..%2Fb%2Fvictim/${call}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${server.key}` },
          body: call === 'rename' ? '{"new_table_name":"mine"}' : '{}',
        });
        assert.equal(answer.status, 404);
      }
    } finally {
      await server.close();
    }
    assert.ok(existsSync(join(victim, '_versions')));
    assert.ok(!existsSync(join(victim, '.lance-deregistered')));
  });

  test('are paths where upstream made them of names with slashes, and those are read and dropped', async () => {
    const { root, db } = await neighbours();
    const theirs = await upstream.connectNamespace('dir', { root });
    await theirs.createTable('has/slash', rows, []);
    await theirs.createNamespace(['ns']);
    await theirs.createTable('has/slash', rows, ['ns']);
    for (const path of [[], ['ns']]) {
      assert.equal(await (await db.openTable('has/slash', path)).countRows(), 2);
      await db.dropTable('has/slash', path);
      assert.equal(await db.tableExists('has/slash', path), false);
    }
    await fails(() => db.dropTable('has/slash'), 'TableNotFound');
  });

  test('are not the list of tables, nor a folder that is there for something else', async () => {
    const { root, db } = await neighbours();
    await db.createNamespace(['ns']);
    for (const place of ['__manifest', '__MANIFEST', '.dropped-1', '_versions', join(root, '__manifest'), '..']) {
      await fails(() => db.registerTable('t', place, ['ns']), 'InvalidInput');
    }
    assert.deepEqual(await db.tableNames(['ns']), []);
  });

  test('that the list has elsewhere are not touched, and can be taken off it', async () => {
    const { root, db, victim } = await neighbours();
    await db.createNamespace(['ns']);
    const place = { location: root, isLocal: true };
    for (const location of ['../b/victim.lance', '__manifest', victim]) {
      for (const ending of ['dropTable', 'deregisterTable'] as const) {
        await updateManifest(place, (list) =>
          list.insert('ns$t', { location, metadata: null }, 'ns').catch(() => undefined),
        );
        await fails(() => db.declaredLocation('t', ['ns']), 'InvalidTableState', 'deregisterTable');
        await db[ending]('t', ['ns']);
        assert.deepEqual(await db.tableNames(['ns']), []);
      }
    }
    assert.ok(existsSync(join(victim, '_versions')));
    assert.ok(await db.namespaceExists(['ns']));
  });

  test('are not found by names that hold the delimiter of the list', async () => {
    const { db } = await neighbours();
    await db.createNamespace(['a']);
    await db.createNamespace(['a', 'b']);
    await db.createTable('c', rows, ['a', 'b']);
    await fails(() => db.openTable('b$c', ['a']), 'TableNotFound');
    await fails(() => db.dropTable('a$b$c'), 'TableNotFound');
    await fails(() => db.renameTable('b$c', 'x', ['a']), 'TableNotFound');
    await fails(() => db.dropTable('c', ['a$b']), 'NamespaceNotFound');
    await fails(() => db.openTable('c', ['a$b']), 'NamespaceNotFound');
    await fails(() => db.createTable('d', rows, ['a$b']), 'NamespaceNotFound');
    await fails(() => db.createNamespace(['a$b', 'd']), 'NamespaceNotFound');
    await fails(() => db.listTables(['a$b']), 'NamespaceNotFound');
    await fails(() => db.dropNamespace(['a$b'], { behavior: 'cascade' }), 'NamespaceNotFound');
    assert.equal(await db.namespaceExists(['a$b']), false);
    assert.deepEqual(await db.tableNames(['a', 'b']), ['c']);
  });
});

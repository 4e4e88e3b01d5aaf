import assert from 'node:assert/strict';
import { operations } from '#catalog/contract.ts';
import type { Catalog } from '#catalog/catalog.ts';
import { openRest } from '#catalog/rest/restCatalog.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { tempFolder } from '../../harness/temp.ts';
import { pathsRead } from '../fileReads.ts';
import { startPlainServer } from '../rest/plainServer.ts';
import { forEachOfOurs, forEachSubject } from '../subjects.ts';

const rows = [{ id: 1 }];

async function pagesOf(db: Catalog, path: string[], limit: number): Promise<string[]> {
  const seen: string[] = [];
  let pageToken: string | undefined;
  do {
    const page = await db.listTables(path, { limit, pageToken });
    assert.ok(page.tables.length <= limit);
    seen.push(...page.tables);
    ({ pageToken } = page);
  } while (pageToken !== undefined);
  return seen;
}

for (const path of [[], ['shop']]) {
  forEachSubject(`lists of tables in ${path.length === 0 ? 'the root' : 'a namespace'}`, (makeCatalog) => {
    test('give the same tables in pages of any size', async () => {
      const { db } = await makeCatalog();
      await db.createNamespace(['shop']);
      const names = ['A', 'a', 'a-1', 'a1', 'b', 'c.d', 'z_'];
      for (const name of names.toReversed()) await db.createTable(name, rows, path);
      assert.deepEqual(await db.tableNames(path), names.toSorted());
      for (const limit of [1, 2, 3, 7, 8]) assert.deepEqual(await pagesOf(db, path, limit), names.toSorted());
    });

    test('have tables that are added or dropped between two pages, if they are not passed yet', async () => {
      const { db } = await makeCatalog();
      await db.createNamespace(['shop']);
      for (const name of ['b', 'd', 'f', 'h']) await db.createTable(name, rows, path);
      const first = await db.listTables(path, { limit: 2 });
      assert.deepEqual(first.tables, ['b', 'd']);
      for (const name of ['a', 'c', 'e', 'g']) await db.createTable(name, rows, path);
      for (const name of ['b', 'd', 'f']) await db.dropTable(name, path);
      const second = await db.listTables(path, { limit: 2, pageToken: first.pageToken });
      assert.deepEqual(second.tables, ['e', 'g']);
      const third = await db.listTables(path, { limit: 2, pageToken: second.pageToken });
      assert.deepEqual(third, { tables: ['h'] });
    });
  });
}

forEachOfOurs('lists of tables without all of their files', (makeCatalog) => {
  test('have declared tables unless those are left out, and no deregistered ones', async () => {
    const { db } = await makeCatalog();
    for (const name of ['a', 'b', 'c']) await db.createTable(name, rows);
    await db.declareTable('aa');
    await db.declareTable('bb');
    await db.deregisterTable('b');
    assert.deepEqual(await db.tableNames(), ['a', 'aa', 'bb', 'c']);
    for (const limit of [1, 2, 3]) assert.deepEqual(await pagesOf(db, [], limit), ['a', 'aa', 'bb', 'c']);
    assert.deepEqual((await db.listTables([], { includeDeclared: false })).tables, ['a', 'c']);
    await db.registerTable('b', 'b.lance');
    assert.deepEqual(await db.tableNames(), ['a', 'aa', 'b', 'bb', 'c']);
  });
});

suite('lists of namespaces on a server', function () {
  this.timeout(30_000);

  test('have the tables for clients of the specification, and none for ours, which then do not cost a look', async () => {
    const root = tempFolder();
    const made = await openDir({ root });
    for (const name of ['n1', 'n2', 'n3']) await made.createNamespace([name]);
    for (const name of ['t1', 't2']) await made.createTable(name, rows);
    await made.close();
    const server = await startPlainServer(root);
    const db = await openRest({ uri: server.uri });
    try {
      const address = `${server.uri}${operations.ListNamespaces.path.replace('{id}', '%24')}`;
      const theirs: unknown = await (await fetch(address)).json();
      assert.deepEqual(theirs, { namespaces: ['n1', 'n2', 'n3'], tables: ['t1', 't2'] });
      const headers = { prefer: 'wait=5, namespaces_only' };
      assert.deepEqual(await (await fetch(address, { headers })).json(), { namespaces: ['n1', 'n2', 'n3'] });
      const ours = () => db.listNamespaces([], { limit: 3 });
      assert.deepEqual(
        (await pathsRead('readdir', ours)).filter((path) => path.startsWith(root)),
        [],
      );
      assert.deepEqual(await ours(), { namespaces: ['n1', 'n2', 'n3'] });
      const first = await db.listNamespaces([], { limit: 2 });
      assert.deepEqual(first.namespaces, ['n1', 'n2']);
      assert.deepEqual(await db.listNamespaces([], { limit: 2, pageToken: first.pageToken }), { namespaces: ['n3'] });
      // The first list of tables finds out the dialect of the server.
      await db.listTables();
      // The tree asks for both lists at once.
      const both = await pathsRead('readdir', () => Promise.all([db.listNamespaces(), db.listTables()]));
      assert.equal(both.filter((path) => path === root).length, 1);
    } finally {
      await db.close();
      await server.close();
    }
    assert.deepEqual(server.failures, []);
  });
});

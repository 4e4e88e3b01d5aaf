import assert from 'node:assert/strict';
import * as lancedb from '@lancedb/lancedb';
import type { Catalog } from '#catalog/catalog.ts';
import { fullKey, type ServeProcess, startServeWithCatalog } from '../serve/serveProcess.ts';

const rows = Array.from({ length: 12 }, (_, id) => ({
  id,
  name: ['red mug', 'blue mug', 'lamp'][id % 3],
  price: id % 4 === 3 ? null : id * 1.5,
  vector: [id, 1],
}));

const plain = (found: readonly unknown[]): Record<string, unknown>[] =>
  found.map((row) => ({ ...(row as { toJSON(): Record<string, unknown> }).toJSON() }));
const ids = (found: readonly unknown[]): number[] => plain(found).map(({ id }) => Number(id));

for (const [place, namespace] of [
  ['the root', []],
  ['a namespace', ['depot', 'north']],
] as [string, string[]][]) {
  suite(`LanceDB's remote client in ${place}`, function () {
    this.timeout(60_000);
    let server: ServeProcess;
    let ours: Catalog;
    let db: lancedb.Connection;
    let table: lancedb.Table;

    suiteSetup(async () => {
      ({ server, catalog: ours } = await startServeWithCatalog());
      await ours.createNamespace(['depot']);
      await ours.createNamespace(['depot', 'north']);
      db = await lancedb.connect('db://main', { apiKey: fullKey, hostOverride: server.address });
      table = await db.createTable('items', rows, namespace);
    });
    suiteTeardown(async () => {
      await ours?.close();
      await server?.stop();
    });

    test('lists and opens the tables of its namespace', async () => {
      assert.deepEqual(await db.tableNames(namespace), ['items']);
      assert.equal(await (await db.openTable('items', namespace)).countRows('id > 3'), 8);
      await assert.rejects(db.createTable('items', rows, namespace), /already exists/);
      await assert.rejects(db.openTable('missing', namespace), /not found/);
    });

    test('reads the schema', async () => {
      const { fields } = await table.schema();
      assert.deepEqual(
        fields.map(({ name, type }) => `${name} ${String(type)}`),
        ['id Float64', 'name Utf8', 'price Float64', 'vector FixedSizeList[2]<Float32>'],
      );
    });

    test('filters, selects, orders and limits rows', async () => {
      assert.equal((await table.query().toArray()).length, 12);
      assert.deepEqual(ids(await table.query().where("id > 8 AND name = 'lamp'").select(['id']).toArray()), [11]);
      assert.deepEqual(plain(await table.query().select({ twice: 'id * 2' }).where('id = 2').toArray()), [
        { twice: 4 },
      ]);
      const down = table.query().orderBy({ columnName: 'id', ascending: false }).limit(2).offset(1);
      assert.deepEqual(ids(await down.toArray()), [10, 9]);
    });

    test('searches by vectors', async () => {
      assert.deepEqual(ids(await table.vectorSearch([4.1, 1]).limit(2).toArray()), [4, 5]);
      assert.deepEqual(ids(await table.vectorSearch([4.1, 1]).where('id > 6').limit(1).toArray()), [7]);
      const several = table.vectorSearch([2, 1]).addQueryVector([9, 1]).limit(1);
      assert.deepEqual(
        plain(await several.toArray()).map((row) => [row['query_index'], row['id']]),
        [
          [0, 2],
          [1, 9],
        ],
      );
      assert.match(await table.vectorSearch([4, 1]).explainPlan(true), /KNN/);
    });

    test('names a missing index, version, tag or branch, and does not say that the table is missing', async () => {
      const tags = await table.tags();
      const branches = await table.branches();
      await tags.create('first', 1);
      const calls: [RegExp, () => Promise<unknown>][] = [
        [/items" has no full-text index/, () => table.query().fullTextSearch('mug').toArray()],
        [/items" has no version 99/, () => tags.create('late', 99)],
        [/items" has no version 99/, () => tags.update('first', 99)],
        [/items" has no version 99/, () => table.checkout(99)],
        [/items" has no version 99/, () => branches.create('late', 'main', 99)],
        [/no branch "nothing"/, () => branches.create('late', 'nothing')],
        [/items" has no tag "nothing"/, () => tags.getVersion('nothing')],
        [/items" has no index "nothing"/, () => table.dropIndex('nothing')],
      ];
      for (const [said, call] of calls) {
        const { message } = await call().then(
          () => assert.fail(`${String(said)} was not said`),
          (error: Error) => error,
        );
        assert.match(message.replaceAll('\\"', '"'), said);
        assert.doesNotMatch(message, /was not found/);
      }
      await tags.delete('first');
      assert.equal(await table.indexStats('nothing'), undefined);
    });

    test('searches by words, phrases and operators', async () => {
      await table.createIndex('name', { config: lancedb.Index.fts({ withPosition: true }) });
      const find = async (query: string | lancedb.FullTextQuery) =>
        ids(await table.query().fullTextSearch(query).limit(12).toArray()).toSorted((a, b) => a - b);
      assert.deepEqual(await find('mug'), [0, 1, 3, 4, 6, 7, 9, 10]);
      assert.deepEqual(await find(new lancedb.PhraseQuery('red mug', 'name')), [0, 3, 6, 9]);
      assert.deepEqual(await find(new lancedb.MatchQuery('lamb', 'name', { fuzziness: 1 })), [2, 5, 8, 11]);
    });

    test('adds, merges, updates and deletes rows, and counts them', async () => {
      await table.add([{ id: 20, name: 'vase', price: 1, vector: [20, 1] }]);
      const merged = await table
        .mergeInsert('id')
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute([20, 21].map((id) => ({ id, name: 'jar', price: 2, vector: [id, 1] })));
      assert.deepEqual([merged.numUpdatedRows, merged.numInsertedRows], [1, 1]);
      assert.equal((await table.update({ where: 'id >= 20', values: { name: 'pot' } })).rowsUpdated, 2);
      assert.equal((await table.delete('id >= 20')).numDeletedRows, 2);
      assert.equal(await table.countRows(), 12);
    });

    test('adds, alters and drops columns', async () => {
      await table.addColumns([{ name: 'twice', valueSql: 'id * 2' }]);
      await table.alterColumns([{ path: 'twice', dataType: 'float', rename: 'double' }]);
      const [row] = plain(await table.query().where('id = 3').select(['double']).toArray());
      assert.deepEqual(row, { double: 6 });
      await table.dropColumns(['double']);
      assert.equal((await table.schema()).fields.length, 4);
    });

    test('tags, checks out and restores versions', async () => {
      const version = await table.version();
      const tags = await table.tags();
      await tags.create('now', version);
      assert.equal((await tags.list())['now']?.version, version);
      await table.add([rows[0]!]);
      await table.checkout('now');
      assert.equal(await table.countRows(), 12);
      await table.restore();
      assert.equal(await table.countRows(), 12);
      assert.ok((await table.listVersions()).length > 3);
    });

    test('renames and drops tables, and our client sees the same', async () => {
      await db.createTable('gone', [{ id: 1 }], namespace);
      await db.dropTable('gone', namespace);
      await db.renameTable('items', 'kept', { namespacePath: namespace });
      assert.deepEqual(await ours.tableNames(namespace), ['kept']);
      assert.equal(await (await ours.openTable('kept', namespace)).countRows(), 12);
      assert.deepEqual(await ours.tableNames(['depot']), []);
      // A connection that has opened a table in the root still requests the table by its old name after a rename
      // (docs/compatibility.md).
      const count = async (): Promise<number> => (await db.openTable('kept', namespace)).countRows();
      if (namespace.length === 0) await assert.rejects(count, /'items' was not found/);
      else assert.equal(await count(), 12);
      const again = await lancedb.connect('db://main', { apiKey: fullKey, hostOverride: server.address });
      assert.equal(await (await again.openTable('kept', namespace)).countRows(), 12);
    });

    test('works with an address that ends with a slash', async () => {
      const slashed = await lancedb.connect('db://main', { apiKey: fullKey, hostOverride: `${server.address}/` });
      assert.deepEqual(await slashed.tableNames(namespace), await ours.tableNames(namespace));
      const made = await slashed.createTable('slashed', [{ id: 1 }], namespace);
      assert.equal(await made.countRows(), 1);
    });
  });
}

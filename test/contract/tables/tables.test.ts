import assert from 'node:assert/strict';
import { Field, Int64, Schema } from '#arrow';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { fails } from '../expect.ts';
import { forEachSubject } from '../subjects.ts';

const rows = [
  { id: 1, name: 'mug', price: 9.5 },
  { id: 2, name: 'lamp', price: 59 },
  { id: 3, name: 'chair', price: 120 },
];

forEachSubject('tables', (makeCatalog) => {
  test('go where the named option says', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    await db.createTable('products', rows, { namespacePath: ['shop'] });
    assert.deepEqual(await db.tableNames(['shop']), ['products']);
    assert.deepEqual(await db.tableNames(), []);
  });

  test('go where the positional array says', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    await db.createTable('products', rows, ['shop'], { mode: 'create' });
    assert.deepEqual(await db.tableNames(['shop']), ['products']);
    assert.equal(await (await db.openTable('products', ['shop'])).countRows(), 3);
    assert.equal(await (await db.openTable('products', { namespacePath: ['shop'] })).countRows(), 3);
  });

  test('refuse two namespaces that differ, and write nothing', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['a']);
    await db.createNamespace(['b']);
    await fails(() => db.createTable('t', rows, ['a'], { namespacePath: ['b'] } as never), 'InvalidInput', 'a', 'b');
    assert.deepEqual(await db.tableNames(['a']), []);
    assert.deepEqual(await db.tableNames(['b']), []);
  });

  test('refuse an option that nobody knows, in every call', async () => {
    const { db } = await makeCatalog();
    const wrong = { namespace: ['shop'] } as never;
    const schema = new Schema([new Field('id', new Int64(), true)]);
    await fails(() => db.createTable('t', rows, wrong), 'InvalidInput', '"namespace"', 'namespacePath');
    await fails(() => db.createEmptyTable('t', schema, wrong), 'InvalidInput', '"namespace"');
    await fails(() => db.openTable('t', wrong), 'InvalidInput', '"namespace"');
    await fails(() => db.dropTable('t', wrong), 'InvalidInput', '"namespace"');
    await fails(() => db.describeTable('t', wrong), 'InvalidInput', '"namespace"');
    await fails(() => db.renameTable('t', 'u', wrong), 'InvalidInput', '"namespace"');
    assert.deepEqual(await db.tableNames(), []);
  });

  test('that are missing fail to open, describe and drop', async () => {
    const { db } = await makeCatalog();
    await fails(() => db.openTable('nope'), 'TableNotFound', '"nope"');
    await fails(() => db.describeTable('nope'), 'TableNotFound', '"nope"');
    await fails(() => db.dropTable('nope'), 'TableNotFound', '"nope"');
  });

  test('are gone after a drop', async () => {
    const { db } = await makeCatalog();
    await db.createTable('t', rows);
    await db.dropTable('t');
    assert.deepEqual(await db.tableNames(), []);
    await fails(() => db.openTable('t'), 'TableNotFound', '"t"');
  });

  test('describe their version, rows and columns', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    await db.createTable('products', rows, ['shop']);
    // Ignore the location, because a server need not report it.
    const { location: _, ...described } = await db.describeTable('products', ['shop']);
    assert.deepEqual(described, {
      name: 'products',
      namespacePath: ['shop'],
      version: 1,
      numRows: 3,
      columns: [
        { name: 'id', type: 'double', nullable: true },
        { name: 'name', type: 'utf8', nullable: true },
        { name: 'price', type: 'double', nullable: true },
      ],
    });
  });

  test('say whether they exist', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    await db.createTable('t', rows, ['shop']);
    assert.equal(await db.tableExists('t', ['shop']), true);
    assert.equal(await db.tableExists('t', { namespacePath: ['shop'] }), true);
    assert.equal(await db.tableExists('t'), false);
    assert.equal(await db.tableExists('t', ['nope']), false);
  });

  test('come in pages that together give each name once', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    const names = Array.from({ length: 5 }, (_, index) => `t${index}`);
    for (const path of [[], ['shop']]) {
      for (const name of names) await db.createTable(name, [{ id: 1 }], path);
      const seen: string[] = [];
      let pageToken: string | undefined;
      do {
        const page = await db.listTables(path, { limit: 2, pageToken });
        assert.ok(page.tables.length <= 2);
        seen.push(...page.tables);
        ({ pageToken } = page);
      } while (pageToken !== undefined && seen.length < 20);
      assert.deepEqual(seen.toSorted(), names);
      assert.deepEqual((await db.tableNames(path)).toSorted(), names);
    }
  });

  test('dropped and made again are the new ones to who had opened the old one, or gone', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await db.dropTable('t');
    await db.createTable('t', [{ other: 'x' }]);
    assert.deepEqual(await table.query().toArray(), [{ other: 'x' }]);
    assert.equal(await table.countRows(), 1);
  });

  test('describe one version of themselves while someone writes', async () => {
    const { db, root } = await makeCatalog();
    // Each version adds one row.
    await db.createTable('t', [{ id: 1 }]);
    const writer = await (await openDir({ root })).openTable('t');
    const writing = (async () => {
      for (let id = 2; id <= 15; id++) await writer.add([{ id }]);
    })();
    const seen = new Set<number>();
    while (!seen.has(15)) {
      const { version, numRows } = await db.describeTable('t');
      assert.ok(version !== undefined);
      assert.equal(numRows, version);
      seen.add(version);
    }
    await writing;
    assert.ok(seen.size > 1, 'nobody wrote while the table was described');
    assert.equal((await db.describeTable('t', { version: 7 })).numRows, 7);
  });

  test('open at an old version, where they can be read and not changed', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.add([{ id: 4, name: 'plant', price: 15 }]);
    const old = await db.openTable('t', { version: 1 });
    assert.equal(await old.countRows(), 3);
    assert.equal(await old.version(), 1);
    assert.equal((await db.describeTable('t', { version: 1 })).numRows, 3);
    assert.equal((await old.query().toArrow()).numRows, 3);
    await fails(() => old.add(rows), 'InvalidInput', '"t"');
    await fails(() => old.delete('id = 1'), 'InvalidInput', '"t"');
    assert.equal(await (await db.openTable('t')).countRows(), 4);
    await fails(() => db.openTable('t', { version: 99 }), 'VersionNotFound', '99');
    await fails(() => db.openTable('t', { version: 0 }), 'InvalidInput', '0');
  });

  test('follow another writer', async () => {
    const { db, root } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const other = await openDir({ root });
    await (await other.openTable('t')).add([{ id: 4, name: 'plant', price: 15 }]);
    assert.equal(await table.countRows(), 4);
    await other.close();
  });

  test('are refused once the catalog is closed', async () => {
    const { db } = await makeCatalog();
    await db.createTable('t', rows);
    await db.close();
    await fails(() => db.listTables(), 'InvalidInput', 'closed', 'Connect again');
  });
});

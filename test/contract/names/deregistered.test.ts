import assert from 'node:assert/strict';
import { Field, Int64, Schema } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { fails } from '../expect.ts';
import { forEachOfOurs } from '../subjects.ts';

const rows = [{ id: 1 }, { id: 2 }];

/**
 * Deregisters a table in the root. The table's folder stays, under the same name. `withManifest`: the root also has a
 * manifest.
 */
async function deregister(db: Catalog, withManifest: boolean): Promise<string> {
  if (withManifest) await db.createNamespace(['other']);
  await db.createTable('t', rows);
  const { location } = await db.deregisterTable('t');
  assert.ok(location !== undefined);
  return location;
}

/** Asserts that the table can be registered again with its rows. */
async function comesBack(db: Catalog, location: string): Promise<void> {
  await db.registerTable('t', location);
  assert.equal(await (await db.openTable('t')).countRows(), 2);
}

forEachOfOurs('tables deregistered in the root', (makeCatalog) => {
  for (const withManifest of [false, true]) {
    const where = withManifest ? 'a root with a manifest' : 'a root without a manifest';

    test(`can't be dropped, renamed or deregistered again in ${where}`, async () => {
      const { db } = await makeCatalog();
      const location = await deregister(db, withManifest);
      await fails(() => db.dropTable('t'), 'TableNotFound', '"t"');
      await fails(() => db.renameTable('t', 'u'), 'TableNotFound', '"t"');
      await fails(() => db.renameTable('t', 't'), 'TableNotFound', '"t"');
      await fails(() => db.deregisterTable('t'), 'TableNotFound', '"t"');
      assert.deepEqual(await db.tableNames(), []);
      await comesBack(db, location);
      assert.deepEqual(await db.tableNames(), ['t']);
    });

    test(`leave their name to a namespace, and return once that is dropped, in ${where}`, async () => {
      const { db } = await makeCatalog();
      const location = await deregister(db, withManifest);
      await db.createNamespace(['t']);
      await fails(() => comesBack(db, location), 'NamespaceAlreadyExists', '"t"');
      await db.createTable('u', rows);
      await fails(() => db.renameTable('u', 't'), 'NamespaceAlreadyExists', '"t"');
      await db.dropNamespace(['t']);
      await comesBack(db, location);
    });

    test(`keep other tables from their name, in ${where}`, async () => {
      const { db } = await makeCatalog();
      const location = await deregister(db, withManifest);
      await db.createTable('u', rows);
      const calls = [
        () => db.createTable('t', rows),
        () => db.createTable('t', rows, { mode: 'exist_ok' }),
        () => db.createTable('t', rows, { mode: 'overwrite' }),
        () => db.createEmptyTable('t', new Schema([new Field('id', new Int64())]), { mode: 'exist_ok' }),
        () => db.declareTable('t'),
        () => db.renameTable('u', 't'),
      ];
      for (const call of calls) await fails(call, 'TableAlreadyExists', '"t"', 'deregistered', 'registerTable()');
      await comesBack(db, location);
    });

    test(`can be dropped after they were registered again, in ${where}`, async () => {
      const { db } = await makeCatalog();
      await comesBack(db, await deregister(db, withManifest));
      await db.dropTable('t');
      await db.createTable('t', [{ id: 3 }]);
      assert.deepEqual(await db.tableNames(), ['t']);
    });
  }

  test('stay out of the lists of the root while a namespace has their files', async () => {
    const { db } = await makeCatalog();
    const location = await deregister(db, true);
    await db.registerTable('t', location, ['other']);
    for (const kept of [[{ id: 3 }], []]) {
      const schema = new Schema([new Field('id', new Int64())]);
      const table = await db.createTable('t', kept, ['other'], { mode: 'overwrite', schema });
      assert.equal(await table.countRows(), kept.length);
      assert.deepEqual([await db.tableNames(), await db.tableNames(['other'])], [[], ['t']]);
      await fails(() => db.dropTable('t'), 'TableNotFound', '"t"');
    }
  });
});

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { registerDir } from '#engine/register.ts';
import { isCatalogError } from '#shared/errors.ts';
import { nextSteps } from '#shared/nextSteps.ts';
import { tempFolder } from '../../harness/temp.ts';
import { startServing } from '../serve/serving.ts';

/** The calls that name a table or a namespace with one wrong letter, and the next step of their errors. */
const wrongNames: readonly (readonly [call: (db: Catalog) => Promise<unknown>, hint: string])[] = [
  [(db) => db.openTable('animal'), 'Did you mean "animals"?'],
  [(db) => db.openTable('Animals'), 'Did you mean "animals"?'],
  [(db) => db.describeTable('animal'), 'Did you mean "animals"?'],
  [(db) => db.dropTable('animal'), 'Did you mean "animals"?'],
  [(db) => db.renameTable('order', 'sales', ['shop']), 'Did you mean "shop/orders"?'],
  [(db) => db.openTable('orders', ['shp']), 'Did you mean "shop"?'],
  [(db) => db.openTable('orders', ['shop', 'ue']), 'Did you mean "shop/eu"?'],
  [(db) => db.listTables(['shp']), 'Did you mean "shop"?'],
  [(db) => db.tableNames(['shp']), 'Did you mean "shop"?'],
  [(db) => db.listNamespaces(['shp']), 'Did you mean "shop"?'],
  [(db) => db.describeNamespace(['shp']), 'Did you mean "shop"?'],
  [(db) => db.dropNamespace(['shp']), 'Did you mean "shop"?'],
  [(db) => db.createNamespace(['shp', 'us']), 'Did you mean "shop"?'],
  [(db) => db.createTable('new', [{ id: 1 }], ['shp']), 'Did you mean "shop"?'],
];

/** Names are listed within a time limit, which a busy machine may exceed once. */
const tries = 5;

async function hintOf(call: () => Promise<unknown>, wanted: string): Promise<string> {
  let hint = '';
  for (let attempt = 0; attempt < tries && hint !== wanted; attempt++)
    hint = await call().then(
      () => 'nothing failed',
      (error: unknown) => (isCatalogError(error) ? error.hint : String(error)),
    );
  return hint;
}

async function check(db: Catalog): Promise<void> {
  for (const [call, wanted] of wrongNames) assert.equal(await hintOf(() => call(db), wanted), wanted, String(call));
}

suite('An error about a name that does not exist', function () {
  this.timeout(60_000);

  let root = '';

  suiteSetup(async () => {
    registerDir();
    registerRest();
    root = tempFolder();
    const db = await openDir({ root });
    await db.createTable('animals', [{ id: 1 }]);
    await db.createNamespace(['shop']);
    await db.createNamespace(['shop', 'eu']);
    await db.createTable('orders', [{ id: 1 }], ['shop']);
    await db.close();
  });

  test('names the nearest table or namespace of a directory', async () => {
    const db = await connectNamespace('dir', { root });
    await check(db);
    await db.close();
  });

  test('names the nearest table or namespace of a server', async () => {
    const server = await startServing(root);
    try {
      const db = await connectNamespace('rest', { uri: server.uri, token: server.key });
      await check(db);
      await db.close();
    } finally {
      await server.close();
    }
  });

  test('says that a listed table has no data, which can be created or dropped', async () => {
    const place = tempFolder();
    mkdirSync(join(place, 'animals.lance'));
    mkdirSync(join(place, 'orders.lance'));
    const db = await connectNamespace('dir', { root: place });
    const wanted = nextSteps.listedWithoutData;
    assert.equal(await hintOf(() => db.openTable('animals'), wanted), wanted);
    assert.equal(await (await db.createTable('animals', [{ id: 1 }])).countRows(), 1);
    await db.dropTable('orders');
    assert.deepEqual(await db.tableNames(), ['animals']);
    await db.close();
  });

  test('names the root if it has no tables, because its path may be wrong', async () => {
    const empty = tempFolder();
    const db = await connectNamespace('dir', { root: empty });
    const wanted = `The root of "${empty}" has no tables. Check this location, or name a namespace.`;
    assert.equal(await hintOf(() => db.openTable('animals'), wanted), wanted);
    await db.close();
  });
});

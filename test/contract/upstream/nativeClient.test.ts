import assert from 'node:assert/strict';
import * as upstream from '@lancedb/lancedb';
import { tableFromArrays } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { tempFolder } from '../../harness/temp.ts';
import { type Serving, startServing } from '../serve/serving.ts';

const rows = [
  { id: 1, name: 'mug', vector: [1, 0] },
  { id: 2, name: 'lamp', vector: [0, 1] },
];

const plain = (found: readonly unknown[]): unknown[] => found.map((row) => (row as { toJSON(): unknown }).toJSON());

/** This client accesses the storage itself, at the location that the server reports. Here both are on one machine. */
suite("upstream's native REST client, on our server", function () {
  this.timeout(60_000);
  let server: Serving;
  let ours: Catalog;
  let theirs: upstream.Connection;

  suiteSetup(async () => {
    registerRest();
    server = await startServing(tempFolder());
    ours = await connectNamespace('rest', { uri: server.uri, apiKey: server.key });
    theirs = await upstream.connectNamespace('rest', { uri: server.uri, headers: { 'x-api-key': server.key } });
    await ours.createNamespace(['shop']);
    await ours.createNamespace(['shop', 'eu']);
    await ours.createTable('products', rows, ['shop']);
  });
  suiteTeardown(async () => {
    await ours?.close();
    await server?.close();
  });

  test('lists our namespaces and tables', async () => {
    assert.deepEqual((await theirs.listNamespaces([])).namespaces, ['shop']);
    assert.deepEqual((await theirs.listNamespaces(['shop'])).namespaces, ['eu']);
    assert.deepEqual((await theirs.listTables(['shop'])).tables, ['products']);
  });

  test('reads the exact rows that we wrote', async () => {
    const table = await theirs.openTable('products', ['shop']);
    assert.equal(await table.countRows(), 2);
    assert.deepEqual(plain(await table.query().select(['id', 'name']).toArray()), [
      { id: 1, name: 'mug' },
      { id: 2, name: 'lamp' },
    ]);
    const near = await table.vectorSearch([0, 1]).select(['id']).limit(1).toArray();
    assert.equal((near[0] as { id: number }).id, 2);
  });

  test('makes namespaces that we see, and is told when one is there', async () => {
    await theirs.createNamespace(['theirs'], { properties: { owner: 'eve' } });
    assert.deepEqual(await ours.describeNamespace(['theirs']), { properties: { owner: 'eve' } });
    await assert.rejects(theirs.createNamespace(['theirs']), /already exists/);
    await theirs.dropNamespace(['theirs']);
    assert.equal(await ours.namespaceExists(['theirs']), false);
  });

  test('makes tables that we read, add to and drop, and sees what we did', async () => {
    const table = await theirs.createTable('made', tableFromArrays({ x: [1, 2, 3] }) as never, ['shop']);
    const found = await ours.openTable('made', ['shop']);
    assert.deepEqual(await found.query().toArray(), [{ x: 1 }, { x: 2 }, { x: 3 }]);
    await found.add([{ x: 4 }]);
    await table.checkoutLatest();
    assert.equal(await table.countRows(), 4);
    await ours.dropTable('made', ['shop']);
    await assert.rejects(theirs.openTable('made', ['shop']), /not found|does not exist/i);
  });

  test('drops what we made', async () => {
    await ours.createTable('gone', rows, ['shop', 'eu']);
    await theirs.dropTable('gone', ['shop', 'eu']);
    assert.deepEqual(await ours.tableNames(['shop', 'eu']), []);
  });

  test('is refused without the key', async () => {
    const stranger = await upstream.connectNamespace('rest', { uri: server.uri });
    await assert.rejects(stranger.listTables(['shop']), /401|[Uu]nauthenticated|key/);
  });
});

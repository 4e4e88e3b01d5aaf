import assert from 'node:assert/strict';
import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { tempFolder } from '../../harness/temp.ts';
import { type Moto, startMoto } from '../moto.ts';
import { type Serving, startServing } from '../serve/serving.ts';
import { manyKinds, rowsOf } from './copySource.ts';

// These tests copy from a laptop to an object store, then to a company's server, and back.
suite('copies by way of an object store', function () {
  this.timeout(90_000);
  let moto: Moto;
  let server: Serving;
  let laptop: Catalog;
  let store: Catalog;
  let company: Catalog;

  suiteSetup(async () => {
    registerRest();
    moto = await startMoto('lenient');
    server = await startServing(tempFolder());
    laptop = await openDir({ root: tempFolder() });
    store = await openDir({ root: moto.root('copies'), storageOptions: { ...moto.storageOptions } });
    company = await connectNamespace('rest', { uri: server.uri, apiKey: server.key });
    await laptop.createNamespace(['shop'], { properties: { owner: 'me' } });
    const orders = await laptop.createTable('orders', manyKinds(500), ['shop']);
    await orders.createIndex('id', { type: 'BTREE' });
  });

  suiteTeardown(async () => {
    await Promise.all([laptop, store, company].map((db) => db.close()));
    await server.close();
    await moto.stop();
  });

  test('bring a namespace into the store, and from there to a server', async () => {
    for (const [from, to] of [
      [laptop, store],
      [store, company],
    ] as const) {
      const { tables } = await from.copy(['shop'], { catalog: to, path: ['shop'] }, { chunkBytes: 20_000 });
      assert.deepEqual(
        tables.map(({ how, rows, indexes, warnings }) => ({ how, rows, indexes, warnings })),
        [{ how: 'copied', rows: 500, indexes: ['id_idx'], warnings: [] }],
      );
      assert.equal((await to.describeNamespace(['shop'])).properties['owner'], 'me');
    }
    assert.deepEqual(await rowsOf(company, ['shop', 'orders']), await rowsOf(laptop, ['shop', 'orders']));
  });

  test('go on in the store where they were stopped', async () => {
    const stop = new AbortController();
    const to = { catalog: store, path: ['shop', 'again'] };
    const stopped = laptop.copy(['shop', 'orders'], to, {
      chunkBytes: 10_000,
      signal: stop.signal,
      onProgress: ({ rowsDone }) => rowsDone > 250 && stop.abort(),
    });
    await assert.rejects(stopped);
    assert.equal(await store.tableExists('again', ['shop']), false);
    const { tables } = await laptop.copy(['shop', 'orders'], to);
    assert.equal(tables[0]?.how, 'resumed');
    assert.deepEqual(await rowsOf(store, ['shop', 'again']), await rowsOf(laptop, ['shop', 'orders']));
  });

  test('are all or nothing in the root of a store, where nothing can be renamed', async () => {
    const stop = new AbortController();
    const to = { catalog: store, path: ['root'] };
    const stopped = laptop.copy(['shop', 'orders'], to, {
      chunkBytes: 10_000,
      signal: stop.signal,
      onProgress: ({ rowsDone }) => rowsDone > 0 && stop.abort(),
    });
    await assert.rejects(stopped);
    assert.deepEqual(await store.tableNames(), []);
    await laptop.copy(['shop', 'orders'], to);
    assert.deepEqual(await rowsOf(store, ['root']), await rowsOf(laptop, ['shop', 'orders']));
  });
});

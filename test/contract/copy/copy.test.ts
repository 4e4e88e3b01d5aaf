import assert from 'node:assert/strict';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Catalog } from '#catalog/catalog.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { isAbort } from '#shared/errors.ts';
import { tempFolder } from '../../harness/temp.ts';
import { fails } from '../expect.ts';
import { forEachSubject } from '../subjects.ts';
import { manyColumns, manyKinds, rowsOf } from './copySource.ts';

/** Creates a directory with a table of two fragments with deleted rows. */
async function sourceCatalog(): Promise<Catalog> {
  const db = await openDir({ root: tempFolder() });
  await db.createNamespace(['shop'], { properties: { owner: 'me' } });
  const orders = await db.createTable('orders', manyKinds(600), ['shop']);
  await orders.add(manyKinds(400, 600));
  await orders.delete('id % 100 = 3');
  return db;
}

/** Bytes of about 100 rows of `manyKinds`, so that a copy has many chunks. */
const chunkBytes = 10_000;

forEachSubject('copy', (makeCatalog) => {
  let source: Catalog;

  setup(async () => {
    source = await sourceCatalog();
  });

  teardown(() => source.close());

  test('brings a table there with its types, nulls and metadata', async () => {
    const { db } = await makeCatalog();
    const { tables } = await source.copy(['shop', 'orders'], { catalog: db, path: ['orders'] }, { chunkBytes });
    assert.deepEqual(
      tables.map(({ from, to, rows, how, warnings }) => ({ from, to, rows, how, warnings })),
      [{ from: 'shop/orders', to: 'orders', rows: 990, how: 'copied', warnings: [] }],
    );
    assert.deepEqual(await rowsOf(db, ['orders']), await rowsOf(source, ['shop', 'orders']));
    const [before, after] = [
      await (await source.openTable('orders', ['shop'])).schema(),
      await (await db.openTable('orders')).schema(),
    ];
    assert.equal(String(after), String(before));
    assert.equal(after.metadata.get('made by'), 'the tests');
    assert.deepEqual([...(after.fields.find(({ name }) => name === 'price')?.metadata ?? [])], [['unit', 'EUR']]);
    assert.deepEqual(await db.tableNames(), ['orders']);
  });

  test('makes the namespaces above that are not there', async () => {
    const { db } = await makeCatalog();
    await source.copy(['shop', 'orders'], { catalog: db, path: ['a', 'b', 'orders'] });
    assert.deepEqual(await db.tableNames(['a', 'b']), ['orders']);
    await source.copy(['shop'], { catalog: db, path: ['c', 'd', 'shop'] });
    assert.deepEqual(await db.tableNames(['c', 'd', 'shop']), ['orders']);
  });

  test('leaves out what the target would refuse, and copies the others', async () => {
    const root = tempFolder();
    const others = await openDir({ root });
    await others.createTable('orders', [{ id: 1 }]);
    // Other clients create such names.
    cpSync(join(root, 'orders.lance'), join(root, 'Big Orders.lance'), { recursive: true });
    mkdirSync(join(root, 'hollow.lance'));
    const { db } = await makeCatalog();
    const { tables, skipped } = await others.copy([], { catalog: db, path: ['all'] });
    assert.deepEqual(
      tables.map(({ to }) => to),
      ['all/orders'],
    );
    assert.deepEqual(
      skipped.map(({ from, why }) => [from, why]),
      [
        ['Big Orders', 'failed'],
        ['hollow', 'failed'],
      ],
    );
    assert.match(skipped[0]?.reason ?? '', /contains " "\. Copy it by itself under another name\.$/);
    const renamed = await others.copy(['Big Orders'], { catalog: db, path: ['all', 'BigOrders'] });
    assert.equal(renamed.tables.length, 1);
    await others.close();
  });

  test('brings a table back from there', async () => {
    const { db } = await makeCatalog();
    await db.createTable('wide', manyColumns(300));
    const target = await openDir({ root: tempFolder() });
    await db.copy(['wide'], { catalog: target, path: ['wide'] });
    assert.deepEqual(await rowsOf(target, ['wide']), await rowsOf(db, ['wide']));
    await target.close();
  });

  test('brings a namespace with its properties and all that is in it', async () => {
    const { db } = await makeCatalog();
    await source.createNamespace(['shop', 'eu']);
    await source.createNamespace(['shop', 'eu', 'empty']);
    await source.createTable('prices', [{ id: 1, price: 2.5 }], ['shop', 'eu']);
    const { tables } = await source.copy(['shop'], { catalog: db, path: ['copied'] });
    assert.deepEqual(
      tables.map(({ to, rows }) => [to, rows]),
      [
        ['copied/orders', 990],
        ['copied/eu/prices', 1],
      ],
    );
    assert.equal((await db.describeNamespace(['copied'])).properties['owner'], 'me');
    assert.deepEqual((await db.listNamespaces(['copied', 'eu'])).namespaces, ['empty']);
    assert.deepEqual(await rowsOf(db, ['copied', 'eu', 'prices']), await rowsOf(source, ['shop', 'eu', 'prices']));
  });

  test('goes on where it was stopped, at the version that it began with', async () => {
    const { db } = await makeCatalog();
    const to = { catalog: db, path: ['orders'] };
    const stop = new AbortController();
    const stopped = source.copy(['shop', 'orders'], to, {
      chunkBytes,
      signal: stop.signal,
      onProgress: ({ rowsDone }) => rowsDone > 500 && stop.abort(),
    });
    await assert.rejects(stopped, isAbort);
    const begun = await rowsOf(source, ['shop', 'orders']);
    await (await source.openTable('orders', ['shop'])).add(manyKinds(10, 5000));
    const seen: number[] = [];
    const { tables } = await source.copy(['shop', 'orders'], to, {
      chunkBytes,
      onProgress: ({ rowsDone }) => seen.push(rowsDone),
    });
    assert.equal(tables[0]?.how, 'resumed');
    assert.ok(seen[0]! >= 300, `went on at row ${seen[0]}`);
    assert.deepEqual(await rowsOf(db, ['orders']), begun);
    assert.deepEqual(await db.tableNames(), ['orders']);
  });

  test('leaves a finished copy alone, and refuses a table that is none', async () => {
    const { db } = await makeCatalog();
    const to = { catalog: db, path: ['orders'] };
    await source.copy(['shop', 'orders'], to);
    const version = await (await db.openTable('orders')).version();
    assert.equal((await source.copy(['shop', 'orders'], to)).tables[0]?.how, 'there');
    assert.equal(await (await db.openTable('orders')).version(), version);
    await (await db.openTable('orders')).delete('id < 10');
    await fails(() => source.copy(['shop', 'orders'], to), 'TableAlreadyExists', 'orders', 'overwrite');
  });

  test('puts a copy in the place of a table when it is told to', async () => {
    const { db } = await makeCatalog();
    await db.createTable('orders', [{ other: 'rows' }]);
    const to = { catalog: db, path: ['orders'] };
    await fails(() => source.copy(['shop', 'orders'], to), 'TableAlreadyExists', 'orders', 'not a copy');
    await source.copy(['shop', 'orders'], to, { overwrite: true, chunkBytes });
    assert.deepEqual(await rowsOf(db, ['orders']), await rowsOf(source, ['shop', 'orders']));
    assert.deepEqual(await db.tableNames(), ['orders']);
  });

  test('makes the indexes of a table again', async () => {
    const { db, root } = await makeCatalog();
    const orders = await source.openTable('orders', ['shop']);
    await orders.createIndex('id', { type: 'BTREE', name: 'by_id' });
    await orders.createIndex('name', { type: 'FTS', language: 'German', stem: false });
    await orders.createIndex('vector', { type: 'IVF_FLAT', numPartitions: 1, distanceType: 'cosine' });
    const { tables } = await source.copy(['shop', 'orders'], { catalog: db, path: ['orders'] });
    assert.deepEqual(tables[0]?.warnings, []);
    assert.deepEqual(tables[0]?.indexes.toSorted(), ['by_id', 'name_idx', 'vector_idx']);
    const copied = await db.openTable('orders');
    const indexes = (await copied.listIndices()).map(({ name, columns }) => `${name} on ${columns.join()}`);
    assert.deepEqual(indexes.toSorted(), ['by_id on id', 'name_idx on name', 'vector_idx on vector']);
    // Upstream's server does not report the distance of an index, so read the distance from the directory.
    const files = await openDir({ root });
    const made = await files.openTable('orders');
    assert.match((await made.indexStats('vector_idx')).distanceType ?? '', /cosine/i);
    const words = (await made.listIndices()).find(({ name }) => name === 'name_idx')?.details ?? '';
    assert.match(words, /"language":"German".*"stem":false/);
    await files.close();
  });
});

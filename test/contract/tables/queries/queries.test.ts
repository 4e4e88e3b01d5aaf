import assert from 'node:assert/strict';
import { makeVector, Table } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import type { Table as CatalogTable } from '#catalog/table/table.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { isAbort, isCatalogError } from '#shared/errors.ts';
import { forEachSubject } from '../../subjects.ts';

const rows = Array.from({ length: 100 }, (_, index) => ({
  id: index,
  name: `row ${index}`,
  vector: [Math.cos(index / 20), Math.sin(index / 20), index % 2],
}));

const count = 200_000;
const large = (): Table =>
  new Table({
    id: makeVector(BigInt64Array.from({ length: count }, (_, row) => BigInt(row))),
    third: makeVector(Float64Array.from({ length: count }, (_, row) => row / 3)),
  });

/** Creates a large table without the server under test, which may refuse a request of this size. */
async function openLarge({ db, root }: { db: Catalog; root: string }): Promise<CatalogTable> {
  const local = await openDir({ root });
  await local.createTable('large', large());
  await local.close();
  return db.openTable('large');
}

forEachSubject('queries', (makeCatalog) => {
  test('narrow by columns, filter, limit and offset', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const found = await table
      .query()
      .where('id >= 10')
      .where('id < 20')
      .select(['name', 'id'])
      .offset(2)
      .limit(3)
      .toArray();
    assert.deepEqual(found, [
      { name: 'row 12', id: 12 },
      { name: 'row 13', id: 13 },
      { name: 'row 14', id: 14 },
    ]);
  });

  test('without a row still have a schema', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    for (const query of [table.query().limit(0), table.query().where('id < 0')]) {
      const found = await query.select(['name', 'vector']).toArrow();
      assert.equal(found.numRows, 0);
      assert.equal(String(found.schema), 'Schema<{ 0: name: Utf8, 1: vector: FixedSizeList[3]<Float32> }>');
    }
  });

  test('give an expression that fails only for rows that the filter leaves out', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const query = table.query().where('id > 97').select({ name: 'name', share: '1000 / id' });
    assert.deepEqual(await query.toArray(), [
      { name: 'row 98', share: 1000 / 98 },
      { name: 'row 99', share: 1000 / 99 },
    ]);
  });

  test('count with and without a filter', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    assert.equal(await table.countRows(), 100);
    assert.equal(await table.countRows("name = 'row 7' OR id > 97"), 3);
  });

  test('find the nearest rows of a vector, nearest first', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const near = await table.vectorSearch([1, 0, 0]).select(['id']).limit(3).toArray();
    assert.deepEqual(
      near.map(({ id }) => id),
      [0, 2, 4],
    );
    assert.equal(near[0]?.['_distance'], 0);
    const ten = await table
      .vectorSearch(Float32Array.of(1, 0, 0), { column: 'vector', distanceType: 'cosine' })
      .toArrow();
    assert.equal(ten.numRows, 10);
    const filtered = await table.vectorSearch([1, 0, 0]).where('id > 50').limit(1).toArray();
    assert.ok((filtered[0]?.['id'] as number) > 50);
  });

  test('stream every row of a large table, in order and unchanged', async () => {
    const table = await openLarge(await makeCatalog());
    let next = 0;
    for await (const batch of table.query()) {
      const ids = batch.getChild('id')!.toArray() as BigInt64Array;
      const thirds = batch.getChild('third')!.toArray() as Float64Array;
      for (let row = 0; row < batch.numRows; row++, next++) {
        if (ids[row] !== BigInt(next) || thirds[row] !== next / 3)
          assert.fail(`row ${next} is ${ids[row]}, ${thirds[row]}`);
      }
    }
    assert.equal(next, count);
  });

  test('stop when nobody reads on, and the table stays usable', async () => {
    const table = await openLarge(await makeCatalog());
    for (let round = 0; round < 20; round++) {
      for await (const batch of table.query()) {
        assert.ok(batch.numRows > 0);
        break;
      }
    }
    assert.equal(await table.countRows(), count);
  });

  test('end with an abort while they stream', async () => {
    const table = await openLarge(await makeCatalog());
    const abort = new AbortController();
    const { batches } = await table.query().execute({ signal: abort.signal });
    await assert.rejects(async () => {
      for await (const batch of batches) {
        assert.ok(batch.numRows > 0);
        abort.abort();
      }
    }, isAbort);
    await assert.rejects(() => table.countRows(undefined, { signal: AbortSignal.abort() }), isAbort);
    assert.equal(await table.countRows(), count);
  });

  test('end with the reason of an abort, whatever it is', async () => {
    const made = await makeCatalog();
    const { db } = made;
    const table = await openLarge(made);
    const reasons: unknown[] = [new DOMException('Too late.', 'TimeoutError'), new RangeError('mine'), 'a text'];
    for (const reason of reasons) {
      const thrown = async (work: (signal: AbortSignal) => Promise<unknown>): Promise<unknown> => {
        const abort = new AbortController();
        const working = work(abort.signal).then(
          () => 'nothing was thrown',
          (error: unknown) => error,
        );
        // Abort immediately, because a quick response could not be aborted.
        queueMicrotask(() => abort.abort(reason));
        return working;
      };
      assert.equal(await thrown((signal) => table.toArrow({ signal })), reason);
      assert.equal(await thrown((signal) => table.countRows('third > 1 AND third * id < 5', { signal })), reason);
      assert.equal(await thrown((signal) => db.describeTable('large', { signal })), reason);
    }
    assert.equal(await table.countRows(), count);
  });

  test('give exact types back', async () => {
    const table = await openLarge(await makeCatalog());
    const schema = await table.schema();
    assert.equal(String(schema), 'Schema<{ 0: id: Int64, 1: third: Float64 }>');
  });

  test('are read as often as asked, many at once', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const query = table.query().where('id < 50');
    const all = await Promise.all(Array.from({ length: 40 }, () => query.toArrow()));
    assert.ok(all.every((one) => one.numRows === 50));
  });

  test('with numbers of rows past 32 bits cut nothing off them', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', [
      { id: 1, vector: [1, 0] },
      { id: 2, vector: [2, 0] },
    ]);
    for (const limit of [2 ** 32, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) {
      assert.equal((await table.query().limit(limit).toArray()).length, 2);
      assert.equal((await table.vectorSearch([1, 0]).limit(limit).toArray()).length, 2);
    }
    // An offset past the end must give no row. It may be refused if it exceeds the integers of an engine. It must never
    // give the first row again.
    for (const offset of [2 ** 31, 2 ** 32, 2 ** 32 + 1]) {
      const far = await table
        .query()
        .offset(offset)
        .toArray()
        .catch((error: unknown) => error);
      assert.ok(isCatalogError(far, 'InvalidInput') || (Array.isArray(far) && far.length === 0), String(far));
    }
  });
});

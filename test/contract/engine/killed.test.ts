import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { makeVector, type RecordBatch, Table } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { isCatalogError } from '#shared/errors.ts';
import { tempFolder } from '../../harness/temp.ts';
import { startEngine } from '../subjects.ts';

const batchRows = 50_000;
const batchCount = 12;
const rowCount = batchRows * batchCount;

const batchOf = (batch: number): RecordBatch =>
  new Table({
    id: makeVector(BigInt64Array.from({ length: batchRows }, (_, row) => BigInt(batch * batchRows + row))),
  }).batches[0]!;

/** Yields batches for about 200 ms, so that a test can kill the process in between. */
async function* batches(): AsyncGenerator<RecordBatch> {
  for (let batch = 0; batch < batchCount; batch++) {
    await pause(15);
    yield batchOf(batch);
  }
}

const nothing = (): Promise<void> => Promise.resolve();
const make = (db: Catalog) => db.createTable('t', [{ id: 7 }], ['shop']);
const create = (db: Catalog) => db.createTable('t', batches(), ['shop']);
const overwrite = (db: Catalog) => db.createTable('t', batches(), ['shop'], { mode: 'overwrite' });
const add = async (db: Catalog) => (await db.openTable('t', ['shop'])).add(batches());

/** Milliseconds after the call at which the process is killed: in the request, between batches, at the commit. */
const moments = [0, 20, 90, 180, 230, 260, 300, 380] as const;

/** Starts an engine, kills it during a call, and returns the root. */
async function killDuring(
  prepare: (db: Catalog) => Promise<unknown>,
  work: (db: Catalog) => Promise<unknown>,
  after: number,
): Promise<{ root: string; done: boolean }> {
  const root = tempFolder();
  const db = await openDir({ root });
  await db.createNamespace(['shop']);
  await prepare(db);
  await db.close();
  const engine = await startEngine();
  try {
    const over = engine.catalog(root);
    await over.listNamespaces();
    const working = work(over).then(
      () => true,
      (error: unknown) => {
        assert.ok(isCatalogError(error), `not a CatalogError: ${String(error)}`);
        return false;
      },
    );
    await pause(after);
    process.kill(engine.handshake.pid, 'SIGKILL');
    return { root, done: await working };
  } finally {
    await engine.dispose();
  }
}

suite('an engine that is killed', function () {
  this.timeout(60_000);

  for (const after of moments) {
    test(`${after} ms into a create leaves the table whole or absent`, async () => {
      const { root, done } = await killDuring(nothing, create, after);
      const db = await openDir({ root });
      const names = await db.tableNames(['shop']);
      if (done) assert.deepEqual(names, ['t']);
      if (names.length > 0) {
        assert.deepEqual(names, ['t']);
        assert.equal(await (await db.openTable('t', ['shop'])).countRows(), rowCount);
      } else {
        assert.equal(await db.tableExists('t', ['shop']), false);
        const again = await db.createTable('t', [{ id: 1 }], ['shop']);
        assert.equal(await again.countRows(), 1);
      }
      await db.close();
    });
  }

  for (const after of [20, 180, 240, 300]) {
    test(`${after} ms into an overwrite leaves the old table or the new one`, async () => {
      const { root } = await killDuring(make, overwrite, after);
      const db = await openDir({ root });
      assert.deepEqual(await db.tableNames(['shop']), ['t']);
      const count = await (await db.openTable('t', ['shop'])).countRows();
      assert.ok(count === 1 || count === rowCount, `${count} rows`);
      await db.close();
    });
  }

  for (const after of [20, 180, 240, 300]) {
    test(`${after} ms into an insert leaves all of the new rows or none`, async () => {
      const { root } = await killDuring(make, add, after);
      const db = await openDir({ root });
      const count = await (await db.openTable('t', ['shop'])).countRows();
      assert.ok(count === 1 || count === rowCount + 1, `${count} rows`);
      await db.close();
    });
  }

  test('while it streams rows gives an error, never a short table', async () => {
    const root = tempFolder();
    const db = await openDir({ root });
    await db.createTable('t', batches());
    await db.close();
    const engine = await startEngine();
    const table = await engine.catalog(root).openTable('t');
    let rows = 0;
    await assert.rejects(
      async () => {
        for await (const batch of table.query()) {
          if (rows === 0) process.kill(engine.handshake.pid, 'SIGKILL');
          rows += batch.numRows;
          // Bytes that are already in the buffers of the socket still arrive. Later bytes don't.
          await pause(1);
        }
      },
      (error) => isCatalogError(error, 'ServiceUnavailable'),
    );
    assert.ok(rows < rowCount, `all ${rows} rows came`);
    await engine.dispose();
  });
});

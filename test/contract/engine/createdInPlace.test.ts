import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as upstream from '@lancedb/lancedb';
import { makeVector, type RecordBatch, Table } from '#arrow';
import { type DirCatalog, openDir } from '#engine/dir/dirCatalog.ts';
import { tempFolder } from '../../harness/temp.ts';
import { fails } from '../expect.ts';

const rows = [{ id: 1 }, { id: 2 }];
const paths = [[], ['shop']];

async function newCatalog(): Promise<{ db: DirCatalog; root: string }> {
  const root = tempFolder();
  const db = await openDir({ root });
  await db.createNamespace(['shop']);
  return { db, root };
}

const batch = () => new Table({ id: makeVector(BigInt64Array.of(1n, 2n, 3n)) }).batches[0]!;

/** Yields batches, and calls `then` after the first one. */
async function* batches(then: () => Promise<unknown>): AsyncGenerator<RecordBatch> {
  yield batch();
  await then();
  yield batch();
}

/** Deletes the files that make the folder a table. */
async function damage(db: DirCatalog, path: string[]): Promise<string> {
  await db.createTable('t', rows, path);
  const { location } = await db.describeTable('t', path);
  rmSync(join(location!, '_versions'), { recursive: true });
  return location!;
}

suite('tables created where something is', function () {
  this.timeout(60_000);

  test('leave a broken one as it is, and say so', async () => {
    for (const path of paths) {
      const { db } = await newCatalog();
      const location = await damage(db, path);
      const data = readdirSync(join(location, 'data'));
      await fails(() => db.createTable('t', rows, path), 'InvalidTableState', 'overwrite');
      await fails(() => db.createTable('t', rows, path, { mode: 'exist_ok' }), 'InvalidTableState');
      assert.deepEqual(readdirSync(join(location, 'data')), data);
      assert.ok(!existsSync(join(location, '_versions')));
    }
  });

  test('take the place of a broken one that is to be overwritten, once all rows are there', async () => {
    for (const path of paths) {
      const { db } = await newCatalog();
      const location = await damage(db, path);
      const breaking = batches(() => Promise.reject(new Error('the source is gone')));
      await assert.rejects(db.createTable('t', breaking, path, { mode: 'overwrite' }), /the source is gone/);
      assert.ok(existsSync(join(location, 'data')));
      const table = await db.createTable('t', rows, path, { mode: 'overwrite' });
      assert.equal(await table.countRows(), 2);
      assert.deepEqual(await db.tableNames(path), ['t']);
    }
  });

  test('fill a declared one in one step, which upstream reads where it was declared', async () => {
    for (const path of paths) {
      const { db, root } = await newCatalog();
      const { location } = await db.declareTable('t', path);
      const seen: string[][] = [];
      const source = batches(() => Promise.resolve(seen.push(readdirSync(location))));
      assert.equal(await (await db.createTable('t', source, path)).countRows(), 6);
      assert.deepEqual(seen, [['.lance-reserved']]);
      assert.equal((await db.describeTable('t', path)).location, location);
      const theirs = await upstream.connectNamespace('dir', { root });
      assert.equal(await (await theirs.openTable('t', path)).countRows(), 6);
      await theirs.dropTable('t', path);
      assert.equal(readdirSync(root).filter((name) => name.startsWith('.')).length, 0);
    }
  });

  test('leave a declared one declared when their source breaks', async () => {
    const { db, root } = await newCatalog();
    const { location } = await db.declareTable('t', ['shop']);
    const before = readdirSync(root);
    const breaking = batches(() => Promise.reject(new Error('the source is gone')));
    await assert.rejects(db.createTable('t', breaking, ['shop']), /the source is gone/);
    assert.equal(await db.declaredLocation('t', ['shop']), location);
    assert.deepEqual(readdirSync(root), before);
  });

  test('lose against who fills a declared one meanwhile, and leave its rows alone', async () => {
    const { db } = await newCatalog();
    const { location } = await db.declareTable('t', ['shop']);
    const late = batches(() => db.createTable('t', rows, ['shop']));
    await fails(() => db.createTable('t', late, ['shop']), 'TableAlreadyExists');
    assert.equal(await (await db.openTable('t', ['shop'])).countRows(), 2);
    assert.equal(readdirSync(join(location, 'data')).length, 1);
  });
});

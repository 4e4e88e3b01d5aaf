import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Catalog } from '#catalog/catalog.ts';
import type { Table } from '#catalog/table/table.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { isAbort, isCatalogError } from '#shared/errors.ts';
import { fails } from '../expect.ts';
import { forEachOfOurs, forEachSubject } from '../subjects.ts';
import { ageVersions } from './agedVersions.ts';

const mug = (id: number) => ({ id, name: `mug ${id}`, vector: [Math.sin(id), Math.cos(id)] });

/** Creates a table in as many versions and fragments as parts, each of two rows. */
async function inParts(db: Catalog, name: string, parts: number): Promise<Table> {
  const table = await db.createTable(name, [mug(0), mug(1)]);
  for (let part = 1; part < parts; part++) await table.add([mug(2 * part), mug(2 * part + 1)]);
  return table;
}

const rowsOf = async (table: Table) =>
  (await table.query().select(['id', 'name']).toArray()).toSorted((a, b) => Number(a['id']) - Number(b['id']));

const versionsOf = async (table: Table): Promise<number[]> =>
  (await table.listVersions()).map(({ version }) => version);

forEachSubject('optimizing', (makeCatalog) => {
  test('joins fragments, and keeps rows, versions and tags', async () => {
    const { db } = await makeCatalog();
    const table = await inParts(db, 't', 6);
    await table.delete('id = 4');
    await table.tags().create('first', 1);
    const [rows, versions] = [await rowsOf(table), await versionsOf(table)];
    const result = await table.optimize();
    assert.deepEqual([result.numFragmentsBefore, result.numFragmentsAfter], [6, 1]);
    // The file that lists the deleted row is replaced too.
    assert.deepEqual([result.numFilesReplaced, result.numFilesAdded], [7, 1]);
    assert.ok(result.totalBytesAfter > 0 && result.totalBytesAfter < result.totalBytesBefore);
    assert.deepEqual([result.numVersionsRemoved, result.numOlderVersionsKept, result.bytesRemoved], [0, 0, 0]);
    assert.equal(result.version, await table.version());
    assert.deepEqual(await rowsOf(table), rows);
    assert.equal((await table.stats()).numFragments, 1);
    assert.deepEqual((await versionsOf(table)).slice(0, versions.length), versions);
    assert.equal(await (await db.openTable('t', { tag: 'first' })).countRows(), 2);
    assert.equal(await (await db.openTable('t', { version: versions.at(-1)! })).countRows(), rows.length);
  });

  test('adds all rows to the indexes', async () => {
    const { db } = await makeCatalog();
    const table = await inParts(db, 't', 3);
    await table.createIndex('id', { type: 'BTREE' });
    await table.createIndex('vector', { type: 'IVF_FLAT', numPartitions: 1 });
    await table.add([{ id: 6, name: 'cup', vector: [0, 5] }]);
    assert.equal((await table.indexStats('id_idx')).numUnindexedRows, 1);
    await table.optimize();
    for (const { name } of await table.listIndices()) {
      const { numIndexedRows, numUnindexedRows } = await table.indexStats(name);
      assert.deepEqual([numIndexedRows, numUnindexedRows], [7, 0], name);
    }
    assert.equal(await table.countRows('id = 6'), 1);
    const [nearest] = await table.vectorSearch([0, 5]).limit(1).toArray();
    assert.equal(nearest?.['id'], 6);
  });

  test('changes nothing if there is nothing to join', async () => {
    const { db } = await makeCatalog();
    const table = await inParts(db, 't', 3);
    const { version } = await table.optimize();
    const again = await table.optimize();
    assert.deepEqual([again.version, again.numFragmentsBefore, again.numFragmentsAfter], [version, 1, 1]);
    assert.deepEqual([again.numFilesAdded, again.numFilesReplaced], [0, 0]);
  });

  test('works beside clients that add, change and delete rows', async () => {
    const { db, root } = await makeCatalog();
    const table = await inParts(db, 't', 8);
    const other = await (await openDir({ root })).openTable('t');
    const writes = [
      ...Array.from({ length: 4 }, (_, id) => () => other.add([{ id: 100 + id, name: 'new', vector: [1, 1] }])),
      () => other.delete('id < 3'),
      () => other.update({ where: 'id = 7', values: { name: 'cup' } }),
    ];
    const isDone: boolean[] = [];
    const [optimized] = await Promise.all([
      table.optimize().catch((error: unknown) => error),
      ...writes.map(async (write, at) => {
        try {
          await write();
          isDone[at] = true;
        } catch (error) {
          assert.ok(isCatalogError(error, 'ConcurrentModification'), String(error));
        }
      }),
    ]);
    if (optimized instanceof Error) assert.ok(isCatalogError(optimized, 'ConcurrentModification'), optimized.message);
    const ids = (await rowsOf(table)).map((row) => Number(row['id']));
    const expected = [
      ...Array.from({ length: 16 }, (_, id) => id).filter((id) => !(isDone[4] && id < 3)),
      ...[100, 101, 102, 103].filter((_, at) => isDone[at]),
    ];
    assert.deepEqual(ids, expected);
    assert.equal(await table.countRows("name = 'cup'"), isDone[5] ? 1 : 0);
    await table.optimize();
    assert.deepEqual(
      (await rowsOf(table)).map((row) => Number(row['id'])),
      expected,
    );
  });

  test('of a table opened at a version or a tag is refused', async () => {
    const { db } = await makeCatalog();
    const table = await inParts(db, 't', 2);
    await table.tags().create('first', 1);
    for (const pin of [{ version: 1 }, { tag: 'first' }]) {
      const pinned = await db.openTable('t', pin);
      await fails(() => pinned.optimize(), 'InvalidInput', 'it is at', 'checkoutLatest()');
    }
    assert.equal((await table.stats()).numFragments, 2);
  });
});

forEachOfOurs('optimizing with a signal', (makeCatalog) => {
  test('rejects with the reason once it is aborted', async () => {
    const { db } = await makeCatalog();
    const table = await inParts(db, 't', 2);
    const reason = new Error('enough');
    await assert.rejects(
      table.optimize({ signal: AbortSignal.abort(reason) }),
      (error) => error === reason || isAbort(error),
    );
    assert.equal(await table.countRows(), 4);
  });
});

forEachOfOurs('optimizing a table with old versions', (makeCatalog) => {
  /** Creates a table whose first four of six versions are 30 to 24 days old; the second is tagged. */
  async function makeOld(name = 't'): Promise<{ table: Table; db: Catalog; folder: string }> {
    const { db, root } = await makeCatalog();
    const folder = join(root, `${name}.lance`);
    const writer = await openDir({ root });
    const table = await inParts(writer, name, 6);
    await table.tags().create('kept', 2);
    // Make each version two days older than the next, because versions just before the tagged one are not removed.
    for (const [at, version] of (await table.listVersions()).slice(0, 4).entries())
      ageVersions(folder, [version], 30 - 2 * at);
    await writer.close();
    return { table: await db.openTable(name), db, folder };
  }

  test('removes none without an age', async () => {
    const { table } = await makeOld();
    await table.tags().delete('kept');
    const before = await table.listVersions();
    assert.ok(before[0]!.timestamp.getTime() < Date.now() - 29 * 86_400_000);
    const { numVersionsRemoved } = await table.optimize();
    assert.equal(numVersionsRemoved, 0);
    assert.deepEqual((await versionsOf(table)).slice(0, 6), [1, 2, 3, 4, 5, 6]);
  });

  test('removes the versions of more than an age, and keeps rows and younger versions', async () => {
    const { table, db } = await makeOld();
    await table.tags().delete('kept');
    const rows = await rowsOf(table);
    const result = await table.optimize({ olderThan: '7d' });
    assert.deepEqual(await versionsOf(table), [5, 6, 7, 8]);
    assert.deepEqual([result.version, result.numVersionsRemoved, result.numOlderVersionsKept], [8, 4, 0]);
    assert.ok(result.bytesRemoved > 0);
    assert.deepEqual(await rowsOf(table), rows);
    assert.equal(await (await db.openTable('t', { version: 5 })).countRows(), 10);
  });

  test('removes neither a tagged version nor those after it', async () => {
    const { table, db } = await makeOld();
    const rows = await rowsOf(table);
    const result = await table.optimize({ olderThan: '7d' });
    assert.deepEqual(await versionsOf(table), [2, 3, 4, 5, 6, 7, 8]);
    assert.deepEqual([result.numVersionsRemoved, result.numOlderVersionsKept], [1, 3]);
    assert.deepEqual(await rowsOf(table), rows);
    assert.deepEqual((await rowsOf(await db.openTable('t', { tag: 'kept' }))).length, 4);
  });

  test("removes versions of this second up to a time, as in LanceDB's package", async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', [{ id: 1 }]);
    for (let id = 2; id <= 4; id++) await table.add([{ id }]);
    // A version of the same millisecond is not older than the time.
    await sleep(20);
    const result = await table.optimize({ cleanupOlderThan: new Date() });
    assert.deepEqual([result.numVersionsRemoved, await table.countRows()], [4, 4]);
  });

  test('keeps versions that are younger than the age', async () => {
    const { table } = await makeOld();
    const { numVersionsRemoved } = await table.optimize({ olderThan: '31d' });
    assert.equal(numVersionsRemoved, 0);
  });

  test('keeps the rows of branches', async () => {
    const { table, db } = await makeOld();
    await table.tags().delete('kept');
    await table.branches().create('try', { fromVersion: 3 });
    await table.optimize({ olderThan: '7d' });
    const branch = await db.openTable('t', { branch: 'try' });
    assert.equal((await rowsOf(branch)).length, 6);
  });
});

forEachOfOurs('optimizing a table that a backfill computes', (makeCatalog) => {
  const holder = { version: 1, job_id: 'bf-busy', holder: 'ann@elsewhere', function_hash: '', nonce: 'n' };

  test('is refused with the job and its column until the job has ended', async () => {
    const { db, root } = await makeCatalog();
    const table = await inParts(db, 't', 3);
    const folder = join(root, 't.lance', '_ckp');
    mkdirSync(folder);
    const lease = join(folder, 'na%20me.lease');
    const write = (change: object) => writeFileSync(lease, JSON.stringify({ ...holder, ...change }));
    write({ host: 'elsewhere', pid: 1, heartbeat_at: Date.now() });
    await fails(
      () => table.optimize(),
      'ConcurrentModification',
      `Can't optimize table "t"`,
      'bf-busy of ann@elsewhere is computing its column "na me"',
      'lance-catalog jobs cancel bf-busy',
    );
    assert.equal((await table.stats()).numFragments, 3);
    // A process of this machine that has ended leaves its lease.
    write({ host: hostname(), pid: 2 ** 22 + 1, heartbeat_at: Date.now() });
    assert.equal((await table.optimize()).numFragmentsAfter, 1);
    rmSync(folder, { recursive: true });
  });
});

import assert from 'node:assert/strict';
import { Field, Int64, Schema } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { isCatalogError } from '#shared/errors.ts';
import { forEachOfOurs, forEachSubject } from '../subjects.ts';

/** Runs calls concurrently and counts the successful ones. Any error except a conflict is a failure. */
async function race(calls: readonly (() => Promise<unknown>)[], ...conflicts: readonly string[]): Promise<number> {
  const ends = await Promise.allSettled(calls.map((call) => call()));
  for (const end of ends) {
    if (end.status === 'fulfilled') continue;
    const kind = isCatalogError(end.reason) ? end.reason.kind : String(end.reason);
    assert.ok(['ConcurrentModification', ...conflicts].includes(kind), `${kind}: ${String(end.reason)}`);
  }
  return ends.filter(({ status }) => status === 'fulfilled').length;
}

const each = <T>(dbs: readonly Catalog[], times: number, call: (db: Catalog, round: number) => Promise<T>) =>
  dbs.flatMap((db, at) => Array.from({ length: times }, (_, round) => () => call(db, at * times + round)));

forEachSubject('two writers at once', (makeCatalog, subject) => {
  /** Returns a smaller number for the pair, because an object store takes long for each conflict. */
  const calls = (number: number): number => (subject.id === 'pair' ? Math.ceil(number / 3) : number);

  /** Returns the catalog under test and, for a second writer, the same root opened in this process. */
  async function makeTwo(): Promise<Catalog[]> {
    const { db, root } = await makeCatalog();
    return [db, await openDir({ root })];
  }

  test('lose no row that they add', async () => {
    const dbs = await makeTwo();
    await dbs[0]!.createTable('t', [{ id: -1 }]);
    const done = await race(each(dbs, calls(8), async (db, id) => (await db.openTable('t')).add([{ id }])));
    assert.ok(done > 0);
    assert.equal(await (await dbs[1]!.openTable('t')).countRows(), done + 1);
  });

  test('count every update that was done', async () => {
    const dbs = await makeTwo();
    const table = await dbs[0]!.createTable('t', [{ id: 1, n: 0 }]);
    const done = await race(
      each(dbs, calls(4), async (db) => (await db.openTable('t')).update({ valuesSql: { n: 'n + 1' } })),
    );
    assert.ok(done > 0);
    assert.deepEqual(await table.query().toArray(), [{ id: 1, n: done }]);
  });

  test('make no row twice by merging', async () => {
    const dbs = await makeTwo();
    const table = await dbs[0]!.createTable('t', [{ id: 1, by: 'nobody' }]);
    const done = await race(
      each(dbs, calls(4), async (db, round) =>
        (await db.openTable('t'))
          .mergeInsert('id')
          .whenMatchedUpdateAll()
          .execute([{ id: 1, by: `writer ${round}` }]),
      ),
    );
    assert.ok(done > 0);
    assert.equal(await table.countRows('id = 1'), 1);
    assert.equal(await table.countRows(`by = 'nobody'`), 0);
  });

  test('create a table once', async () => {
    const dbs = await makeTwo();
    await dbs[0]!.createNamespace(['shop']);
    for (const path of [[], ['shop']]) {
      const done = await race(
        each(dbs, 3, (db, round) => db.createTable('t', [{ by: round }], path)),
        'TableAlreadyExists',
        // Upstream's server has no specific error for a writer that is slightly later, and it lists tables that it is
        // still creating. This deviation is not listed as a gap, because it does not occur each time.
        ...(subject.id === 'upstream' ? ['Internal', 'InvalidTableState'] : []),
      );
      assert.equal(done, 1);
      assert.equal(await (await dbs[1]!.openTable('t', path)).countRows(), 1);
    }
  });

  test('create a namespace once', async () => {
    const dbs = await makeTwo();
    await dbs[0]!.createNamespace(['before']);
    const done = await race(
      each(dbs, 3, (db) => db.createNamespace(['shop'])),
      'NamespaceAlreadyExists',
    );
    assert.equal(done, 1);
    assert.deepEqual((await dbs[1]!.listNamespaces()).namespaces.toSorted(), ['before', 'shop']);
  });

  test('lose none of the first namespaces of a root', async () => {
    const dbs = await makeTwo();
    const made = new Set<string>();
    await race(
      each(dbs, calls(3), async (db, round) => {
        await db.createNamespace([`n${round}`]);
        made.add(`n${round}`);
      }),
    );
    assert.ok(made.size > 0);
    assert.deepEqual((await dbs[0]!.listNamespaces()).namespaces.toSorted(), [...made].toSorted());
  });

  test('see all tables that they make beside each other', async () => {
    const dbs = await makeTwo();
    await dbs[0]!.createNamespace(['shop']);
    const made = new Set<string>();
    await race(
      each(dbs, calls(5), async (db, round) => {
        await db.createTable(`t${round}`, [{ id: round }], ['shop']);
        made.add(`t${round}`);
      }),
    );
    assert.ok(made.size > 0);
    const names = await dbs[0]!.tableNames(['shop']);
    assert.deepEqual(names.toSorted(), [...made].toSorted());
    for (const name of names) assert.equal(await (await dbs[1]!.openTable(name, ['shop'])).countRows(), 1);
  });

  test('make, rename and drop tables in namespaces of their own without standing in the way of each other', async () => {
    const dbs = await makeTwo();
    const tasks = subject.id === 'upstream' ? 1 : calls(8);
    const done = await race(
      each(dbs, tasks, async (db, round) => {
        const path = [`n${round}`];
        await db.createNamespace(path);
        await db.createTable('t', [{ id: round }], path);
        if (subject.id !== 'upstream' && round % 2 === 0) await db.renameTable('t', 'u', path);
        else await db.dropTable('t', path);
      }),
    );
    // Writers in one process wait for each other, so none of ours fails with a conflict.
    assert.equal(done, 2 * tasks);
  });
});

forEachOfOurs('two writers of ours at once', (makeCatalog) => {
  test('add a new row once by merging in one process', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', [{ id: -1 }]);
    const upsert = async () =>
      (await db.openTable('t'))
        .mergeInsert('id')
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute([{ id: 7 }]);
    assert.equal(await race(Array.from({ length: 8 }, () => upsert)), 8);
    assert.equal(await table.countRows('id = 7'), 1);
  });

  test('add a new row once by merging in two processes, where the schema names its key', async () => {
    const { db, root } = await makeCatalog();
    const metadata = new Map([['lance-schema:unenforced-primary-key', 'true']]);
    const table = await db.createEmptyTable('t', new Schema([new Field('id', new Int64(), false, metadata)]));
    const dbs = [db, await openDir({ root })];
    const done = await race(
      each(dbs, 4, async (one) =>
        (await one.openTable('t'))
          .mergeInsert('id')
          .whenMatchedUpdateAll()
          .whenNotMatchedInsertAll()
          .execute([{ id: 7 }]),
      ),
    );
    assert.ok(done > 0);
    assert.equal(await table.countRows('id = 7'), 1);
  });

  test('add rows while others put theirs in the place of all, or learn of the conflict', async () => {
    const { db, root } = await makeCatalog();
    const dbs = [db, await openDir({ root })];
    await db.createTable('t', [{ id: -1 }]);
    const done = await race(
      each(dbs, 6, async (one, id) =>
        (await one.openTable('t')).add([{ id }], { mode: id % 2 === 0 ? 'append' : 'overwrite' }),
      ),
    );
    assert.ok(done > 0);
  });
});

import assert from 'node:assert/strict';
import { existsSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { Catalog } from '#catalog/catalog.ts';
import { type DirCatalog, openDir } from '#engine/dir/dirCatalog.ts';
import { SharedTables } from '#engine/dir/sharedTables.ts';
import { fails } from '../expect.ts';
import { forEachOfOurs } from '../subjects.ts';

const namespace = ['models'];

/** Makes all changes in a root look a minute old, because tables that changed just now are not shared. */
function settle(root: string): void {
  const time = Date.now() / 1000 - 60;
  for (const name of readdirSync(root)) {
    utimesSync(join(root, name), time, time);
    const versions = join(root, name, '_versions');
    if (existsSync(versions)) utimesSync(versions, time, time);
  }
}

/** Reads all values of the newest version. Each call opens the table, as each request of a server does. */
async function values(db: Catalog, name: string, path: readonly string[] = []): Promise<number[]> {
  const table = await db.openTable(name, [...path]);
  const rows = await table.query().select(['x']).toArrow();
  return [...rows.getChild('x')!].map(Number).toSorted((a, b) => a - b);
}

forEachOfOurs('tables that readers share', (makeCatalog, subject) => {
  let db: Catalog;
  let root: string;
  let other: DirCatalog;

  setup(async () => {
    ({ db, root } = await makeCatalog());
    other = await openDir({ root });
    await other.createNamespace(namespace);
    for (const path of [[], namespace]) {
      await other.createTable('t', [{ x: 1 }, { x: 2 }], path);
      await other.createTable('u', [{ x: 7 }], path);
    }
  });
  teardown(() => other.close());

  /** Reads until the table is shared. */
  async function warm(name: string, path: readonly string[]): Promise<number[]> {
    settle(root);
    for (let time = 0; time < 3; time++) await values(db, name, path);
    return values(db, name, path);
  }

  for (const path of [[], namespace]) {
    const where = path.length === 0 ? 'the root' : 'a namespace';

    if (subject.id === 'dir') {
      test(`are opened once in ${where}`, async () => {
        const opened: boolean[] = [];
        const open = Object.getOwnPropertyDescriptor(SharedTables.prototype, 'open')!;
        const value = async function (this: SharedTables, ...rest: Parameters<SharedTables['open']>) {
          const leased = await (open.value as SharedTables['open']).apply(this, rest);
          opened.push(leased.isShared);
          return leased;
        };
        Object.defineProperty(SharedTables.prototype, 'open', { ...open, value });
        try {
          await warm('t', path);
          assert.deepEqual(opened.slice(1), [true, true, true]);
        } finally {
          Object.defineProperty(SharedTables.prototype, 'open', open);
        }
      });
    }

    test(`show rows that others add, delete and restore in ${where}`, async () => {
      assert.deepEqual(await warm('t', path), [1, 2]);
      const writer = await other.openTable('t', path);
      await writer.add([{ x: 3 }]);
      assert.deepEqual(await values(db, 't', path), [1, 2, 3]);
      await writer.delete('x = 1');
      assert.deepEqual(await values(db, 't', path), [2, 3]);
      await writer.update({ values: { x: 9 }, where: 'x = 2' });
      assert.deepEqual(await values(db, 't', path), [3, 9]);
      await writer.restore(1);
      assert.deepEqual(await values(db, 't', path), [1, 2]);
      await writer.add([{ x: 5 }], { mode: 'overwrite' });
      assert.deepEqual(await values(db, 't', path), [5]);
    });

    test(`show columns that others add and drop in ${where}`, async () => {
      await warm('t', path);
      const writer = await other.openTable('t', path);
      await writer.addColumns([{ name: 'y', expression: 'x * 10' }]);
      const rows = await (await db.openTable('t', [...path])).query().toArrow();
      assert.deepEqual(
        [...rows.getChild('y')!].map(Number).toSorted((a, b) => a - b),
        [10, 20],
      );
      await writer.dropColumns(['y']);
      const { fields } = await (await db.openTable('t', [...path])).schema();
      assert.deepEqual(
        fields.map(({ name }) => name),
        ['x'],
      );
    });

    test(`are described as they are now in ${where}`, async () => {
      const describe = async () => {
        const { version, numRows, columns } = await db.describeTable('t', { namespacePath: path });
        return [version, numRows, columns.map(({ name }) => name).join()];
      };
      await warm('t', path);
      const [first] = await describe();
      assert.deepEqual(await describe(), [first, 2, 'x']);
      await (await other.openTable('t', path)).add([{ x: 3 }]);
      assert.deepEqual(await describe(), [Number(first) + 1, 3, 'x']);
      await (await other.openTable('t', path)).addColumns([{ name: 'y', expression: 'x + 1' }]);
      const [last] = await describe();
      assert.deepEqual(await describe(), [last, 3, 'x,y']);
      await other.dropTable('t', path);
      await other.createTable('t', [{ z: 1 }], path);
      assert.deepEqual((await describe()).slice(1), [1, 'z']);
      settle(root);
      for (let time = 0; time < 3; time++) assert.deepEqual((await describe()).slice(1), [1, 'z']);
      const again = await db.describeTable('t', { namespacePath: path, version: Number((await describe())[0]) });
      assert.equal(again.numRows, 1);
    });

    test(`are missing once others drop them in ${where}`, async () => {
      await warm('t', path);
      await other.dropTable('t', [...path]);
      await fails(() => values(db, 't', path), 'TableNotFound');
    });

    test(`are the new ones after others dropped and created them again in ${where}`, async () => {
      await warm('t', path);
      for (let time = 1; time <= 3; time++) {
        await other.dropTable('t', [...path]);
        // The same number of versions and rows as before.
        await other.createTable('t', [{ x: 10 * time }, { x: 20 * time }], path);
        assert.deepEqual(await values(db, 't', path), [10 * time, 20 * time]);
        assert.deepEqual(await warm('t', path), [10 * time, 20 * time]);
      }
    });

    test(`are the right ones after others exchanged two names in ${where}`, async () => {
      assert.deepEqual(await warm('t', path), [1, 2]);
      assert.deepEqual(await warm('u', path), [7]);
      await other.renameTable('t', 'between', path);
      await fails(() => values(db, 't', path), 'TableNotFound');
      await other.renameTable('u', 't', path);
      await other.renameTable('between', 'u', path);
      assert.deepEqual(await values(db, 't', path), [7]);
      assert.deepEqual(await values(db, 'u', path), [1, 2]);
    });

    test(`are missing once others deregister them in ${where}`, async () => {
      await warm('t', path);
      await other.deregisterTable('t', [...path]);
      await fails(() => values(db, 't', path), 'TableNotFound');
    });

    test(`keep the rows of a version that was asked for in ${where}`, async () => {
      const version = await (await other.openTable('t', path)).version();
      const pinned = async (): Promise<number> => {
        const table = await db.openTable('t', { namespacePath: path, version });
        return table.countRows();
      };
      settle(root);
      for (let time = 0; time < 3; time++) assert.equal(await pinned(), 2);
      await (await other.openTable('t', path)).add([{ x: 3 }]);
      assert.equal(await pinned(), 2);
      await other.dropTable('t', path);
      await fails(pinned, 'TableNotFound');
      await other.createTable('t', [{ x: 1 }], path);
      assert.equal(await pinned(), 1);
    });

    test(`are changed by their readers without harm to other readers in ${where}`, async () => {
      await warm('t', path);
      const reader = await db.openTable('t', [...path]);
      const writer = await db.openTable('t', [...path]);
      await reader.countRows();
      await writer.add([{ x: 3 }]);
      assert.equal(await reader.countRows(), 3);
      assert.equal(await writer.countRows(), 3);
      await writer.restore(1);
      assert.deepEqual(await values(db, 't', path), [1, 2]);
      await reader.add([{ x: 4 }]);
      assert.deepEqual(await values(db, 't', path), [1, 2, 4]);
      assert.equal(await writer.countRows(), 3);
    });
  }

  test('are those of a namespace of the name once it takes the place of a table', async () => {
    await warm('t', []);
    await other.dropTable('t');
    await other.createNamespace(['t']);
    await fails(() => values(db, 't'), 'TableNotFound');
  });

  test('show every row that was written before they were asked, with many readers and a writer', async () => {
    await warm('t', []);
    const writer = await other.openTable('t');
    const most = 22;
    const rows = { written: 2 };
    const read = async (): Promise<void> => {
      while (rows.written < most) {
        const least = rows.written;
        const found = (await values(db, 't')).length;
        assert.ok(found >= least, `${found} rows, but ${least} were written before`);
      }
    };
    const readers = Promise.all(Array.from({ length: 8 }, read));
    for (; rows.written < most; rows.written++) await writer.add([{ x: 10 + rows.written }]);
    await readers;
  });
});

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type Table as NativeTable } from '@lancedb/lancedb';
import { type DirCatalog, openDir } from '#engine/dir/dirCatalog.ts';
import { tempFolder } from '../../harness/temp.ts';

type Method = (this: NativeTable, ...rest: unknown[]) => unknown;

suite('tables of the engine', () => {
  let root: string;
  let db: DirCatalog;
  let prototype: Record<'close' | 'restore', Method>;
  let original: { close: Method; restore: Method };

  setup(async () => {
    root = tempFolder('handles-');
    db = await openDir({ root });
    const table = await db.createTable('t', [{ id: 1 }]);
    for (let id = 2; id <= 6; id++) await table.add([{ id }]);
    table.close();
    const native = await (await connect(root)).openTable('t');
    prototype = Object.getPrototypeOf(native) as typeof prototype;
    native.close();
    original = { close: prototype.close, restore: prototype.restore };
  });
  teardown(async () => {
    Object.assign(prototype, original);
    await db.close();
  });

  test('are closed when a checkout replaces them, but not while a query reads from them', async () => {
    let closed = 0;
    prototype.close = function (this: NativeTable) {
      closed++;
      return original.close.call(this);
    };
    const table = await db.openTable('t');
    const tags = table.tags();
    const { batches } = await table.query().execute();
    await table.checkout(1);
    assert.equal(closed, 0);
    let rows = 0;
    for await (const { numRows } of batches) rows += numRows;
    await sleep(10);
    assert.deepEqual([rows, closed], [6, 1]);
    for (const version of [2, 3, 4]) {
      await table.checkout(version);
      assert.equal(await table.countRows(), version);
    }
    await sleep(10);
    assert.equal(closed, 4);
    await table.checkoutLatest();
    await tags.create('kept', 2);
    assert.deepEqual(Object.keys(await tags.list()), ['kept']);
    const unread = await table.query().execute();
    await table.checkout(1);
    await unread.batches[Symbol.asyncIterator]().return?.();
    table.close();
    await sleep(10);
    assert.equal(closed, 7);
  });

  test('stay open while a call runs that the caller has given up', async () => {
    let running = 0;
    let isClosedEarly = false;
    prototype.restore = async function (this: NativeTable, ...rest) {
      running++;
      await sleep(50);
      try {
        return await original.restore.apply(this, rest);
      } finally {
        running--;
      }
    };
    prototype.close = function (this: NativeTable) {
      isClosedEarly ||= running > 0;
      return original.close.call(this);
    };
    const table = await db.openTable('t');
    await assert.rejects(table.restore(1, { signal: AbortSignal.timeout(20) }), { name: 'TimeoutError' });
    await sleep(200);
    assert.deepEqual([running, isClosedEarly], [0, false]);
    assert.equal(await table.countRows(), 1);
  });
});

import assert from 'node:assert/strict';
import { connect, type Connection, type Table as NativeTable } from '@lancedb/lancedb';
import { makeVector, Table, type Table as ArrowTable } from '#arrow';
import { isFirst } from '#engine/dir/dirCreate.ts';
import { addGathered, rollBackTo } from '#engine/dir/dirWrites.ts';
import { tempFolder } from '../../../harness/temp.ts';

const numbers = (...ids: number[]): ArrowTable => new Table({ id: makeVector(Int32Array.from(ids)) });

/** Returns a source of two batches that then fails; `then` is called between the two. */
const parts = (then: () => Promise<unknown>) => ({
  table: undefined,
  async *tables() {
    yield numbers(8);
    await then();
    yield numbers(9);
    throw new Error('the rest is lost');
  },
});

suite('taking rows back', function () {
  this.timeout(30_000);
  let db: Connection;
  let shared: NativeTable;
  setup(async () => {
    db = await connect(tempFolder(), { readConsistencyInterval: 0 });
    shared = await db.createTable('t', numbers(1));
  });
  teardown(() => db.close());

  const idsNow = async (): Promise<number[]> => {
    const rows: unknown[] = await (await db.openTable('t')).query().toArray();
    return rows.map((row) => (row as { id: number }).id).toSorted((one, other) => one - other);
  };
  const apart = async (work: (own: NativeTable) => Promise<boolean>) => work(await db.openTable('t'));
  test('leaves the table as it was, and the handle that others use at its newest version', async () => {
    await assert.rejects(
      addGathered(
        shared,
        parts(() => Promise.resolve()),
        'append',
        apart,
      ),
      /the rest is lost/,
    );
    assert.deepEqual(await idsNow(), [1]);
    await shared.add(numbers(2));
    assert.deepEqual(await idsNow(), [1, 2]);
  });

  test('keeps what others wrote between two parts', async () => {
    const other = await db.openTable('t');
    const adding = addGathered(
      shared,
      parts(() => other.add(numbers(5))),
      'append',
      apart,
    );
    await assert.rejects(adding, { kind: 'InvalidTableState' });
    assert.ok((await idsNow()).includes(5));
  });

  test('keeps what others write in the moment before it restores', async () => {
    const [own, other] = [await db.openTable('t'), await db.openTable('t')];
    const { version } = await own.add(numbers(9));
    const restore = own.restore.bind(own);
    let isFirstCall = true;
    own.restore = async () => {
      if (isFirstCall) await other.add(numbers(5));
      isFirstCall = false;
      await restore();
    };
    assert.equal(await rollBackTo(own, 1, version), false);
    assert.deepEqual(await idsNow(), [1, 5, 9]);
    await own.add(numbers(10));
  });

  test('restores the rows from before a writer that lost a race, in any version', async () => {
    await shared.add(numbers(2));
    const loser = await db.openTable('t');
    await loser.add(numbers(7), { mode: 'overwrite' });
    assert.equal(await isFirst(loser), false);
    assert.deepEqual(await idsNow(), [1, 2]);
  });
});

import assert from 'node:assert/strict';
import {
  Binary,
  Field,
  Int32,
  RecordBatch,
  Schema,
  Struct,
  Table as ArrowTable,
  makeData,
  vectorFromArray,
} from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { forEachSubject } from '../../subjects.ts';

const rowCount = 24;
const schema = new Schema([new Field('id', new Int32()), new Field('blob', new Binary())]);

/** Rows with a value of this many bytes, all in one batch, so that they are in one file of the table. */
function wideRows(bytes: number): ArrowTable {
  const ids = vectorFromArray(
    Array.from({ length: rowCount }, (_, id) => id),
    new Int32(),
  );
  const blobs = vectorFromArray(
    Array.from({ length: rowCount }, (_, id) => new Uint8Array(bytes).fill(id)),
    new Binary(),
  );
  const children = [ids.data[0]!, blobs.data[0]!];
  const batch = new RecordBatch(
    schema,
    makeData({ type: new Struct(schema.fields), length: rowCount, nullCount: 0, children }),
  );
  return new ArrowTable(schema, [batch]);
}

const blobs = (count: number, bytes: number) =>
  Array.from({ length: count }, (_, id) => ({ id, blob: new Uint8Array(bytes) }));

const ids = (rows: ArrowTable): number[] => [...rows.getChild('id')!].map(Number);

forEachSubject('wide rows', (makeCatalog, subject) => {
  // Upstream's server takes bodies of up to two megabytes.
  const size = subject.id === 'upstream' ? 2 ** 15 : 2 ** 20;
  let db: Catalog;
  setup(async () => {
    ({ db } = await makeCatalog());
    await db.createTable('t', wideRows(size));
  });

  test('end with the batch that reaches the limit of bytes, and go on from there', async () => {
    const table = await db.openTable('t');
    const first = await table
      .query()
      .limitBytes(5 * size)
      .toArrow();
    const count = first.numRows;
    assert.ok(count >= 5, `${count} rows`);
    // The batches of other servers are larger.
    if (subject.id !== 'upstream') assert.ok(count <= 8, `${count} rows`);
    const rest = await table.query().offset(count).toArrow();
    assert.deepEqual(
      [...ids(first), ...ids(rest)],
      Array.from({ length: rowCount }, (_, id) => id),
    );
  });

  test('are all there within the limit, and at least one batch beyond it', async () => {
    const table = await db.openTable('t');
    assert.equal(
      (
        await table
          .query()
          .limitBytes(100 * size)
          .toArrow()
      ).numRows,
      rowCount,
    );
    assert.ok((await table.query().limitBytes(1).toArrow()).numRows >= 1);
    assert.equal(
      (
        await table
          .query()
          .limit(3)
          .limitBytes(100 * size)
          .toArrow()
      ).numRows,
      3,
    );
    assert.equal((await table.query().where('id < 0').limitBytes(1).toArrow()).numRows, 0);
    assert.throws(() => table.query().limitBytes(0), /limitBytes: 0/);
    assert.throws(() => table.query().limitBytes(-1), /-1/);
  });

  test('can be filtered, sorted and selected within a limit of bytes', async () => {
    const table = await db.openTable('t');
    const filtered = await table
      .query()
      .where('id >= 10')
      .limitBytes(3 * size)
      .toArrow();
    assert.equal(ids(filtered)[0], 10);
    assert.ok(filtered.numRows >= 3);
    assert.equal((await table.query().select(['id']).limitBytes(size).toArrow()).numRows, rowCount);
    if (subject.id === 'upstream') return;
    const sorted = await table
      .query()
      .orderBy({ column: 'id', descending: true })
      .limitBytes(2 * size)
      .toArrow();
    assert.equal(ids(sorted)[0], rowCount - 1);
    assert.ok(filtered.numRows < rowCount - 10);
  });

  if (subject.id !== 'upstream') {
    test('come in small batches also after narrow rows, and in a table of the same name', async () => {
      const longest = async (): Promise<number> => {
        const { batches } = await (await db.openTable('w')).query().execute();
        let most = 0;
        for await (const { data } of batches) most = Math.max(most, data.byteLength);
        return most;
      };
      await db.createTable('w', [...blobs(300, 1), ...blobs(700, 50_000)]);
      const mixed = await longest();
      assert.ok(mixed < 5e6, `a batch of ${mixed} bytes after narrow rows`);
      await db.dropTable('w');
      await db.createTable('w', blobs(1_000, 1));
      await longest();
      await db.dropTable('w');
      await db.createTable('w', blobs(700, 50_000));
      const anew = await longest();
      assert.ok(anew < 5e6, `a batch of ${anew} bytes in the new table`);
    });

    test('come in batches of two megabytes, also for a small limit', async () => {
      const table = await db.openTable('t');
      for (const query of [table.query(), table.query().limit(10), table.query().where('id >= 0').limit(10)]) {
        const { batches } = await query.execute();
        const lengths: number[] = [];
        for await (const batch of batches) lengths.push(batch.numRows);
        assert.ok(Math.max(...lengths) <= 2, `batches of ${lengths.join()} rows`);
      }
    });
  }
});

import assert from 'node:assert/strict';
import { setTimeout as later } from 'node:timers/promises';
import { Field, Int32, Int64, makeVector, type RecordBatch, Schema, Table, Utf8, vectorFromArray } from '#arrow';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { fails } from '../expect.ts';
import { forEachSubject } from '../subjects.ts';

const rowsPerBatch = 2000;

/** Returns the batch with the ids from `start`. */
const batchFrom = (start: number): RecordBatch =>
  new Table({ id: makeVector(BigInt64Array.from({ length: rowsPerBatch }, (_, row) => BigInt(start + row))) })
    .batches[0]!;

/** A source of batches that records whether it was closed. It throws instead of yielding the batch number `stopAt`. */
class Source implements AsyncIterable<RecordBatch> {
  /** True at first, because a source that was not started need not be closed. */
  isClosed = true;
  given = 0;
  readonly #batches: number;
  readonly #stopAt: number;
  readonly #error: Error;

  constructor(batches: number, stopAt = Infinity, error: Error = new Error('The sensor is gone.')) {
    this.#batches = batches;
    this.#stopAt = stopAt;
    this.#error = error;
  }

  /** Waits until this many batches were read. */
  async reached(batches: number): Promise<void> {
    while (this.given < batches) await later(5);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RecordBatch> {
    this.isClosed = false;
    try {
      for (let batch = 0; batch < this.#batches; batch++) {
        if (batch === this.#stopAt) throw this.#error;
        await later(0);
        this.given = batch;
        yield batchFrom(batch * rowsPerBatch);
      }
    } finally {
      this.isClosed = true;
    }
  }
}

const closed = async (source: Source): Promise<void> => {
  for (let tries = 0; tries < 100 && !source.isClosed; tries++) await later(20);
  assert.ok(source.isClosed, 'the source was not let go');
};

async function* odd(): AsyncGenerator<RecordBatch> {
  yield batchFrom(0);
  await later(0);
  yield new Table({ id: vectorFromArray(['x'], new Utf8()) }).batches[0]!;
}

async function* junk(): AsyncGenerator<RecordBatch> {
  await later(0);
  yield { id: 1 } as never;
}

forEachSubject('uploads', (makeCatalog) => {
  test('of batches as they come make one version with all rows in order', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', new Source(20));
    assert.equal(await table.version(), 1);
    await table.add(new Source(3));
    assert.equal(await table.version(), 2);
    const ids = [...(await table.toArrow()).getChild('id')!];
    const wanted = Array.from({ length: 20 * rowsPerBatch }, (_, id) => BigInt(id));
    assert.deepEqual(ids, [...wanted, ...wanted.slice(0, 3 * rowsPerBatch)]);
  });

  test('of a query copy what it finds, its columns also where it finds nothing', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', new Source(3));
    const copy = await db.createTable('copy', table.query().where('id < 10'));
    assert.equal(await copy.countRows(), 10);
    const none = await db.createTable('none', table.query().where('id < 0'));
    assert.equal(String(await none.schema()), 'Schema<{ 0: id: Int64 }>');
    assert.equal(await none.countRows(), 0);
  });

  test('whose source fails fail as it did, and leave no table', async () => {
    const { db } = await makeCatalog();
    for (const stopAt of [0, 1, 9]) {
      const source = new Source(20, stopAt);
      await assert.rejects(db.createTable('t', source), (error) => {
        assert.ok(isCatalogError(error, 'InvalidInput'), String(error));
        assert.match(error.message, /The sensor is gone/);
        assert.match(String(error.cause), /The sensor is gone/);
        return true;
      });
      await closed(source);
      assert.deepEqual(await db.tableNames(), []);
    }
  });

  test('whose source fails leave the table as it was', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', new Source(2));
    for (const mode of ['append', 'overwrite'] as const) {
      await fails(() => table.add(new Source(20, 7), { mode }), 'InvalidInput', 'The sensor is gone.');
    }
    assert.equal(await table.version(), 1);
    assert.equal(await table.countRows(), 2 * rowsPerBatch);
  });

  test('with a batch of other columns are refused, and nothing of them is kept', async () => {
    const { db } = await makeCatalog();
    await fails(() => db.createTable('t', odd()), 'SchemaValidation', 'id: utf8', 'id: int64', 'row 2000');
    await fails(() => db.createTable('t', junk()), 'InvalidInput', 'record batch');
    assert.deepEqual(await db.tableNames(), []);
  });

  test('without a batch need a schema', async () => {
    const { db } = await makeCatalog();
    await fails(() => db.createTable('t', new Source(0)), 'SchemaValidation', 'no batch');
    const schema = new Schema([new Field('id', new Int32(), true), new Field('name', new Utf8(), true)]);
    const table = await db.createTable('t', new Source(0), { schema });
    assert.equal(String(await table.schema()), String(schema));
    assert.equal(await table.countRows(), 0);
  });

  test('of batches that differ in what may be null keep all rows', async () => {
    const { db } = await makeCatalog();
    const ids = vectorFromArray([1n, 2n], new Int64());
    const part = (nullable: boolean): RecordBatch =>
      new Table(new Schema([new Field('id', new Int64(), nullable)]), { id: ids }).batches[0]!;
    const mixed = async function* (): AsyncGenerator<RecordBatch> {
      yield part(true);
      await later(0);
      yield part(false);
    };
    assert.equal(await (await db.createTable('t', mixed())).countRows(), 4);
  });

  test('that are refused let go of their source, however much is left of it', async () => {
    const { db } = await makeCatalog();
    await db.createTable('t', new Source(1));
    const source = new Source(50);
    await fails(() => db.createTable('t', source), 'TableAlreadyExists', 't');
    await closed(source);
  });

  test('that are refused before anything is sent let go of a source that was begun', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', new Source(1));
    const old = await db.openTable('t', { version: await table.version() });
    const calls: ((rows: AsyncGenerator<RecordBatch>) => Promise<unknown>)[] = [
      (rows) => db.createTable('t', rows, ['missing']),
      (rows) => old.add(rows),
      (rows) => old.mergeInsert('id').whenNotMatchedInsertAll().execute(rows),
    ];
    for (const call of calls) {
      const source = new Source(50);
      const rows = source[Symbol.asyncIterator]();
      await rows.next();
      await assert.rejects(call(rows), CatalogError);
      await closed(source);
    }
  });

  test('that are cancelled end their source and leave nothing', async () => {
    const { db } = await makeCatalog();
    const source = new Source(1_000_000);
    const abort = new AbortController();
    const creating = db.createTable('t', source, { signal: abort.signal });
    const reason = new Error('enough');
    // Aborts in the middle, even if the start takes long.
    void source.reached(20).then(() => abort.abort(reason));
    await assert.rejects(creating, (error) => error === reason);
    await closed(source);
    for (let tries = 0; tries < 50 && (await db.tableNames()).length > 0; tries++) await later(50);
    assert.deepEqual(await db.tableNames(), []);
  });
});

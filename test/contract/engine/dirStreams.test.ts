import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as upstream from '@lancedb/lancedb';
import { Dictionary, Int32, makeVector, type RecordBatch, Table, Utf8, vectorFromArray } from '#arrow';
import { bufferRows, readAllRows } from '#engine/batches/bufferedRows.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { addGathered } from '#engine/dir/dirWrites.ts';
import { tempFolder } from '../../harness/temp.ts';
import { fails } from '../expect.ts';

const batch = (first: number, rows: number): RecordBatch =>
  new Table({ id: makeVector(BigInt64Array.from({ length: rows }, (_, row) => BigInt(first + row))) }).batches[0]!;

async function* counted(batches: number, rows = 1000): AsyncGenerator<RecordBatch> {
  for (let index = 0; index < batches; index++) yield batch(index * rows, rows);
}

async function* broken(batches: number): AsyncGenerator<RecordBatch> {
  yield* counted(batches);
  throw new Error('the source is gone');
}

/** Yields batches of which the last has a different column. */
async function* unlike(): AsyncGenerator<RecordBatch> {
  yield* counted(2);
  yield new Table({ name: vectorFromArray(['a']) }).batches[0]!;
}

async function* words(): AsyncGenerator<RecordBatch> {
  for (const list of [
    ['a', 'b', 'a'],
    ['c', 'a'],
    ['b', 'd'],
  ]) {
    yield new Table({ word: vectorFromArray(list, new Dictionary(new Utf8(), new Int32())) }).batches[0]!;
  }
}

suite('streams into a directory', function () {
  this.timeout(30_000);

  test('that fail late leave nothing behind, also when they were to overwrite', async () => {
    const root = tempFolder();
    const db = await openDir({ root });
    await db.createNamespace(['shop']);
    const before = await readdir(root);
    for (const path of [[], ['shop']]) {
      for (const mode of ['create', 'exist_ok', 'overwrite'] as const) {
        await fails(() => db.createTable('t', broken(5), path, { mode }), 'InvalidInput', 'the source is gone');
        assert.deepEqual(await db.tableNames(path), []);
      }
    }
    assert.deepEqual(await readdir(root), before);
  });

  test('of rows that the engine does not take leave nothing behind', async () => {
    const root = tempFolder();
    const db = await openDir({ root });
    await fails(() => db.createTable('t', unlike(), { mode: 'overwrite' }), 'SchemaValidation', 'name');
    assert.deepEqual(await readdir(root), []);
  });

  test('too long for memory are added whole from disk, and their rows stay in order', async () => {
    const db = await openDir({ root: tempFolder() });
    const table = await db.createTable('t', [{ id: -1 }]);
    const native = await (await upstream.connect(db.location)).openTable('t');
    const rows = await bufferRows('add', counted(30), undefined, undefined, { version: 40_000, part: 40_000 });
    assert.equal(rows.table, undefined);
    const { numInsertedRows } = await addGathered(native, rows, 'append', (work) => work(native));
    await rows.dispose();
    assert.equal(numInsertedRows, 30_000);
    const ids = [...(await table.toArrow()).getChild('id')!].map(Number);
    assert.deepEqual(ids, [-1, ...Array.from({ length: 30_000 }, (_, id) => id)]);
    assert.ok((await table.listVersions()).length > 2);
  });

  test('too long for memory that fail add nothing', async () => {
    await fails(
      () => bufferRows('add', broken(30), undefined, undefined, { version: 40_000, part: 40_000 }),
      'InvalidInput',
      'the source is gone',
    );
  });

  test('are rolled back if a later part is refused', async () => {
    const db = await openDir({ root: tempFolder() });
    const table = await db.createTable('t', [{ id: -1 }]);
    const native = await (await upstream.connect(db.location)).openTable('t');
    const parts = {
      schema: await table.schema(),
      table: undefined,
      async *tables() {
        yield new Table([batch(0, 10)]);
        yield new Table({ other: vectorFromArray(['x']) });
      },
      dispose: () => Promise.resolve(),
    };
    await assert.rejects(addGathered(native, parts, 'append', (work) => work(native)));
    assert.deepEqual(await table.query().toArray(), [{ id: -1 }]);
  });

  test('of batches that bring dictionaries of their own keep the words', async () => {
    const db = await openDir({ root: tempFolder() });
    const table = await db.createTable('t', words());
    await table.add(words());
    const found = [...(await table.toArrow()).getChild('word')!].map(String);
    assert.deepEqual(found, ['a', 'b', 'a', 'c', 'a', 'b', 'd', 'a', 'b', 'a', 'c', 'a', 'b', 'd']);
  });

  test('leave a folder of a killed process where no list shows it', async () => {
    const root = tempFolder();
    const db = await openDir({ root });
    const theirs = await upstream.connect(join(root, '.unfinished-0123456789abcdef'));
    await theirs.createTable('dataset', [{ id: 1 }]);
    await db.createTable('t', [{ id: 1 }]);
    assert.deepEqual(await db.tableNames(), ['t']);
    assert.deepEqual((await (await upstream.connectNamespace('dir', { root })).listTables()).tables, ['t']);
  });

  test('that are needed as a whole are refused when they are more than memory is for, and let go', async () => {
    let isOpen = true;
    async function* endless(): AsyncGenerator<RecordBatch> {
      try {
        for (let first = 0; ; first += 1000) yield batch(first, 1000);
      } finally {
        isOpen = false;
      }
    }
    await fails(() => readAllRows('mergeInsert', endless(), undefined, undefined, 100_000), 'InvalidInput', '100000');
    assert.equal(isOpen, false);
    assert.equal((await readAllRows('mergeInsert', counted(3), undefined, undefined, 100_000)).numRows, 3000);
  });
});

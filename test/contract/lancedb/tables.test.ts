import assert from 'node:assert/strict';
import { Field, Float32, Float64, Int64, Schema, Utf8 } from '#arrow';
import { Index } from '#catalog/lancedb/indexConfig.ts';
import type { Table } from '#catalog/table/table.ts';
import { fails } from '../expect.ts';
import { forEachOfOurs, forEachSubject } from '../subjects.ts';

const rows = [
  { id: 1, name: 'mug', price: 2.5 },
  { id: 2, name: 'lamp', price: 7.5 },
];

const numbers = async (table: Table, column: string): Promise<number[]> =>
  (await table.query().toArray()).map((row) => Number(row[column])).toSorted((a, b) => a - b);

/** Calls a method that the types forbid. */
const callByName = (on: object, name: string): Promise<unknown> => (Reflect.get(on, name) as () => Promise<unknown>)();

/** Returns a value that the types forbid but that a notebook may pass. */
const odd = (value: unknown): never => value as never;

forEachSubject('tables with the verbs of LanceDB', (makeCatalog) => {
  test('create indexes by a config', async () => {
    const { db } = await makeCatalog();
    const vectors = Array.from({ length: 300 }, (_, index) => ({ id: index, text: 'a mug', vector: [index, 0, 0, 0] }));
    const table = await db.createTable('t', vectors);
    const config = Index.ivfFlat({ numPartitions: 2, distanceType: 'cosine' });
    await table.createIndex('vector', { config, waitTimeoutSeconds: 60 });
    await table.createIndex('id', { config: Index.btree(), name: 'by_id', replace: true, train: true });
    await table.createIndex('text', { config: Index.fts({ lowercase: true, withPosition: false }) });
    const found = await table.listIndices();
    const types = Object.fromEntries(found.map(({ name, type, indexType }) => [name, [type, indexType]]));
    assert.deepEqual(types, {
      vector_idx: ['IVF_FLAT', 'IvfFlat'],
      by_id: ['BTREE', 'BTree'],
      text_idx: ['FTS', 'FTS'],
    });
    const stats = await table.indexStats('vector_idx');
    assert.deepEqual([stats.indexType, stats.numIndexedRows], ['IVF_FLAT', 300]);
    await fails(() => table.createIndex('id', { config: odd({ inner: {} }) }), 'InvalidInput', 'Index.ivfPq()');
    await fails(() => table.createIndex('id', { config, type: 'BTREE' }), 'InvalidInput', '"type"');
    await fails(() => table.createIndex('id', { train: false }), 'Unsupported', 'train');
    const endless = { waitTimeoutSeconds: Number.POSITIVE_INFINITY };
    await fails(() => table.createIndex('id', endless), 'InvalidInput', 'Infinity', 'waitTimeoutSeconds');
    assert.throws(() => (Index.fm as () => unknown)(), /Index\.fts\(\)/);
  });

  test('update by columns with their SQL, an object or a map', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const { rowsUpdated, numUpdatedRows } = await table.update({ price: 'price * 2' }, { where: 'id = 1' });
    assert.equal(rowsUpdated, numUpdatedRows);
    assert.deepEqual(await numbers(table, 'price'), [5, 7.5]);
    await table.update(new Map([['price', 'price + 1']]));
    assert.deepEqual(await numbers(table, 'price'), [6, 8.5]);
    await table.update({ values: new Map([['name', 'cup']]), where: 'id = 1' });
    await table.update({ valuesSql: new Map([['price', '1.0']]) }, { where: 'id = 2' });
    assert.deepEqual(await numbers(table, 'price'), [1, 6]);
    assert.equal(await table.countRows("name = 'cup'"), 1);
    await fails(() => table.update(odd({ price: 3 })), 'InvalidInput', '"price"', 'a number', 'values');
    await fails(
      () => table.update({ where: 'id = 1', values: { id: 1 } }, { where: 'id = 2' }),
      'InvalidInput',
      'where',
    );
    await fails(() => table.update({ where: 'id = 1' }), 'InvalidInput', 'changes no column');
  });

  test('add columns by SQL, fields or a schema', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.addColumns([{ name: 'twice', valueSql: 'cast((price * 2) as float)' }]);
    await table.addColumns(new Field('a', new Float32(), true));
    await table.addColumns([new Field('b', new Utf8(), true), new Field('c', new Int64(), true)]);
    await table.addColumns(new Schema([new Field('d', new Float64(), true)]));
    const names = ['id', 'name', 'price', 'twice', 'a', 'b', 'c', 'd'];
    assert.deepEqual((await table.schema()).names, names);
    assert.deepEqual(await numbers(table, 'twice'), [5, 15]);
    assert.equal(await table.countRows('d is null'), 2);
    await fails(() => table.addColumns(new Field('e', new Float32(), false)), 'InvalidInput', '"e"', 'nullable');
    await fails(() => table.addColumns([odd({ name: 'e', sql: '1' })]), 'InvalidInput', '"sql"');
    await fails(() => table.addColumns(odd({ e: '1' })), 'InvalidInput', 'Expected a list of columns', 'an object');
    assert.deepEqual((await table.schema()).names, names);
  });

  test('change the type of a column by its name', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable(
      't',
      rows.map((row) => ({ ...row, id: BigInt(row.id) })),
    );
    await table.alterColumns([{ path: 'price', dataType: 'float' }]);
    assert.equal(String((await table.schema()).fields[2]?.type), 'Float32');
    await table.alterColumns([{ path: 'id', dataType: 'int32' }]);
    assert.equal(String((await table.schema()).fields[0]?.type), 'Int32');
    await fails(() => table.alterColumns([{ path: 'id', dataType: 'whole' }]), 'InvalidInput', '"whole"', '"id"');
  });

  test('check out a version or a tag without moving other objects', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.tags().create('first', 1);
    await table.add([{ id: 3, name: 'pen', price: 1 }]);
    const other = await db.openTable('t');
    const query = table.query();
    await table.checkout(1);
    assert.deepEqual([await table.version(), await table.countRows(), await other.countRows()], [1, 2, 3]);
    assert.equal((await query.toArray()).length, 2);
    await fails(
      () => table.add([{ id: 4, name: 'x', price: 1 }]),
      'InvalidInput',
      'is at version 1',
      'checkoutLatest()',
    );
    await table.checkoutLatest();
    assert.equal(await table.countRows(), 3);
    await table.add([{ id: 4, name: 'cap', price: 1 }]);
    await table.checkout('first');
    assert.equal(await table.countRows(), 2);
    await table.restore();
    assert.deepEqual([await table.countRows(), await table.version(), await other.countRows()], [2, 4, 2]);
    await table.add([{ id: 5, name: 'box', price: 1 }]);
    await table.checkout(1);
    await table.tags().create('later', 2);
    await table.tags().update('later', 3);
    assert.equal(await table.tags().getVersion('later'), 3);
    await table.tags().delete('later');
    assert.equal(await table.version(), 1);
    await table.checkoutLatest();
    await fails(() => table.checkout(99), 'VersionNotFound', '99');
    await fails(() => table.checkout('none'), 'TagNotFound', 'none');
    await fails(() => table.checkout(odd({})), 'InvalidInput', 'an object');
    assert.equal(await table.countRows(), 3);
    await fails(() => table.restore(), 'InvalidInput', 'checkout(version)');
  });

  test('list tags and branches by name', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.tags().create('v1', 1);
    await table.branches().create('draft');
    const tags = await table.tags().list();
    assert.deepEqual([tags['v1']?.version, Object.keys(tags), tags.size], [1, ['v1'], 1]);
    assert.deepEqual(tags.get('v1'), tags['v1']);
    const branches = await table.branches().list();
    assert.deepEqual([branches['draft']?.parentVersion, Object.keys(branches)], [1, ['draft']]);
  });

  test('know the names of results', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const stats = await table.stats();
    assert.equal(stats.fragmentStats.numFragments, stats.numFragments);
    assert.equal(JSON.stringify(stats).includes('fragmentStats'), false);
    assert.match(table.display(), /\bt$/);
    assert.equal(table.currentBranch(), null);
  });

  test('reject calls once they are closed', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const other = await db.openTable('t');
    assert.equal(table.isOpen(), true);
    table.close();
    table.close();
    assert.equal(table.isOpen(), false);
    await fails(() => table.countRows(), 'InvalidInput', 'was closed');
    await fails(() => table.query().toArray(), 'InvalidInput', 'was closed');
    await fails(() => table.checkoutLatest(), 'InvalidInput', 'was closed');
    assert.equal(await other.countRows(), 2);
  });

  test('name the call to use instead of one that does not exist', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await fails(() => callByName(table, 'setLsmWriteSpec'), 'Unsupported', 'setLsmWriteSpec', 'add()');
    await fails(() => callByName(table, 'createIndexAsync'), 'Unsupported', 'createIndex()');
    await fails(() => callByName(table.branches(), 'diff'), 'Unsupported', 'branches().checkout');
  });

  test('merge with a limit of time, and without the index', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const merge = table.mergeInsert('id').whenMatchedUpdateAll().whenNotMatchedInsertAll();
    await merge.useIndex(false).execute([{ id: 2, name: 'x', price: 1 }], { timeoutMs: 60_000 });
    await merge.execute([{ id: 3, name: 'y', price: 1 }]);
    assert.deepEqual(await numbers(table, 'id'), [1, 2, 3]);
    await fails(() => merge.execute([{ id: 4 }], odd({ timeout: 1 })), 'InvalidInput', '"timeout"');
    await fails(() => merge.execute([{ id: 4 }], { timeoutMs: -1 }), 'InvalidInput', '-1');
  });
});

forEachOfOurs('branches with the verbs of LanceDB', (makeCatalog) => {
  test('are created and checked out as tables', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const draft = await table.branches().create('draft');
    await draft.add([{ id: 3, name: 'pen', price: 1 }]);
    assert.deepEqual([await draft.countRows(), await table.countRows(), draft.currentBranch()], [3, 2, 'draft']);
    const again = await table.branches().checkout('draft');
    assert.equal(await again.countRows(), 3);
    const older = await table.branches().checkout('draft', 1);
    assert.equal(await older.countRows(), 2);
    const next = await table.branches().create('next', 'draft');
    assert.equal(await next.countRows(), 3);
    await again.checkout(1);
    assert.deepEqual([await again.countRows(), again.currentBranch()], [2, 'draft']);
    await again.checkoutLatest();
    assert.equal(await again.countRows(), 3);
    await fails(() => table.branches().checkout('none'), 'BranchNotFound', 'none');
  });

  test('follow a tag of another branch', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const draft = await table.branches().create('draft');
    await draft.add([{ id: 3, name: 'pen', price: 1 }]);
    await draft.tags().create('ready', await draft.version());
    await table.checkout('ready');
    assert.deepEqual([await table.countRows(), table.currentBranch()], [3, 'draft']);
  });

  test('report the rows that a merge wrote', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const more = [rows[0]!, { id: 3, name: 'pen', price: 1 }];
    const result = await table.mergeInsert('id').whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(more);
    // Upstream's server does not report how many rows a merge wrote.
    assert.equal(result.numRows, result.numInsertedRows === undefined ? undefined : 2);
    assert.equal(JSON.stringify(result).includes('numRows'), false);
    const first = await db.openTable('t', undefined, { version: 1 });
    assert.equal(await first.countRows(), 2);
  });

  test('optimize by a date', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.add(rows);
    const result = await table.optimize({
      cleanupOlderThan: new Date(Date.now() - 3_600_000),
      deleteUnverified: false,
    });
    assert.equal(result.compaction.filesAdded, result.numFilesAdded);
    assert.equal(result.prune.oldVersionsRemoved, 0);
    await fails(() => table.optimize({ deleteUnverified: true }), 'Unsupported', 'deleteUnverified');
    await fails(() => table.optimize({ cleanupOlderThan: new Date(), olderThan: '7d' }), 'InvalidInput', 'only one');
  });
});

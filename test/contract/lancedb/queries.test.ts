import assert from 'node:assert/strict';
import { Field, FixedSizeList, Int64, Schema, Uint8 } from '#arrow';
import type { Query } from '#catalog/query/query.ts';
import { isCatalogError } from '#shared/errors.ts';
import { fails } from '../expect.ts';
import { forEachSubject } from '../subjects.ts';

const rows = Array.from({ length: 50 }, (_, index) => ({
  id: index,
  name: `row ${index}`,
  text: index % 10 === 0 ? `a red mug` : `a blue lamp`,
  vector: [index, 0],
}));

const ids = async (query: Query): Promise<number[]> => (await query.toArray()).map((row) => Number(row['id']));

const count = async (query: Query): Promise<number> => (await query.toArrow()).numRows;

const isTimeout = (error: unknown): boolean =>
  isCatalogError(error, 'ServiceUnavailable') && error.message.includes('did not finish within');

forEachSubject('queries with the verbs of LanceDB', (makeCatalog, subject) => {
  test('search by a vector and by words', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.createIndex('text', { type: 'FTS' });
    assert.deepEqual(await ids(table.search([3, 0]).limit(1)), [3]);
    assert.deepEqual(await ids(table.search(Float32Array.of(3, 0), 'vector').limit(1)), [3]);
    const found = (await ids(table.search('red', 'fts', 'text'))).toSorted((a, b) => a - b);
    assert.deepEqual(found, [0, 10, 20, 30, 40]);
    for (const other of [
      table.search('red'),
      table.search('red', 'auto', ['text']),
      table.query().nearestToText('red', ['text']),
      table.query().nearestToText('red'),
      table.query().fullTextSearch('red', { columns: 'text' }),
    ]) {
      assert.deepEqual(
        (await ids(other)).toSorted((a, b) => a - b),
        found,
      );
    }
  });

  test('ask for the column of a phrase', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    for (const column of ['text', 'name']) await table.createIndex(column, { type: 'FTS', withPosition: true });
    // Upstream's server takes the quotes for a part of the words.
    for (const search of subject.id === 'upstream'
      ? []
      : [table.search('"red mug"'), table.search('"red mug"', 'fts')]) {
      await fails(() => search.toArray(), 'InvalidInput', '"t"', "search(text, 'fts', 'column')", 'listIndices()');
    }
    assert.equal((await ids(table.search('red', 'fts', 'text'))).length, 5);
  });

  test('name their options', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const odd = { int46: 'bigint' } as never;
    await fails(() => table.query().toArray(odd), 'InvalidInput', '"int46"', 'int64, maxBatchLength');
    await fails(() => table.query().toArrow(odd), 'InvalidInput', 'options: maxBatchLength');
  });

  test('set options of a vector search step by step', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', [
      { id: 0, vector: [1, 0] },
      { id: 1, vector: [0, 3] },
    ]);
    const near = table.search([0, 1]);
    assert.deepEqual(await ids(near.distanceType('l2')), [0, 1]);
    assert.deepEqual(await ids(near.column('vector').distanceType('cosine').bypassVectorIndex()), [1, 0]);
    assert.deepEqual(await ids(near.distanceType('dot').refineFactor(2).ef(10)), [1, 0]);
    assert.deepEqual(await ids(near.distanceType('l2').distanceRange(3, 5)), [1]);
    assert.deepEqual(await ids(near.distanceType('l2').distanceRange(undefined, 3)), [0]);
  });

  test('search as many partitions as requested', async () => {
    const { db } = await makeCatalog();
    const apart = Array.from({ length: 400 }, (_, index) => ({
      id: index,
      vector: [index % 4, Math.floor(index / 4)],
    }));
    const table = await db.createTable('t', apart);
    await table.createIndex('vector', { type: 'IVF_FLAT', numPartitions: 8 });
    const near = table.search([0, 50]).limit(400).select(['id']);
    const one = await count(near.nprobes(1));
    assert.ok(one > 0 && one < 200, String(one));
    assert.equal(await count(near.nprobes(8)), 400);
    assert.equal(await count(near.minimumNprobes(8)), 400);
    assert.equal(await count(near.minimumNprobes(1).maximumNprobes(1)), one);
    assert.equal(await count(near.maximumNprobes(1)), one);
    if (subject.id !== 'upstream') assert.equal(await count(near.minimumNprobes(1).maximumNprobes(0)), 400);
  });

  test('measure the distance of bits', async () => {
    const { db } = await makeCatalog();
    const schema = new Schema([
      new Field('id', new Int64(), true),
      new Field('vector', new FixedSizeList(2, new Field('item', new Uint8(), true)), true),
    ]);
    const bits = [
      { id: 0, vector: [0b0000_0000, 0b0000_0000] },
      { id: 1, vector: [0b1111_1111, 0b0000_0000] },
      { id: 2, vector: [0b1111_1111, 0b0000_0111] },
    ];
    const table = await db.createTable('t', bits, { schema });
    const near = table.search(Uint8Array.of(0b1111_1111, 0b0000_0001)).distanceType('hamming').select(['id']);
    const distances = async () => (await near.toArray()).map((row) => [Number(row['id']), row['_distance']]);
    const expected = [
      [1, 1],
      [2, 2],
      [0, 9],
    ];
    assert.deepEqual(await distances(), expected);
    await table.createIndex('vector', { type: 'IVF_FLAT', numPartitions: 1, distanceType: 'hamming' });
    assert.deepEqual(await distances(), expected);
  });

  test('filter, and select by a map or pairs', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    assert.deepEqual(await ids(table.query().filter('id < 3').where('id > 0')), [1, 2]);
    const twice = [{ n: 'row 1', twice: 2 }];
    const query = table.query().filter('id = 1');
    for (const selection of [
      new Map([
        ['n', 'name'],
        ['twice', 'id * 2'],
      ]),
      [
        ['n', 'name'],
        ['twice', 'id * 2'],
      ] as [string, string][],
      { n: 'name', twice: 'id * 2' },
    ]) {
      const found = await query.select(selection).toArray();
      assert.deepEqual(
        found.map((row) => ({ ...row, twice: Number(row['twice']) })),
        twice,
      );
    }
  });

  test('iterate over what execute returns', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    let rowCount = 0;
    for await (const batch of table.query().execute()) rowCount += batch.numRows;
    assert.equal(rowCount, 50);
    for await (const batch of await table.query().execute({ maxBatchLength: 7 })) {
      assert.ok(batch.numRows <= 7, String(batch.numRows));
      rowCount += batch.numRows;
    }
    assert.equal(rowCount, 100);
    const { schema, batches } = await table.query().limit(1).execute();
    assert.equal(schema.fields.length, 4);
    for await (const batch of batches) rowCount += batch.numRows;
    assert.equal(rowCount, 101);
  });

  test('end after their limit of time', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    assert.equal((await table.query().toArray({ timeoutMs: 60_000 })).length, 50);
    // The batch is read only after the limit, whatever the speed of the implementation.
    const late = async (): Promise<void> => {
      for await (const _ of table.query().execute({ timeoutMs: 1, maxBatchLength: 1 })) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      // All batches may have arrived within the limit, and then nothing is left to stop.
      await table.query().toArray({ timeoutMs: 0.001 });
    };
    await assert.rejects(late, isTimeout);
  });

  test('explain their plan in detail', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const plain = table.query().where('id > 3');
    assert.match(await plain.explainPlan(true), /LanceRead|LanceScan/);
    assert.equal(await plain.explainPlan(true), await plain.explainPlan({ verbose: true }));
  });
});

forEachSubject('queries with the order of LanceDB', (makeCatalog) => {
  test('sort by columns', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const sorted = table.query().orderBy({ columnName: 'id', ascending: false }).limit(2);
    assert.deepEqual(await ids(sorted), [49, 48]);
    assert.deepEqual(
      await ids(
        table
          .query()
          .orderBy([{ columnName: 'id', nullsFirst: true }])
          .limit(1),
      ),
      [0],
    );
  });
});

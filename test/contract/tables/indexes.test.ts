import assert from 'node:assert/strict';
import type { IndexType } from '#catalog/table/table.ts';
import { fails } from '../expect.ts';
import { forEachOfOurs, forEachSubject } from '../subjects.ts';

const rows = Array.from({ length: 600 }, (_, id) => ({
  id,
  kind: `kind ${id % 5}`,
  text: `a ${id % 2 ? 'red' : 'blue'} mug`,
  tags: [`t${id % 3}`],
  vector: Array.from({ length: 16 }, (_unused, at) => Math.sin(id * (at + 1))),
}));

forEachSubject('indexes', (makeCatalog) => {
  const scalar: readonly (readonly [string, IndexType])[] = [
    ['id', 'BTREE'],
    ['kind', 'BITMAP'],
    ['tags', 'LABEL_LIST'],
    ['text', 'FTS'],
  ];
  test('of columns are made by their kind, listed and measured', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    for (const [column, type] of scalar) await table.createIndex(column, { type });
    const made = (await table.listIndices()).toSorted((a, b) => a.name.localeCompare(b.name));
    assert.deepEqual(
      made.map(({ name, columns }) => [name, ...columns]),
      [
        ['id_idx', 'id'],
        ['kind_idx', 'kind'],
        ['tags_idx', 'tags'],
        ['text_idx', 'text'],
      ],
    );
    assert.equal((await table.stats()).numIndices, 4);
    for (const { name } of made) {
      const { numIndexedRows, numUnindexedRows } = await table.indexStats(name);
      assert.deepEqual([numIndexedRows, numUnindexedRows], [600, 0], name);
    }
    assert.equal(await table.countRows(`kind = 'kind 3' AND id < 100`), 20);
  });

  for (const type of ['IVF_FLAT', 'IVF_PQ', 'IVF_HNSW_SQ'] as const) {
    test(`of vectors find what they were made of: ${type}`, async () => {
      const { db } = await makeCatalog();
      const table = await db.createTable('t', rows);
      const numSubVectors = type === 'IVF_PQ' ? { numSubVectors: 4 } : {};
      await table.createIndex('vector', { type, distanceType: 'l2', numPartitions: 2, ...numSubVectors });
      const stats = await table.indexStats('vector_idx');
      assert.deepEqual([stats.numIndexedRows, stats.numUnindexedRows], [600, 0]);
      const [index] = await table.listIndices();
      assert.equal(index?.type?.toUpperCase().replaceAll(/[^A-Z]/g, ''), type.replaceAll('_', ''));
      const found = await table.vectorSearch(rows[7]!.vector, { nprobes: 2, refineFactor: 10 }).limit(1).toArray();
      assert.equal(found[0]?.['id'], 7);
    });
  }

  test('are chosen by the type of the column when none is named', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.createIndex('id');
    const [index] = await table.listIndices();
    assert.equal(index?.type?.toUpperCase(), 'BTREE');
  });

  test('take a name, and are dropped by it', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.createIndex('id', { type: 'BTREE', name: 'by_id' });
    assert.deepEqual(
      (await table.listIndices()).map(({ name }) => name),
      ['by_id'],
    );
    await table.dropIndex('by_id');
    assert.deepEqual(await table.listIndices(), []);
    assert.equal(await table.countRows('id < 10'), 10);
  });

  test('know the rows that were added since', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.createIndex('id', { type: 'BTREE' });
    await table.add(rows.slice(0, 5));
    const { numIndexedRows, numUnindexedRows } = await table.indexStats('id_idx');
    assert.deepEqual([numIndexedRows, numUnindexedRows], [600, 5]);
  });

  test('are not made twice when replace is off', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.createIndex('id', { type: 'BTREE' });
    await table.createIndex('id', { type: 'BTREE' });
    await fails(() => table.createIndex('id', { type: 'BTREE', replace: false }), 'IndexAlreadyExists', 'id_idx');
  });

  test('that are wrong say what is wrong', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await fails(() => table.createIndex('id', { type: 'TREE' as never }), 'InvalidInput', 'TREE');
    await fails(() => table.indexStats('nope'), 'IndexNotFound', 'nope');
    await fails(() => table.dropIndex('nope'), 'IndexNotFound', 'nope');
    assert.deepEqual(await table.listIndices(), []);
  });

  test('of columns that are not there, or hold something else, say so', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await fails(() => table.createIndex('colour', { type: 'BTREE' }), 'ColumnNotFound', 'colour');
    await fails(() => table.createIndex('kind', { type: 'IVF_PQ' }), 'InvalidInput', 'kind');
    assert.deepEqual(await table.listIndices(), []);
  });
});

forEachOfOurs('indexes of too few rows', (makeCatalog) => {
  test('are refused with how many they need', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows.slice(0, 4));
    await fails(() => table.createIndex('vector', { type: 'IVF_PQ' }), 'InvalidInput', '"t"', '4 rows', '256');
    assert.deepEqual(await table.listIndices(), []);
  });
});

forEachSubject('statistics', (makeCatalog) => {
  test('count rows, bytes and fragments', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.add(rows);
    const { numRows, numFragments, numIndices, numSmallFragments, totalBytes } = await table.stats();
    assert.deepEqual(
      { numRows, numFragments, numIndices, numSmallFragments },
      {
        numRows: 1200,
        numFragments: 2,
        numIndices: 0,
        numSmallFragments: 2,
      },
    );
    assert.ok(totalBytes > 1000, `${totalBytes} bytes`);
  });
});

forEachOfOurs('indexes of numbers', (makeCatalog) => {
  test('of type BITMAP need integers, which bigints in rows are', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', [{ number: 1, integer: 1n }]);
    await table.createIndex('integer', { type: 'BITMAP' });
    await fails(() => table.createIndex('number', { type: 'BITMAP' }), 'InvalidInput', '"number" of Float64', '1n');
  });
});

import assert from 'node:assert/strict';
import { forEachSubject } from '../../subjects.ts';

const rows = Array.from({ length: 100 }, (_, index) => ({
  id: index,
  name: `row ${index}`,
  text: index % 10 === 0 ? `a red mug number ${index}` : `a blue lamp`,
  group: index % 3 === 0 ? null : index % 3,
  vector: [index, 0],
}));

const ids = (found: readonly Record<string, unknown>[]): number[] => found.map(({ id }) => Number(id));
const sorted = (numbers: number[]): number[] => numbers.toSorted((a, b) => a - b);

forEachSubject('query options', (makeCatalog) => {
  test('name new columns by SQL', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const found = await table
      .query()
      .where('id < 3')
      .select({ id: 'id', twice: 'id * 2', title: 'upper(name)' })
      .toArray();
    assert.deepEqual(found[2], { id: 2, twice: 4, title: 'ROW 2' });
  });

  test('sort by columns, up and down', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const down = await table.query().select(['id']).orderBy({ column: 'id', descending: true }).limit(3).toArray();
    assert.deepEqual(ids(down), [99, 98, 97]);
    const grouped = await table
      .query()
      .where('group is not null')
      .orderBy(['group', { column: 'id', descending: true }])
      .select(['id', 'group'])
      .limit(2)
      .toArray();
    assert.deepEqual(ids(grouped), [97, 94]);
  });

  test('sort by a column that is not among those read', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const found = await table
      .query()
      .select(['name'])
      .orderBy({ column: 'id', descending: true })
      .offset(1)
      .limit(2)
      .toArray();
    assert.deepEqual(found, [{ name: 'row 98' }, { name: 'row 97' }]);
  });

  test('put nulls where they are asked to be', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const first = await table.query().orderBy({ column: 'group', nullsFirst: true }).limit(1).toArray();
    const last = await table.query().orderBy({ column: 'group', nullsFirst: false }).limit(1).toArray();
    assert.deepEqual([first[0]?.['group'], last[0]?.['group']], [null, 1]);
  });

  test('add row ids by which the rows are found again', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const found = await table.query().select(['id']).withRowId().where('id in (5, 7)').toArray();
    assert.deepEqual(ids(found), [5, 7]);
    const [rowId] = found.map((row) => row['_rowid']);
    assert.deepEqual(
      ids(
        await table
          .query()
          .where(`_rowid = ${String(rowId)}`)
          .toArray(),
      ),
      [5],
    );
  });

  test('measure distance as asked', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', [
      { id: 0, vector: [1, 0] },
      { id: 1, vector: [0, 3] },
    ]);
    const distances = async (distanceType: 'l2' | 'cosine' | 'dot'): Promise<unknown[]> =>
      (await table.vectorSearch([0, 1], { distanceType }).select(['id']).toArray()).map((row) => [
        Number(row['id']),
        row['_distance'],
      ]);
    assert.deepEqual(await distances('l2'), [
      [0, 2],
      [1, 4],
    ]);
    assert.deepEqual(await distances('cosine'), [
      [1, 0],
      [0, 1],
    ]);
    assert.deepEqual(await distances('dot'), [
      [1, -2],
      [0, 1],
    ]);
  });

  test('keep to bounds of the distance', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const found = await table.vectorSearch([0, 0], { lowerBound: 4, upperBound: 17 }).toArray();
    assert.deepEqual(ids(found), [2, 3, 4]);
  });

  test('filter before the search, or what it found', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const near = table.vectorSearch([0, 0]).where('id >= 3').limit(5);
    assert.deepEqual(ids(await near.toArray()), [3, 4, 5, 6, 7]);
    assert.deepEqual(ids(await near.postfilter().toArray()), [3, 4]);
  });

  test('skip the nearest rows by an offset', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    assert.deepEqual(ids(await table.vectorSearch([0, 0]).offset(2).limit(3).toArray()), [2, 3, 4]);
  });

  test('find words, and say how well', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.createIndex('text', { type: 'FTS' });
    const found = await table.fullTextSearch('red').select(['id']).limit(20).toArray();
    assert.deepEqual(sorted(ids(found)), [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
    assert.ok(found.every((row) => typeof row['_score'] === 'number' && row['_score'] > 0));
    const narrow = await table
      .fullTextSearch('red', { columns: ['text'] })
      .where('id > 45')
      .toArray();
    assert.deepEqual(sorted(ids(narrow)), [50, 60, 70, 80, 90]);
    assert.equal((await table.fullTextSearch('green').toArrow()).numRows, 0);
  });

  test('search through an index with its own options', async () => {
    const { db } = await makeCatalog();
    const many = Array.from({ length: 600 }, (_, id) => ({ id, vector: [Math.cos(id), Math.sin(id), id % 7, id % 5] }));
    const table = await db.createTable('t', many);
    await table.createIndex('vector', { type: 'IVF_FLAT', numPartitions: 4, distanceType: 'l2' });
    await table.add([{ id: 9000, vector: many[10]!.vector }]);
    const search = (options: object) => table.vectorSearch(many[10]!.vector, options).select(['id']).limit(2);
    assert.deepEqual(sorted(ids(await search({ nprobes: 4, refineFactor: 2 }).toArray())), [10, 9000]);
    assert.deepEqual(sorted(ids(await search({ bypassVectorIndex: true }).toArray())), [10, 9000]);
    const indexed = ids(await search({ nprobes: 4 }).fastSearch().toArray());
    assert.ok(indexed.includes(10) && !indexed.includes(9000), `found ${indexed.join(', ')}`);
  });

  test('read an old version', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.delete('id > 10');
    const old = await db.openTable('t', { version: 1 });
    assert.equal((await old.vectorSearch([99, 0]).limit(1).toArray())[0]?.['id'], 99);
    assert.equal((await old.query().where('id > 10').toArrow()).numRows, 89);
  });

  test('are explained without being run, and analyzed by running', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const query = table.query().where('id > 10').select(['name']);
    const plan = await query.explainPlan();
    assert.match(plan, /LanceRead|LanceScan|FilterExec|ProjectionExec/);
    assert.match(await query.explainPlan({ verbose: true }), /id/);
    assert.match(await query.analyzePlan(), /metrics|elapsed|output_rows/);
  });
});

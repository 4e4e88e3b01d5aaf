import assert from 'node:assert/strict';
import { Field, FixedSizeList, Float32, Int32, List, RecordBatch, Schema } from '#arrow';
import { MatchQuery } from '#catalog/query/fullTextQuery.ts';
import { type Reranker, rrf, RRFReranker } from '#catalog/query/rerankers.ts';
import { isCatalogError } from '#shared/errors.ts';
import { forEachSubject } from '../../subjects.ts';

const rows = Array.from({ length: 12 }, (_, id) => ({
  id,
  text: `${id % 3 === 0 ? 'red ' : ''}mug number ${id}`,
  tags: [`tag ${id}`],
  vector: [id, 0],
}));

const numbers = (found: readonly Record<string, unknown>[], name: string): (number | null)[] =>
  found.map((row) => (row[name] === null ? null : Number(row[name])));

/** Orders found rows by their vectors. The engine searches by several vectors at once, so those of any may come first. */
const byVector = (found: readonly Record<string, unknown>[]) =>
  found.toSorted((a, b) => Number(a['query_index']) - Number(b['query_index']));

forEachSubject('searches by several things', (makeCatalog) => {
  const makeTable = async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.createIndex('text', { type: 'FTS' });
    return table;
  };

  test('order the rows of a vector and of words by their ranks', async () => {
    const table = await makeTable();
    const search = table.query().nearestTo([5, 0]).fullTextSearch('red').select(['id', 'tags']).limit(5);
    const found = await search.toArray();
    // By the vector: 5, 4 and 6, 3 and 7. By words: 0, 3, 6, 9 in any order. Only 3 and 6 are in both.
    assert.deepEqual(Object.keys(found[0]), ['id', 'tags', '_distance', '_score', '_relevance_score']);
    assert.deepEqual(new Set(numbers(found, 'id').slice(0, 2)), new Set([3, 6]));
    const scores = numbers(found, '_relevance_score');
    assert.deepEqual(
      scores,
      scores.toSorted((a, b) => b! - a!),
    );
    assert.deepEqual(
      found.map((row) => [...(row['tags'] as Iterable<string>)]),
      numbers(found, 'id').map((id) => [`tag ${id}`]),
    );
    const both = found.find(({ id }) => Number(id) === 6)!;
    assert.equal(both['_distance'], 1);
    assert.ok(Number(both['_score']) > 0);
    const near = found.find(({ id }) => Number(id) === 5)!;
    assert.deepEqual([near['_distance'], near['_score']], [0, null]);
    assert.ok(Math.abs(Number(near['_relevance_score']) - 1 / 60) < 1e-6);
    // The next page continues the same order.
    const all = await search.limit(7).withRowId().toArray();
    assert.deepEqual(numbers(await search.limit(2).offset(5).toArray(), 'id'), numbers(all.slice(5), 'id'));
    assert.ok('_rowid' in all[0]!);
    assert.equal(
      String(await search.outputSchema()),
      'Schema<{ 0: id: Float64, 1: tags: List<Utf8>, 2: _distance: Float32, 3: _score: Float32, 4: _relevance_score: Float32 }>',
    );
    assert.match(await search.explainPlan(), /Search by vector:[^]*Search by text:/);
  });

  test('end with the batch that reaches a limit of bytes', async () => {
    const { db } = await makeCatalog();
    const many = Array.from({ length: 1_500 }, (_, id) => ({ id, text: `red ${'x'.repeat(100)}`, vector: [id, 0] }));
    const table = await db.createTable('t', many);
    await table.createIndex('text', { type: 'FTS' });
    const search = table.query().nearestTo([5, 0]).fullTextSearch('red').limit(1_500);
    assert.equal((await search.toArrow()).numRows, 1_500);
    const { numRows } = await search.limitBytes(1_000).toArrow();
    assert.ok(numRows > 0 && numRows <= 256, `${numRows} rows`);
  });

  test('skip rows also if a column of the table has the name of the index of vectors', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable(
      't',
      rows.map(({ id, vector }) => ({ id, vector, query_index: id })),
    );
    const found = await table.query().nearestTo([0, 0]).select(['id', 'query_index']).limit(3).offset(2).toArray();
    assert.deepEqual(numbers(found, 'id'), [2, 3, 4]);
  });

  test('take a filter, a query of words, and another weight of ranks', async () => {
    const table = await makeTable();
    const search = table.vectorSearch([5, 0]).fullTextSearch(new MatchQuery('red', 'text')).where('id < 6');
    const found = await search.rerank(await RRFReranker.create(1)).toArray();
    assert.ok(numbers(found, 'id').every((id) => id! < 6));
    // Row 3 is the third by its vector, and the first or second by words.
    assert.ok(numbers(found, '_relevance_score')[0]! > 1);
    const [best] = await search
      .rerank(rrf({ k: 2 }))
      .limit(1)
      .toArray();
    assert.ok(Number(best?.['_relevance_score']) < 0.8);
    assert.equal((await search.where('id > 100').toArray()).length, 0);
  });

  test('take a reranker of the caller', async () => {
    const table = await makeTable();
    const search = table.query().fullTextSearch('red').nearestTo([5, 0]).limit(3);
    const seen: unknown[] = [];
    const byText: Reranker = {
      rerankHybrid(query, near, matching) {
        seen.push(query, near.schema.names.slice(-2), matching.schema.names.slice(-2), near.numRows, matching.numRows);
        const { fields } = matching.schema;
        const renamed = fields.map(({ name, type }) => new Field(name === '_score' ? '_relevance_score' : name, type));
        return new RecordBatch(new Schema(renamed), matching.data);
      },
    };
    const found = await search.rerank(byText).toArray();
    assert.deepEqual(seen, ['red', ['_rowid', '_distance'], ['_rowid', '_score'], 3, 3]);
    assert.ok(numbers(found, 'id').every((id) => id! % 3 === 0));
    const wrong: Reranker = { rerankHybrid: (_, near) => near };
    await assert.rejects(
      () => search.rerank(wrong).toArray(),
      (error) => isCatalogError(error, 'InvalidInput') && error.message.includes('_relevance_score'),
    );
    await assert.rejects(
      () => table.vectorSearch([1, 1]).rerank().toArray(),
      /needs a search by vector and a search by/,
    );
    await assert.rejects(() => search.orderBy('id').toArray(), /order of their relevance/);
    assert.throws(() => search.rerank({} as Reranker), /without a function rerankHybrid/);
    assert.throws(() => rrf({ k: 0 }), /not a valid k/);
  });

  test('find the nearest rows of several vectors', async () => {
    const table = await makeTable();
    const search = table.vectorSearch([1, 0]).addQueryVector([9, 0]).select(['id']);
    const found = byVector(await search.limit(3).toArray());
    assert.deepEqual(numbers(found, 'query_index'), [0, 0, 0, 1, 1, 1]);
    assert.equal(found[0]?.['id'], 1);
    assert.deepEqual(new Set(numbers(found, 'id').slice(3)), new Set([8, 9, 10]));
    const later = await table
      .vectorSearch([
        [1.1, 0],
        [9.1, 0],
      ])
      .select(['id'])
      .limit(2)
      .offset(1)
      .toArray();
    assert.deepEqual(
      byVector(later).map((row) => [Number(row['query_index']), Number(row['id'])]),
      [
        [0, 2],
        [0, 0],
        [1, 10],
        [1, 8],
      ],
    );
    assert.throws(() => table.query().addQueryVector([1, 0]), /needs a first vector/);
    await assert.rejects(
      () => search.fullTextSearch('red').toArray(),
      (error) => isCatalogError(error, 'Unsupported') && error.message.includes('several vectors'),
    );
    await assert.rejects(
      () => search.addQueryVector([1, 2, 3]).toArray(),
      (error) => isCatalogError(error, 'InvalidInput') && /dimension|numbers/.test(error.message),
    );
  });

  test('find lists of vectors that are nearest to all', async () => {
    const { db } = await makeCatalog();
    const vector = new FixedSizeList(2, new Field('item', new Float32(), true));
    const schema = new Schema([
      new Field('id', new Int32(), true),
      new Field('vectors', new List(new Field('item', vector, true)), true),
    ]);
    const lists = [
      {
        id: 1,
        vectors: [
          [1, 0],
          [0, 1],
        ],
      },
      { id: 2, vectors: [[1, 1]] },
      { id: 3, vectors: [[1, 0]] },
    ];
    const table = await db.createTable('t', lists, { schema });
    const search = table
      .vectorSearch(
        [
          [1, 0],
          [0, 1],
        ],
        { distanceType: 'cosine' },
      )
      .select(['id']);
    assert.deepEqual(numbers(await search.toArray(), 'id'), [1, 2, 3]);
    assert.deepEqual(numbers(await search.offset(1).limit(1).toArray(), 'id'), [2]);
  });
});

import assert from 'node:assert/strict';
import {
  BooleanQuery,
  BoostQuery,
  type FullTextQuery,
  MatchQuery,
  MultiMatchQuery,
  Occur,
  Operator,
  PhraseQuery,
} from '#catalog/query/fullTextQuery.ts';
import { isCatalogError } from '#shared/errors.ts';
import { fails } from '../../expect.ts';
import { forEachSubject } from '../../subjects.ts';

const texts = [
  ['red mug', 'kitchen'],
  ['mug with a red handle', 'kitchen'],
  ['blue lamp', 'bedroom'],
  ['red lamp for the bedroom', 'living room'],
  ['chair', 'red room'],
] as const;

const ascending = (ids: readonly number[]): number[] => ids.toSorted((a, b) => a - b);

const numbersIn = (found: readonly Record<string, unknown>[]): number[] => found.map(({ id }) => Number(id));

const inBoth = (boosts: number[]) => new MultiMatchQuery('red', ['text', 'place'], { boosts });

forEachSubject('full-text queries', (makeCatalog) => {
  const makeTable = async (withPosition = true) => {
    const { db } = await makeCatalog();
    const table = await db.createTable(
      't',
      texts.map(([text, place], id) => ({ id, text, place })),
    );
    const options = { type: 'FTS', withPosition, stem: false, removeStopWords: false } as const;
    await table.createIndex('text', options);
    await table.createIndex('place', options);
    const find = async (query: FullTextQuery) => {
      const found = await table.fullTextSearch(query).select(['id']).toArray();
      return found.map(({ id }) => Number(id));
    };
    return { table, find };
  };

  test('match words, all of them, or similar ones', async () => {
    const { find } = await makeTable();
    assert.deepEqual(ascending(await find(new MatchQuery('red mug', 'text'))), [0, 1, 3]);
    assert.deepEqual(ascending(await find(new MatchQuery('red mug', 'text', { operator: Operator.And }))), [0, 1]);
    assert.deepEqual(await find(new MatchQuery('blu', 'text')), []);
    assert.deepEqual(await find(new MatchQuery('blu', 'text', { fuzziness: 1 })), [2]);
    assert.deepEqual(await find(new MatchQuery('xlue', 'text', { fuzziness: 1, prefixLength: 1 })), []);
    assert.deepEqual(await find(new MatchQuery('chiar', 'text', { fuzziness: 2, maxExpansions: 5 })), [4]);
  });

  test('match phrases, with words between them', async () => {
    const { find } = await makeTable();
    assert.deepEqual(await find(new PhraseQuery('red mug', 'text')), [0]);
    assert.deepEqual(await find(new PhraseQuery('red bedroom', 'text')), []);
    assert.deepEqual(await find(new PhraseQuery('red bedroom', 'text', { slop: 3 })), [3]);
  });

  test('combine queries', async () => {
    const { find } = await makeTable();
    const red = new MatchQuery('red', 'text');
    const lamp = new MatchQuery('lamp', 'text');
    const both = new BooleanQuery([
      [Occur.Must, red],
      [Occur.Must, lamp],
    ]);
    assert.deepEqual(await find(both), [3]);
    const without = new BooleanQuery([
      [Occur.Should, red],
      [Occur.MustNot, lamp],
    ]);
    assert.deepEqual(ascending(await find(without)), [0, 1]);
    const nested = new BooleanQuery([
      [Occur.Must, both],
      [Occur.MustNot, new PhraseQuery('blue lamp', 'text')],
    ]);
    assert.deepEqual(await find(nested), [3]);
    const lowered = await find(new BoostQuery(red, lamp, { negativeBoost: 0.9 }));
    assert.deepEqual([lowered.at(-1), ascending(lowered)], [3, [0, 1, 3]]);
  });

  test('search several columns, with weights', async () => {
    const { find } = await makeTable();
    assert.deepEqual(ascending(await find(inBoth([1, 1]))), [0, 1, 3, 4]);
    assert.equal((await find(inBoth([1, 100])))[0], 4);
    assert.equal((await find(inBoth([100, 1]))).at(-1), 4);
  });

  test('find parts of words, and not the words to ignore, by the options of the index', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', [
      { id: 0, text: 'lighthouse' },
      { id: 1, text: 'red mug' },
    ]);
    const find = async (words: string) => ascending(numbersIn(await table.fullTextSearch(words).toArray()));
    const grams = { baseTokenizer: 'ngram', ngramMinLength: 2, ngramMaxLength: 5 } as const;
    await table.createIndex('text', { type: 'FTS', ...grams, stem: false });
    assert.deepEqual(await find('house'), [0]);
    await table.createIndex('text', { type: 'FTS', ...grams, prefixOnly: true, stem: false });
    assert.deepEqual([await find('house'), await find('light')], [[], [0]]);
    await table.createIndex('text', { type: 'FTS', removeStopWords: true, customStopWords: ['mug'], blockSize: 256 });
    assert.deepEqual([await find('mug'), await find('red')], [[], [1]]);
    const wrong = { type: 'FTS', ...grams, ngramMinLength: 6 } as const;
    await fails(() => table.createIndex('text', wrong), 'InvalidInput', 'ngramMinLength 6');
    await fails(() => table.createIndex('text', { type: 'FTS', blockSize: 100 as never }), 'InvalidInput', '100');
    await fails(
      () => table.createIndex('text', { type: 'FTS', customStopWords: [] }),
      'InvalidInput',
      'customStopWords',
    );
  });

  test('say what is missing in the table', async () => {
    const { table, find } = await makeTable(false);
    await assert.rejects(
      () => find(new PhraseQuery('red mug', 'text')),
      (error) => isCatalogError(error, 'InvalidInput') && /withPosition: true|with position/.test(error.message),
    );
    await assert.rejects(
      () => find(new MatchQuery('red', 'nope')),
      (error) => isCatalogError(error, 'ColumnNotFound') && error.message.includes('"nope"'),
    );
    assert.match(await table.fullTextSearch(new MatchQuery('red', 'text')).explainPlan(), /\S/);
  });
});

import assert from 'node:assert/strict';
import {
  BooleanQuery,
  BoostQuery,
  checkFullTextQuery,
  type FullTextQuery,
  MatchQuery,
  MultiMatchQuery,
  Occur,
  PhraseQuery,
  wordsOfQuery,
} from '#catalog/query/fullTextQuery.ts';
import { fullTextRequest } from '#catalog/rest/fullTextRequest.ts';
import { parseFullTextQuery } from '#engine/server/fullTextRequest.ts';
import { isCatalogError } from '#shared/errors.ts';

const refuses = (call: () => unknown, words: string): void => {
  assert.throws(
    call,
    (error) => isCatalogError(error, 'InvalidInput') && error.message.includes(words),
    `does not say ${words}`,
  );
};

const all = new BooleanQuery([
  [Occur.Must, new MatchQuery('a b', 'x', { boost: 2, fuzziness: null, operator: 'AND', prefixLength: 1 })],
  [Occur.Should, new MultiMatchQuery('e', ['x', 'y'], { boosts: [1, 3] })],
  [Occur.Should, new BoostQuery(new MatchQuery('f', 'x'), new MatchQuery('g', 'x'))],
  [Occur.MustNot, new PhraseQuery('c d', 'y', { slop: 2 })],
]);

suite('full-text queries', () => {
  test('arrive at a server as they were written', () => {
    const json = JSON.parse(JSON.stringify(fullTextRequest(checkFullTextQuery(all)))) as Record<string, unknown>;
    const parsed = parseFullTextQuery(json);
    assert.deepEqual(JSON.parse(JSON.stringify(parsed)), JSON.parse(JSON.stringify(checkFullTextQuery(all))));
    assert.equal(wordsOfQuery(parsed), 'a b e e f g c d');
  });

  test('are plain data with the defaults of LanceDB', () => {
    assert.deepEqual(checkFullTextQuery(new MatchQuery('a', 'x')), {
      type: 'match',
      query: 'a',
      column: 'x',
      boost: 1,
      fuzziness: 0,
      maxExpansions: 50,
      operator: 'OR',
      prefixLength: 0,
    });
    assert.equal(new PhraseQuery('a', 'x').queryType(), 'match_phrase');
  });

  test('refuse values that an engine would take for others', () => {
    refuses(() => new MatchQuery('', 'x'), 'empty');
    refuses(() => new MatchQuery('a', ''), 'column');
    refuses(() => new MatchQuery('a', 'x', { fuzziness: 4 }), 'fuzziness');
    refuses(() => new MatchQuery('a', 'x', { fuzzyness: 1 } as never), 'fuzzyness');
    refuses(() => new MatchQuery('a', 'x', { operator: 'XOR' as never }), '"XOR" is not an operator');
    refuses(() => new MultiMatchQuery('a', ['x'], { boosts: [1, 2] }), 'one boost for each column');
    refuses(() => new BooleanQuery([[Occur.MustNot, new MatchQuery('a', 'x')]]), 'nothing that a row can match');
    refuses(() => new BooleanQuery([['must' as never, new MatchQuery('a', 'x')]]), 'without an Occur');
    refuses(() => new BoostQuery('a' as never, new MatchQuery('a', 'x')), 'got a string');
    refuses(() => checkFullTextQuery({ type: 'match', query: 'a', column: 7 }), 'column');
  });

  test('have limits of depth and size', () => {
    let deep: FullTextQuery = { type: 'match', query: 'a', column: 'x' } as never;
    for (let level = 0; level < 20; level++) deep = { type: 'boolean', queries: [[Occur.Must, deep]] };
    refuses(() => checkFullTextQuery(deep), '16 levels');
    const wide = new BooleanQuery(Array.from({ length: 201 }, () => [Occur.Should, new MatchQuery('a', 'x')] as const));
    refuses(() => checkFullTextQuery(wide), '202 parts');
    let json: Record<string, unknown> = { match: { terms: 'a', column: 'x' } };
    for (let level = 0; level < 10_000; level++) json = { boolean: { must: [json], should: [], must_not: [] } };
    refuses(() => parseFullTextQuery(json), '16 levels');
  });

  test('of a request name the field that is wrong', () => {
    refuses(() => parseFullTextQuery({}), 'one kind of query');
    refuses(
      () => parseFullTextQuery({ match: { terms: 'a', column: 'x' }, phrase: { terms: 'a' } }),
      'one kind of query',
    );
    refuses(() => parseFullTextQuery({ match: { column: 'x' } }), '"terms"');
    assert.throws(
      () => parseFullTextQuery({ match: { terms: 'a' } }),
      /does not support a full-text query without a column/,
    );
  });
});

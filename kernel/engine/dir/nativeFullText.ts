import type * as lancedb from '@lancedb/lancedb';
import type { FullTextQuery } from '#catalog/query/fullTextQuery.ts';

type Native = typeof lancedb;

/** Returns a full-text query as an object of the engine. */
export function nativeFullText(engine: Native, clause: FullTextQuery): lancedb.FullTextQuery {
  switch (clause.type) {
    case 'match': {
      const { query, column, operator, fuzziness, ...options } = clause;
      // The types of the engine do not allow null, which its documentation describes.
      const distance = fuzziness as number;
      return new engine.MatchQuery(query, column, {
        ...options,
        fuzziness: distance,
        operator: engine.Operator[operator === 'AND' ? 'And' : 'Or'],
      });
    }
    case 'match_phrase':
      return new engine.PhraseQuery(clause.query, clause.column, { slop: clause.slop });
    case 'boost':
      return new engine.BoostQuery(nativeFullText(engine, clause.positive), nativeFullText(engine, clause.negative), {
        negativeBoost: clause.negativeBoost,
      });
    case 'multi_match':
      return new engine.MultiMatchQuery(clause.query, [...clause.columns], {
        boosts: [...clause.boosts],
        operator: engine.Operator[clause.operator === 'AND' ? 'And' : 'Or'],
      });
    case 'boolean': {
      const occurs = { MUST: engine.Occur.Must, MUST_NOT: engine.Occur.MustNot, SHOULD: engine.Occur.Should } as const;
      return new engine.BooleanQuery(
        clause.queries.map(([occur, query]) => [occurs[occur], nativeFullText(engine, query)]),
      );
    }
  }
}

import { type FullTextQuery, Occur, type Operator } from '#catalog/query/fullTextQuery.ts';

const operatorName = (operator: Operator): string => (operator === 'AND' ? 'And' : 'Or');

/** Returns a full-text query as in the specification ("FtsQuery"). */
export function fullTextRequest(clause: FullTextQuery): Record<string, unknown> {
  switch (clause.type) {
    case 'match': {
      const { query, column, boost, fuzziness, maxExpansions, operator, prefixLength } = clause;
      const expansion = { max_expansions: maxExpansions, prefix_length: prefixLength };
      const match = { terms: query, column, boost, fuzziness, operator: operatorName(operator), ...expansion };
      return { match };
    }
    case 'match_phrase':
      return { phrase: { terms: clause.query, column: clause.column, slop: clause.slop } };
    case 'boost':
      return {
        boost: {
          positive: fullTextRequest(clause.positive),
          negative: fullTextRequest(clause.negative),
          negative_boost: clause.negativeBoost,
        },
      };
    case 'multi_match': {
      const common = { terms: clause.query, operator: operatorName(clause.operator) };
      const matches = clause.columns.map((column, at) => ({ ...common, column, boost: clause.boosts[at] }));
      return { multi_match: { match_queries: matches } };
    }
    case 'boolean': {
      const those = (occur: Occur) =>
        clause.queries.filter(([one]) => one === occur).map(([, query]) => fullTextRequest(query));
      return {
        boolean: { must: those(Occur.Must), must_not: those(Occur.MustNot), should: those(Occur.Should) },
      };
    }
  }
}

import {
  BooleanQuery,
  BoostQuery,
  checkFullTextQuery,
  checkLevel,
  type FullTextQuery,
  MatchQuery,
  MultiMatchQuery,
  Occur,
  type Operator,
  PhraseQuery,
} from '#catalog/query/fullTextQuery.ts';
import {
  choice,
  count,
  invalidRequestField,
  type Json,
  missing,
  object,
  objectList,
  optionalNumber,
  optionalString,
  requiredString,
  unsupportedByServer,
} from './requestBody.ts';

/**
 * Parses a structured full-text query ("FtsQuery").
 * @throws CatalogError InvalidInput (13), Unsupported (0) if a query names no column or a multi_match has different
 * terms
 */
export const parseFullTextQuery = (body: Json): FullTextQuery => checkFullTextQuery(parseQuery(body, 1));

function parseQuery(body: Json, level: number): FullTextQuery {
  checkLevel(level);
  const kinds = Object.keys(body).filter((kind) => (body[kind] ?? undefined) !== undefined);
  if (kinds.length !== 1) return invalidRequestField('structured_query.query', 'an object with one kind of query');
  const kind = choice(kinds[0], 'structured_query.query', ['match', 'phrase', 'boost', 'multi_match', 'boolean']);
  const value = object(body, kinds[0]!) ?? missing(kinds[0]!);
  switch (kind) {
    case 'phrase':
      return new PhraseQuery(requiredString(value, 'terms'), columnIn(value), { slop: count(value, 'slop') });
    case 'boost':
      return new BoostQuery(
        parseQuery(object(value, 'positive') ?? missing('positive'), level + 1),
        parseQuery(object(value, 'negative') ?? missing('negative'), level + 1),
        { negativeBoost: optionalNumber(value, 'negative_boost') },
      );
    case 'multi_match':
      return parseMultiMatch(objectList(value, 'match_queries'));
    case 'boolean':
      return new BooleanQuery([
        ...parseParts(value, 'must', Occur.Must, level),
        ...parseParts(value, 'should', Occur.Should, level),
        ...parseParts(value, 'must_not', Occur.MustNot, level),
      ]);
    case 'match':
    case undefined:
      return parseMatch(value);
  }
}

const parseParts = (value: Json, field: string, occur: Occur, level: number): [Occur, FullTextQuery][] =>
  (value[field] ?? undefined) === undefined
    ? []
    : objectList(value, field).map((part) => [occur, parseQuery(part, level + 1)]);

const parseMatch = (value: Json): MatchQuery =>
  new MatchQuery(requiredString(value, 'terms'), columnIn(value), {
    boost: optionalNumber(value, 'boost'),
    // The specification has no value for a fuzziness that depends on the length of the words, so our client sends null.
    fuzziness: value['fuzziness'] === null ? null : count(value, 'fuzziness'),
    maxExpansions: count(value, 'max_expansions'),
    operator: operatorIn(value),
    prefixLength: count(value, 'prefix_length'),
  });

/** Parses a multi_match. The engine can search several columns only for the same words. */
function parseMultiMatch(matches: readonly Json[]): MultiMatchQuery {
  const queries = matches.map(parseMatch);
  const [first] = queries;
  if (!first) return invalidRequestField('match_queries', 'a non-empty list');
  if (queries.some(({ query, operator }) => query !== first.query || operator !== first.operator))
    unsupportedByServer('a multi_match of different terms', 'Send them as parts of a boolean query.');
  return new MultiMatchQuery(
    first.query,
    queries.map(({ column }) => column),
    { boosts: queries.map(({ boost }) => boost), operator: first.operator },
  );
}

const columnIn = (value: Json): string =>
  optionalString(value, 'column') ||
  unsupportedByServer('a full-text query without a column', 'Name the column, or send full_text_query.string_query.');

const operatorIn = (value: Json): Operator | undefined =>
  choice(optionalString(value, 'operator'), 'operator', ['AND', 'OR']);

import { checkOptions } from '#catalog/arguments/options.ts';
import { checkText, checkTexts, describeType } from '#catalog/arguments/tableArguments.ts';
import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';

// Full-text queries with the names of LanceDB. Each class is a checked form of plain data, so that queries can be sent
// and compared.

/** How the words of a query are combined. */
export const Operator = { And: 'AND', Or: 'OR' } as const;
export type Operator = (typeof Operator)[keyof typeof Operator];

/** Whether a row should match a part of a `BooleanQuery`, must match it, or must not. */
export const Occur = { Should: 'SHOULD', Must: 'MUST', MustNot: 'MUST_NOT' } as const;
export type Occur = (typeof Occur)[keyof typeof Occur];

export const FullTextQueryType = {
  Match: 'match',
  MatchPhrase: 'match_phrase',
  Boost: 'boost',
  MultiMatch: 'multi_match',
  Boolean: 'boolean',
} as const;
export type FullTextQueryType = (typeof FullTextQueryType)[keyof typeof FullTextQueryType];

export type MatchQueryOptions = {
  /** Factor of the score. Default: 1. */
  boost?: number | undefined;
  /**
   * Number of letters by which a word may differ, 0-3; with `null`, the engine chooses the number by the length of the
   * word. Default: 0.
   */
  fuzziness?: number | null | undefined;
  /** Maximum number of words that one fuzzy word stands for. Default: 50. */
  maxExpansions?: number | undefined;
  /** Whether a row needs one of the words (`OR`, default) or all (`AND`). */
  operator?: Operator | undefined;
  /** Number of first letters of a word that must not differ. Default: 0. */
  prefixLength?: number | undefined;
};
export type PhraseQueryOptions = {
  /** Number of other words that may be between the words. Default: 0. */
  slop?: number | undefined;
};
export type BoostQueryOptions = {
  /** Factor of the score of the negative query, which is subtracted. Default: 0.5. */
  negativeBoost?: number | undefined;
};
export type MultiMatchQueryOptions = {
  /** Factors of the score, one for each column. Default: 1. */
  boosts?: readonly number[] | undefined;
  /** See `MatchQueryOptions`. */
  operator?: Operator | undefined;
};

type MatchClause = {
  readonly type: 'match';
  readonly query: string;
  readonly column: string;
  readonly boost: number;
  readonly fuzziness: number | null;
  readonly maxExpansions: number;
  readonly operator: Operator;
  readonly prefixLength: number;
};
type PhraseClause = {
  readonly type: 'match_phrase';
  readonly query: string;
  readonly column: string;
  readonly slop: number;
};
type BoostClause = {
  readonly type: 'boost';
  readonly positive: FullTextQuery;
  readonly negative: FullTextQuery;
  readonly negativeBoost: number;
};
type MultiMatchClause = {
  readonly type: 'multi_match';
  readonly query: string;
  readonly columns: readonly string[];
  readonly boosts: readonly number[];
  readonly operator: Operator;
};
type BooleanClause = {
  readonly type: 'boolean';
  readonly queries: readonly (readonly [Occur, FullTextQuery])[];
};

/** A query for `fullTextSearch`: plain data, which the classes below check and complete. */
export type FullTextQuery = MatchClause | PhraseClause | BoostClause | MultiMatchClause | BooleanClause;

/** What all classes of queries have in common. */
abstract class TypedQuery {
  declare readonly type: FullTextQueryType;

  queryType(): FullTextQueryType {
    return this.type;
  }
}

/** Rows with words of `query` in a column: `new MatchQuery('red mug', 'name', { fuzziness: 1 })`. */
export class MatchQuery extends TypedQuery implements MatchClause {
  declare readonly type: 'match';
  declare readonly query: string;
  declare readonly column: string;
  declare readonly boost: number;
  declare readonly fuzziness: number | null;
  declare readonly maxExpansions: number;
  declare readonly operator: Operator;
  declare readonly prefixLength: number;

  /** @throws CatalogError InvalidInput (13) for an invalid value or option */
  constructor(query: string, column: string, options: MatchQueryOptions = {}) {
    super();
    checkOptions('MatchQuery', options, ['boost', 'fuzziness', 'maxExpansions', 'operator', 'prefixLength']);
    Object.assign(this, matchClause({ ...options, query, column }));
  }
}

/** Rows with the words of `query` in this order. The index of the column needs the option `withPosition`. */
export class PhraseQuery extends TypedQuery implements PhraseClause {
  declare readonly type: 'match_phrase';
  declare readonly query: string;
  declare readonly column: string;
  declare readonly slop: number;

  /** @throws CatalogError InvalidInput (13) for an invalid value or option */
  constructor(query: string, column: string, options: PhraseQueryOptions = {}) {
    super();
    checkOptions('PhraseQuery', options, ['slop']);
    Object.assign(this, phraseClause({ ...options, query, column }));
  }
}

/** Rows that match `positive`. Rows that also match `negative` have a lower score. */
export class BoostQuery extends TypedQuery implements BoostClause {
  declare readonly type: 'boost';
  declare readonly positive: FullTextQuery;
  declare readonly negative: FullTextQuery;
  declare readonly negativeBoost: number;

  /** @throws CatalogError InvalidInput (13) for an invalid value or option */
  constructor(positive: FullTextQuery, negative: FullTextQuery, options: BoostQueryOptions = {}) {
    super();
    checkOptions('BoostQuery', options, ['negativeBoost']);
    Object.assign(this, boostClause({ ...options, positive, negative }, 1));
  }
}

/** Rows with words of `query` in any of several columns. */
export class MultiMatchQuery extends TypedQuery implements MultiMatchClause {
  declare readonly type: 'multi_match';
  declare readonly query: string;
  declare readonly columns: readonly string[];
  declare readonly boosts: readonly number[];
  declare readonly operator: Operator;

  /** @throws CatalogError InvalidInput (13) for an invalid value or option */
  constructor(query: string, columns: readonly string[], options: MultiMatchQueryOptions = {}) {
    super();
    checkOptions('MultiMatchQuery', options, ['boosts', 'operator']);
    Object.assign(this, multiMatchClause({ ...options, query, columns }));
  }
}

/**
 * Rows that match all parts with `Occur.Must` and no part with `Occur.MustNot`. Parts with `Occur.Should` raise the
 * score of the rows that match them.
 */
export class BooleanQuery extends TypedQuery implements BooleanClause {
  declare readonly type: 'boolean';
  declare readonly queries: readonly (readonly [Occur, FullTextQuery])[];

  /** @throws CatalogError InvalidInput (13) for an invalid part, or only parts that must not match */
  constructor(queries: readonly (readonly [Occur, FullTextQuery])[]) {
    super();
    Object.assign(this, booleanClause({ queries }, 1));
  }
}

/** Maximum number of levels, and of parts, of a query. The engine reads nested queries recursively. */
const maxLevels = 16;
const maxParts = 200;

/**
 * Checks how deep a part of a query is nested. Callers check this before they read the parts of that part.
 * @throws CatalogError InvalidInput (13)
 */
export function checkLevel(level: number): void {
  if (level > maxLevels) refuse(`The full-text query has more than ${maxLevels} levels.`, 'Nest fewer queries.');
}

/** Whether a value is meant as a query and not as words. */
export const isFullTextQuery = (value: unknown): value is FullTextQuery =>
  isRecord(value) && Object.values<unknown>(FullTextQueryType).includes(value['type']);

/**
 * Returns a query as plain data. Everything is checked again, because a cell may pass any object.
 * @throws CatalogError InvalidInput (13)
 */
export function checkFullTextQuery(query: unknown): FullTextQuery {
  const clause = checkClause(query, 1);
  const parts = countParts(clause);
  if (parts > maxParts)
    refuse(`The full-text query has ${parts} parts, more than the maximum of ${maxParts}.`, 'Search for less.');
  return clause;
}

/**
 * Returns all words of a query. The words of a search in several columns are repeated for each column, because the
 * engine looks for them in each.
 */
export function wordsOfQuery(clause: FullTextQuery): string {
  if (clause.type === 'multi_match') return clause.columns.map(() => clause.query).join(' ');
  return 'query' in clause ? clause.query : partsOf(clause).map(wordsOfQuery).join(' ');
}

const countParts = (clause: FullTextQuery): number =>
  partsOf(clause).reduce((total, part) => total + countParts(part), 1);

function partsOf(clause: FullTextQuery): FullTextQuery[] {
  if (clause.type === 'boost') return [clause.positive, clause.negative];
  return clause.type === 'boolean' ? clause.queries.map(([, query]) => query) : [];
}

function checkClause(value: unknown, level: number): FullTextQuery {
  if (!isFullTextQuery(value)) {
    const hint = 'Pass a MatchQuery, PhraseQuery, BoostQuery, MultiMatchQuery or BooleanQuery.';
    return refuse(`Expected a full-text query, got ${describeType(value)}.`, hint);
  }
  checkLevel(level);
  if (value.type === 'match') return matchClause(value);
  if (value.type === 'match_phrase') return phraseClause(value);
  if (value.type === 'multi_match') return multiMatchClause(value);
  return value.type === 'boost' ? boostClause(value, level) : booleanClause(value, level);
}

// The arguments of these functions may come from a cell or a request, so they can have any type.
type Unchecked<T> = { readonly [K in keyof Omit<T, 'type'>]?: unknown };

function matchClause(value: Unchecked<MatchClause>): MatchClause {
  const fuzziness = value.fuzziness === undefined ? 0 : value.fuzziness;
  return {
    type: 'match',
    query: checkWords('MatchQuery', value.query),
    column: checkText('MatchQuery', 'column', value.column),
    boost: checkFactor('boost', value.boost ?? 1),
    fuzziness: fuzziness === null ? null : checkWhole('fuzziness', fuzziness, 0, 3),
    maxExpansions: checkWhole('maxExpansions', value.maxExpansions ?? 50, 1, 1000),
    operator: checkOperator(value.operator),
    prefixLength: checkWhole('prefixLength', value.prefixLength ?? 0, 0, 1000),
  };
}

const phraseClause = (value: Unchecked<PhraseClause>): PhraseClause => ({
  type: 'match_phrase',
  query: checkWords('PhraseQuery', value.query),
  column: checkText('PhraseQuery', 'column', value.column),
  slop: checkWhole('slop', value.slop ?? 0, 0, 1000),
});

const boostClause = (value: Unchecked<BoostClause>, level: number): BoostClause => ({
  type: 'boost',
  positive: checkClause(value.positive, level + 1),
  negative: checkClause(value.negative, level + 1),
  negativeBoost: checkFactor('negativeBoost', value.negativeBoost ?? 0.5),
});

function multiMatchClause(value: Unchecked<MultiMatchClause>): MultiMatchClause {
  const columns = checkTexts('MultiMatchQuery', 'column', value.columns);
  const boosts: unknown = value.boosts ?? columns.map(() => 1);
  if (!Array.isArray(boosts) || boosts.length !== columns.length)
    refuse('MultiMatchQuery needs one boost for each column.', `Pass a list of ${columns.length} numbers.`);
  return {
    type: 'multi_match',
    query: checkWords('MultiMatchQuery', value.query),
    columns,
    boosts: boosts.map((boost: unknown) => checkFactor('boost', boost)),
    operator: checkOperator(value.operator),
  };
}

function booleanClause(value: Unchecked<BooleanClause>, level: number): BooleanClause {
  const pairs: unknown[] = Array.isArray(value.queries) ? value.queries : [];
  const queries = pairs.map((pair): [Occur, FullTextQuery] => {
    const [occur, query]: unknown[] = Array.isArray(pair) ? pair : [];
    const known = Object.values(Occur).find((one) => one === occur);
    if (known !== undefined) return [known, checkClause(query, level + 1)];
    return refuse(
      'BooleanQuery got a part without an Occur.',
      'Write for instance [Occur.Must, new MatchQuery("mug", "name")].',
    );
  });
  if (queries.some(([occur]) => occur !== Occur.MustNot)) return { type: 'boolean', queries };
  return refuse('BooleanQuery has nothing that a row can match.', 'Add a part with Occur.Must or Occur.Should.');
}

function checkWords(call: string, words: unknown): string {
  if (typeof words === 'string' && words.trim() !== '') return words;
  const found = typeof words === 'string' ? 'empty' : `${describeType(words)}, not a string`;
  return refuse(`${call}: the search text is ${found}.`, 'Write for instance "red mug".');
}

function checkFactor(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  return refuse(`${show(value)} is not a valid ${name} of a full-text query.`, 'Pass a number from 0.');
}

function checkWhole(name: string, value: unknown, from: number, to: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to) return value;
  const hint = `Pass a whole number from ${from} to ${to}.`;
  return refuse(`${show(value)} is not a valid ${name} of a full-text query.`, hint);
}

function checkOperator(value: unknown): Operator {
  if (value === undefined) return Operator.Or;
  const known = Object.values(Operator).find((one) => one === value);
  return known ?? refuse(`${show(value)} is not an operator.`, 'Pass Operator.And or Operator.Or.');
}

const show = (value: unknown): string =>
  typeof value === 'number' || typeof value === 'string' ? JSON.stringify(value) : describeType(value);

function refuse(what: string, hint: string): never {
  throw new CatalogError('InvalidInput', what, hint);
}

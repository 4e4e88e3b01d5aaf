import { fieldPathText } from '#shared/fieldPath.ts';
import { splitAlternatives, splitTerms, withoutParentheses } from '#shared/sqlTerms.ts';
import { plainName, quotedText, type Token, tokensOf } from '#shared/sqlTokens.ts';
import {
  canFilter,
  conditionName,
  type FilterKind,
  filterType,
  type FilterType,
  type FilterColumn,
} from './columnType.ts';
import { isDay, readLiteral, writeLiteral } from './literals.ts';

// The conditions that the filter of a column can have, as SQL and back. A condition is read only if writing it again
// gives the same SQL, so that nothing changes its meaning.

export type Operator =
  | 'equals'
  | 'differs'
  | 'atLeast'
  | 'more'
  | 'atMost'
  | 'less'
  | 'between'
  | 'contains'
  | 'lacks'
  | 'startsWith'
  | 'endsWith'
  | 'isTrue'
  | 'isFalse'
  | 'isNaN'
  | 'isNumber'
  | 'hasNaN'
  | 'isZero'
  | 'isNull'
  | 'isSet';

/** A condition with values as the user types them. */
export type Comparison = {
  readonly kind: 'comparison';
  readonly operator: Operator;
  readonly values: readonly string[];
  /** Whether upper and lower case are the same; only for text. */
  readonly ignoresCase: boolean;
};

/** A condition that a column has one of several values, or none of them. */
export type ValueChoice = {
  readonly kind: 'values';
  readonly isExcluded: boolean;
  /** The values as SQL. */
  readonly literals: readonly string[];
  readonly hasNull: boolean;
  readonly hasNaN: boolean;
};

export type Condition = Comparison | ValueChoice;

/** The conditions of a column, of which a row meets all or any. */
export type ColumnFilter = { readonly match: 'all' | 'any'; readonly conditions: readonly Condition[] };

export type WrittenFilter = { readonly sql: string } | { readonly problem: string; readonly condition: number };

const ordered: readonly Operator[] = ['atLeast', 'atMost', 'between', 'more', 'less', 'equals', 'differs'];
const nulls: readonly Operator[] = ['isNull', 'isSet'];

/** The operators that each kind of column has, the most common one first. */
export const operatorsOf: Readonly<Record<FilterKind, readonly Operator[]>> = {
  integer: [...ordered, ...nulls],
  float: [...ordered, 'isNaN', 'isNumber', ...nulls],
  decimal: [...ordered, ...nulls],
  date: [...ordered, ...nulls],
  time: [...ordered, ...nulls],
  timestamp: [...ordered, ...nulls],
  boolean: ['isTrue', 'isFalse', ...nulls],
  text: ['contains', 'lacks', 'startsWith', 'endsWith', 'equals', 'differs', ...nulls],
  vector: ['isNull', 'isSet', 'hasNaN', 'isZero'],
  other: nulls,
};

/** The number of values that an operator compares with. */
export const valueCount = (operator: Operator): number =>
  operator === 'between'
    ? 2
    : (operatorsOf.text.includes(operator) || ordered.includes(operator)) && !nulls.includes(operator)
      ? 1
      : 0;

/** Whether the values of a column can be counted: it has values that SQL can compare. */
export const hasValues = ({ kind }: FilterType): boolean => kind !== 'vector' && kind !== 'other';

const signs: Partial<Record<Operator, string>> = {
  equals: '=',
  differs: '<>',
  atLeast: '>=',
  more: '>',
  atMost: '<=',
  less: '<',
};

/** Writes the filter of a column as one term of SQL. */
export function writeFilter(column: FilterColumn, { match, conditions }: ColumnFilter): WrittenFilter {
  const written: string[] = [];
  for (const [index, condition] of conditions.entries()) {
    const result = writeCondition(column, condition);
    if ('problem' in result) return { ...result, condition: index };
    written.push(result.sql);
  }
  if (written.length === 1) return { sql: written[0]! };
  return { sql: `(${written.join(match === 'all' ? ' AND ' : ' OR ')})` };
}

type Written = { readonly sql: string } | { readonly problem: string };

function writeCondition(column: FilterColumn, condition: Condition): Written {
  const type = filterType(column);
  const name = conditionName(column.name);
  // The engine converts no literal to a float of 16 bits, but such a float to a longer one, exactly.
  const compared = type.isHalf ? `CAST(${name} AS DOUBLE)` : name;
  if (condition.kind === 'values') return { sql: writeChoice(name, compared, condition) };
  const { operator, values, ignoresCase } = condition;
  const fixed = fixedConditions[operator]?.(name);
  if (fixed !== undefined) return { sql: fixed };
  if (type.kind === 'text') return { sql: writeText(name, operator, values[0] ?? '', ignoresCase) };
  return writeOrdered(type, name, compared, operator, values);
}

const fixedConditions: Partial<Record<Operator, (name: string) => string>> = {
  isTrue: (name) => `${name} = true`,
  isFalse: (name) => `${name} = false`,
  isNull: (name) => `${name} IS NULL`,
  isSet: (name) => `${name} IS NOT NULL`,
  isNaN: (name) => `isnan(${name})`,
  isNumber: (name) => `NOT isnan(${name})`,
  // NaN is larger than every number.
  hasNaN: (name) => `isnan(array_max(${name}))`,
  isZero: (name) => `(array_min(${name}) = 0 AND array_max(${name}) = 0)`,
};

function writeOrdered(
  type: FilterType,
  name: string,
  compared: string,
  operator: Operator,
  values: readonly string[],
): Written {
  const [typed = '', typedEnd = ''] = values;
  // A day stands for all of its times.
  const isWholeDay = type.kind === 'timestamp' && isDay(typed.trim());
  if (operator === 'equals' && isWholeDay) return writeOrdered(type, name, compared, 'between', [typed, typed]);
  const first = writeLiteral(type, typed, operator === 'more' || operator === 'atMost' ? 'end' : 'start');
  if ('problem' in first) return first;
  // NaN is larger than every number, and a NaN with a minus less, so ranges of floats exclude it.
  const ranged = (sql: string): Written => ({ sql: type.kind === 'float' ? `(${sql} AND NOT isnan(${name}))` : sql });
  if (operator === 'between') {
    const second = writeLiteral(type, typedEnd, 'end');
    return 'problem' in second ? second : ranged(`${compared} BETWEEN ${first.sql} AND ${second.sql}`);
  }
  const sql = `${compared} ${signs[operator]} ${first.sql}`;
  if (operator === 'equals') return { sql };
  return operator === 'differs' ? { sql: `(${sql} OR ${name} IS NULL)` } : ranged(sql);
}

const functions: Partial<Record<Operator, string>> = { startsWith: 'starts_with', endsWith: 'ends_with' };

function writeText(name: string, operator: Operator, value: string, ignoresCase: boolean): string {
  // The lower case of other letters is that of the engine.
  // oxlint-disable-next-line no-control-regex -- the range is that of ASCII
  const isAscii = /^[\u0000-\u007f]*$/.test(value);
  const text = !ignoresCase
    ? quotedText(value)
    : isAscii
      ? quotedText(value.toLowerCase())
      : `lower(${quotedText(value)})`;
  const left = ignoresCase ? `lower(${name})` : name;
  const isOther = operator === 'lacks' || operator === 'differs';
  const condition =
    operator === 'equals' || operator === 'differs'
      ? `${left} ${signs[operator]} ${text}`
      : `${operator === 'lacks' ? 'NOT ' : ''}${functions[operator] ?? 'contains'}(${left}, ${text})`;
  return isOther ? `(${condition} OR ${name} IS NULL)` : condition;
}

function writeChoice(name: string, compared: string, choice: ValueChoice): string {
  const { isExcluded, literals, hasNull, hasNaN } = choice;
  const list = `(${literals.join(', ')})`;
  if (!isExcluded) {
    const parts = [
      ...(literals.length > 0 ? [`${compared} IN ${list}`] : []),
      ...(hasNaN ? [`isnan(${name})`] : []),
      ...(hasNull ? [`${name} IS NULL`] : []),
    ];
    return parts.length > 1 ? `(${parts.join(' OR ')})` : (parts[0] ?? 'false');
  }
  const parts = [
    ...(literals.length > 0 ? [`${compared} NOT IN ${list}`] : []),
    ...(hasNaN ? [`NOT isnan(${name})`] : []),
  ];
  // These conditions are not true for null.
  if (hasNull) return parts.length > 1 ? `(${parts.join(' AND ')})` : (parts[0] ?? `${name} IS NOT NULL`);
  return parts.length > 0 ? `(${parts.join(' AND ')} OR ${name} IS NULL)` : 'true';
}

// Reading

/** A term of a filter that the filter of a column can show. */
export type ReadTerm = { readonly column: number; readonly filter: ColumnFilter };

/** Reads a term of a filter; undefined if no filter of a column has this SQL. */
export function readTerm(term: string, columns: readonly FilterColumn[]): ReadTerm | undefined {
  const index = columnIn(term, columns);
  const column = index === undefined ? undefined : columns[index];
  if (index === undefined || !column || !canFilter(column)) return undefined;
  const sql = withPlainName(term, column.name);
  const filter = candidates(sql, column).find((each) => {
    const written = writeFilter(column, each);
    return 'sql' in written && written.sql === sql;
  });
  return filter && { column: index, filter };
}

/** Writes a name without its backticks, as the conditions here have it. */
function withPlainName(sql: string, name: string): string {
  if (conditionName(name) !== name) return sql;
  return tokensOf(sql)
    .toReversed()
    .filter(({ text }) => text === `\`${name}\``)
    .reduce((text, { start, end }) => text.slice(0, start) + name + text.slice(end), sql);
}

/** Returns the column or nested field that is named first in a condition. */
function columnIn(term: string, columns: readonly FilterColumn[]): number | undefined {
  const tokens = tokensOf(term);
  for (const [at, token] of tokens.entries()) {
    const name = tokens[at + 1]?.text === '(' ? undefined : plainName(token);
    const path = name === undefined ? [] : [name, ...namesAfter(tokens, at + 1)];
    const text = path.length > 1 ? fieldPathText(path) : name;
    // Only a quoted name may be one of the words of SQL.
    const found = columns.findIndex(
      (column) =>
        column.name === text &&
        (path.length > 1
          ? column.parent !== undefined
          : column.parent === undefined && (token.kind === 'quoted' || conditionName(text) === text)),
    );
    if (found >= 0) return found;
  }
  return undefined;
}

/** Returns the names that continue a path: each after a dot. */
function namesAfter(tokens: readonly Token[], at: number): string[] {
  const name = tokens[at]?.text === '.' && tokens[at + 1] ? plainName(tokens[at + 1]!) : undefined;
  return name === undefined ? [] : [name, ...namesAfter(tokens, at + 2)];
}

/** Returns the filters that a term may be. */
function candidates(term: string, column: FilterColumn): ColumnFilter[] {
  const inner = withoutParentheses(term);
  const parts: readonly (readonly ['all' | 'any', readonly string[]])[] = [
    ['all', [term]],
    ['any', splitAlternatives(inner)?.map(({ text }) => text) ?? []],
    ['all', splitTerms(inner).map(({ text }) => text)],
  ];
  return parts.flatMap(([match, texts]) => {
    const conditions = texts.flatMap((text) => readCondition(text, column) ?? []);
    const isWhole = texts.length > 0 && conditions.length === texts.length;
    // A choice of values stands alone.
    const fits = conditions.length === 1 || conditions.every(({ kind }) => kind === 'comparison');
    return isWhole && fits ? [{ match, conditions }] : [];
  });
}

/** Returns what a condition may be. The caller compares its SQL. */
function readCondition(sql: string, column: FilterColumn): Condition | undefined {
  const type = filterType(column);
  const guesses = [...guessComparisons(sql, type), ...guessChoices(sql, type)];
  return guesses.find((guess) => {
    const written = writeCondition(column, guess);
    return operatorsFit(guess, type) && 'sql' in written && written.sql === sql;
  });
}

const operatorsFit = (condition: Condition, { kind }: FilterType): boolean =>
  condition.kind === 'values' || operatorsOf[kind].includes(condition.operator);

const comparison = (operator: Operator, values: readonly string[], ignoresCase = false): Comparison => ({
  kind: 'comparison',
  operator,
  values,
  ignoresCase,
});

function guessComparisons(sql: string, type: FilterType): Comparison[] {
  if (type.kind === 'text') {
    const quoted = /'((?:[^']|'')*)'/.exec(sql)?.[1]?.replaceAll("''", "'");
    return operatorsOf.text.flatMap((operator) =>
      valueCount(operator) === 0
        ? [comparison(operator, [])]
        : quoted === undefined
          ? []
          : [comparison(operator, [quoted]), comparison(operator, [quoted], true)],
    );
  }
  const fixed = operatorsOf[type.kind].filter((each) => valueCount(each) === 0).map((each) => comparison(each, []));
  const inner = withoutParentheses(sql);
  const between = / BETWEEN (.+?) AND (.+?)(?: AND NOT isnan\(.*\))?$/.exec(inner);
  const typed = (literal: string | undefined): string[] => {
    const read = literal === undefined ? undefined : readLiteral(type, literal);
    return read === undefined ? [] : [read];
  };
  const ends = [...typed(between?.[1]), ...typed(between?.[2])];
  const single = typed(/ (?:=|<>|>=|>|<=|<) (.+?)(?: AND NOT isnan\(.*\)| OR \S+ IS NULL)?$/.exec(inner)?.[1]);
  return [
    ...fixed,
    ...(ends.length === 2 ? [comparison('between', ends)] : []),
    ...(single.length === 1
      ? ordered.filter((each) => each !== 'between').map((each) => comparison(each, single))
      : []),
  ];
}

function guessChoices(sql: string, type: FilterType): ValueChoice[] {
  if (!hasValues(type)) return [];
  const literals = readList(sql);
  const flags = [false, true];
  return flags.flatMap((isExcluded) =>
    flags.flatMap((hasNull) =>
      flags.flatMap((hasNaN) =>
        literals.length > 0 || hasNull || hasNaN ? [{ kind: 'values', isExcluded, literals, hasNull, hasNaN }] : [],
      ),
    ),
  );
}

/** Returns the items of the first list in parentheses after IN. */
function readList(sql: string): string[] {
  const tokens = tokensOf(sql);
  const opening = tokens.findIndex(({ kind, text }) => kind === 'word' && text === 'IN') + 1;
  if (opening === 0 || tokens[opening]?.text !== '(') return [];
  const items: string[] = [];
  let depth = 0;
  let start = tokens[opening].end;
  for (const { kind, text, start: at, end } of tokens.slice(opening)) {
    if (kind !== 'sign') continue;
    if ('(['.includes(text)) depth++;
    if (')]'.includes(text)) depth--;
    if (depth === 0 || (depth === 1 && text === ',')) {
      items.push(sql.slice(start, at).trim());
      start = end;
    }
    if (depth === 0) break;
  }
  return items;
}

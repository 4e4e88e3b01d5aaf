import { type Token, tokensOf } from './sqlTokens.ts';

/** A part of a filter, with its range in the SQL in UTF-16 units. */
export type SqlTerm = { readonly text: string; readonly start: number; readonly end: number };

/**
 * Splits a filter at the ANDs of its top level, so that a row passes the filter if it passes every term. A filter that
 * can't be split for certain is one term: with OR at its top level, a CASE, a parenthesis that is not closed, or a
 * semicolon. Comments between terms belong to none.
 */
export function splitTerms(where: string): SqlTerm[] {
  const tokens = tokensOf(where);
  const [first, last] = [tokens[0], tokens.at(-1)];
  if (!first || !last) return [];
  const whole = [termOf(where, tokens)];
  const parts = splitAtWord(tokens, 'and');
  return parts && !hasLooseWord(tokens) ? parts.map((part) => termOf(where, part)) : whole;
}

/** Splits a condition at the ORs of its top level. Returns undefined if it has none, or can't be split for certain. */
export function splitAlternatives(condition: string): SqlTerm[] | undefined {
  const parts = splitAtWord(tokensOf(condition), 'or');
  return parts && parts.length > 1 ? parts.map((part) => termOf(condition, part)) : undefined;
}

/** Joins conditions with AND, so that each keeps its meaning. */
export const joinTerms = (conditions: readonly string[]): string =>
  conditions.length === 1 ? conditions[0]! : conditions.map(tightened).join(' AND ');

/** Puts a condition in parentheses if a part of it binds weaker than AND, or if it may not be complete. */
function tightened(condition: string): string {
  const tokens = tokensOf(condition);
  if (splitAtWord(tokens, 'and') && !hasLooseWord(tokens) && !endsInComment(condition, tokens)) return condition;
  // A comment at the end must not hide the parenthesis.
  return endsInComment(condition, tokens) ? `(${condition}\n)` : `(${condition})`;
}

const endsInComment = (sql: string, tokens: readonly Token[]): boolean =>
  sql.slice(tokens.at(-1)?.end ?? 0).includes('--');

/** Returns the condition inside parentheses that enclose all of it; otherwise the condition. */
export function withoutParentheses(condition: string): string {
  const tokens = tokensOf(condition);
  const [first, last] = [tokens[0], tokens.at(-1)];
  if (!first || !last || first.text !== '(' || last.text !== ')') return condition;
  let depth = 0;
  for (const token of tokens) {
    depth += depthChange(token);
    if (depth === 0 && token !== last) return condition;
  }
  return depth === 0 ? condition.slice(first.end, last.start).trim() : condition;
}

const termOf = (sql: string, tokens: readonly Token[]): SqlTerm => {
  const [start, end] = [tokens[0]!.start, tokens.at(-1)!.end];
  return { text: sql.slice(start, end), start, end };
};

const depthChange = ({ kind, text }: Token): number =>
  kind !== 'sign' ? 0 : '([{'.includes(text) ? 1 : ')]}'.includes(text) ? -1 : 0;

/** Whether a word of SQL stands at a position; a word after a dot is the name of a nested column. */
const isKeyword = (tokens: readonly Token[], at: number, word: string): boolean => {
  const token = tokens[at]!;
  return token.kind === 'word' && token.text.toLowerCase() === word && tokens[at - 1]?.text !== '.';
};

/** Whether a condition has OR at its top level. */
const hasLooseWord = (tokens: readonly Token[]): boolean => (splitAtWord(tokens, 'or')?.length ?? 2) > 1;

/**
 * Splits tokens at a word outside of parentheses; the AND of a BETWEEN is a part of it. Returns undefined if a part is
 * empty, or if the tokens are not surely one condition.
 */
function splitAtWord(tokens: readonly Token[], word: 'and' | 'or'): Token[][] | undefined {
  const parts: Token[][] = [[]];
  let [depth, betweens] = [0, 0];
  for (const [at, token] of tokens.entries()) {
    depth += depthChange(token);
    if (depth < 0 || isUncertain(tokens, at)) return undefined;
    const isTop = depth === 0;
    if (isTop && isKeyword(tokens, at, 'between')) betweens++;
    const isAnd = isTop && isKeyword(tokens, at, 'and');
    if (isAnd && betweens > 0) betweens--;
    else if (isTop && isKeyword(tokens, at, word)) {
      parts.push([]);
      continue;
    }
    parts.at(-1)!.push(token);
  }
  return depth === 0 && betweens === 0 && parts.every((part) => part.length > 0) ? parts : undefined;
}

/** Whether a token makes it uncertain where a condition ends: the engine ignores what follows a semicolon. */
function isUncertain(tokens: readonly Token[], at: number): boolean {
  const { kind, text } = tokens[at]!;
  // A quote that is not closed is a sign.
  if (kind === 'sign') return ';\'"`'.includes(text) || (text === '/' && tokens[at + 1]?.text === '*');
  return isKeyword(tokens, at, 'case');
}

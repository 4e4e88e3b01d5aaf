import type { Schema } from '#arrow';
import { tokensOf, type Token } from './sqlText.ts';
import type { SqliteValue } from './sqlValues.ts';

/** A query with one SELECT from one table, parsed as far as needed to read less of the table. */
export type SimpleSelect = {
  tokens: readonly Token[];
  /** Possible qualifiers of columns: the alias of the table or its name, in lower case. */
  names: readonly string[];
  /** Index of the first token of the WHERE condition; undefined without WHERE. */
  where: number | undefined;
  /** Whether the result rows are rows of the table, one by one in their order. */
  isPlain: boolean;
};

/** Words of queries that contain another query or depend on which rows were read. */
const others: ReadonlySet<string> = new Set(['with', 'join', 'union', 'intersect', 'except', 'values', 'indexed']);
const rowIds: ReadonlySet<string> = new Set(['rowid', 'oid', '_rowid_']);
const sorting: ReadonlySet<string> = new Set(['group', 'order', 'having', 'window', 'over', 'distinct']);

/** Parses a query; returns undefined if it is more than one SELECT from one table. */
export function parseSimpleSelect(sql: string, fields: readonly Schema['fields'][number][]): SimpleSelect | undefined {
  const tokens = tokensOf(sql).filter(({ text }) => text !== ';');
  const words = tokens.map(({ kind, text }) => (kind === 'word' ? text.toLowerCase() : ''));
  const names = new Set(fields.map(({ name }) => name.toLowerCase()));
  const isOne = (word: string) => words.filter((each) => each === word).length === 1;
  if (words[0] !== 'select' || !isOne('select') || !isOne('from')) return undefined;
  if (words.some((word) => others.has(word))) return undefined;
  const named = tokens.map((token) => plainName(token)?.toLowerCase() ?? '');
  if (named.some((name) => rowIds.has(name) && !names.has(name))) return undefined;
  const from = words.indexOf('from');
  const table = tableAt(tokens, from + 1);
  if (!table) return undefined;
  const hasWhere = words[table.end] === 'where';
  const list = tokens.slice(1, from);
  const isPlain = !words.some((word) => sorting.has(word)) && !list.some(({ text }) => text === '(');
  return { tokens, names: table.names, where: hasWhere ? table.end + 1 : undefined, isPlain };
}

/** Keywords that may follow the name of a table, so a word of this list is not an alias. */
const clauses: ReadonlySet<string> = new Set(['where', 'group', 'order', 'limit', 'window', 'having']);

/** Parses `products`, `shop.products p` or `products as p`, if the next clause follows directly. */
function tableAt(tokens: readonly Token[], start: number): { names: string[]; end: number } | undefined {
  const nameAt = (at: number) => {
    const token = tokens[at];
    const isClause = token?.kind === 'word' && clauses.has(token.text.toLowerCase());
    return token && !isClause ? plainName(token)?.toLowerCase() : undefined;
  };
  const textAt = (at: number) => tokens[at]?.text.toLowerCase();
  const first = nameAt(start);
  if (first === undefined) return undefined;
  const second = textAt(start + 1) === '.' ? nameAt(start + 2) : undefined;
  let end = start + (second === undefined ? 1 : 3);
  if (textAt(end) === 'as') end++;
  const alias = nameAt(end);
  if (alias !== undefined) end++;
  const isEnd = end >= tokens.length || clauses.has(textAt(end) ?? '');
  if (!isEnd) return undefined;
  if (alias !== undefined) return { names: [alias], end };
  return { names: second === undefined ? [first] : [second, `${first}.${second}`], end };
}

/** Returns the name that a token denotes; undefined for strings, numbers and signs. */
export function plainName({ kind, text }: Token): string | undefined {
  if (kind === 'word') return text;
  const [quote = ''] = text;
  if (kind !== 'quoted' || quote === "'") return undefined;
  return text.slice(1, -1).replaceAll(quote + quote, quote);
}

/**
 * Returns the maximum number of result rows of a plain query, and the number of first rows of the table that are enough
 * if the query has no conditions: 5 and 15 for `limit 5 offset 10`. Undefined if the query has no such limit.
 */
export function wantedRows(
  { tokens, isPlain }: SimpleSelect,
  bound: readonly SqliteValue[],
): { rows: number; reach: number } | undefined {
  const at = tokens.findLastIndex(({ kind, text }) => kind === 'word' && /^limit$/i.test(text));
  if (!isPlain || at < 0) return undefined;
  const numberAt = (index: number): number | undefined => {
    const token = tokens[index];
    if (token?.kind === 'number') return Number(token.text);
    const before = tokens.slice(0, index).filter(({ text }) => text === '?').length;
    const value = token?.text === '?' ? bound[before] : undefined;
    return typeof value === 'bigint' ? Number(value) : undefined;
  };
  const rest = tokens.length - at - 1;
  const rows = numberAt(at + 1);
  const skipped = rest === 1 ? 0 : rest === 3 && /^offset$/i.test(tokens[at + 2]?.text ?? '') ? numberAt(at + 3) : -1;
  if (rows === undefined || skipped === undefined) return undefined;
  return isCount(rows) && isCount(skipped) ? { rows, reach: rows + skipped } : undefined;
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

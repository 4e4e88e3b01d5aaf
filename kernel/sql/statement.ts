import { plainName, tokensOf, type Token } from '#shared/sqlTokens.ts';
import { CatalogError } from '#shared/errors.ts';
import type { TableName } from './messages.ts';
import { hintsFor, type SqlCaller } from './sqlHints.ts';

/** Returns the name of a table as it is written in messages: `company.shop.orders`. */
export const writtenName = ({ catalog, schema, name }: TableName): string =>
  [catalog, schema, name].filter((part) => part !== '').join('.');

/** What a statement does with the rows of its query. */
export type Write =
  | { kind: 'create'; name: TableName; mode: 'create' | 'exist_ok' | 'overwrite' }
  | { kind: 'insert'; name: TableName; columns: readonly string[] | undefined; isByName: boolean };

/** A statement. Its query has the positions of the text, because what is before the query is blank in it. */
export type Statement = { query: string; write: Write | undefined };

/** Words that begin a query. */
const readers: ReadonlySet<string> = new Set('select with values from describe summarize explain'.split(' '));

const defaultHint =
  'Start with select, with, values or from; or write create table … as select …, insert into … select ….';

function statementHint(word: string, caller: SqlCaller | undefined): string {
  const { statements } = hintsFor(caller);
  return (Object.hasOwn(statements, word) ? statements[word] : undefined) ?? defaultHint;
}

const planWords = /^(\s*explain(?:\s+analyze)?)\b/i;

/** Returns the query that an EXPLAIN is about, at its position; other queries unchanged. */
export function explainedQuery(query: string): string {
  const [, head = ''] = planWords.exec(query) ?? [];
  return ' '.repeat(head.length) + query.slice(head.length);
}

/** Whether a statement returns the plan of a query. */
export const isPlan = (query: string): boolean => planWords.test(query);

/** @throws CatalogError InvalidInput (13) if the text is not exactly one query, CREATE TABLE AS or INSERT */
export function readStatement(sql: string, caller?: SqlCaller): Statement {
  const tokens = tokensOf(sql);
  const [first] = tokens;
  if (!first)
    throw new CatalogError('InvalidInput', 'The query is empty.', 'Write for instance select * from products limit 5.');
  const end = tokens.findIndex(({ kind, text }) => kind === 'sign' && text === ';');
  if (end >= 0 && end < tokens.length - 1)
    throw new CatalogError('InvalidInput', 'There is more than one query.', hintsFor(caller).oneQuery);
  const word = first.text.toLowerCase();
  if (readers.has(word) || first.text === '(') return { query: sql, write: undefined };
  const reader = new HeadReader(tokens);
  const write = word === 'create' ? reader.create() : word === 'insert' ? reader.insert() : undefined;
  if (write) return { query: ' '.repeat(reader.end) + sql.slice(reader.end), write };
  throw new CatalogError(
    'InvalidInput',
    `Expected a query, got "${first.text}".`,
    word === 'insert' ? 'Write insert into shop.orders select ….' : statementHint(word, caller),
  );
}

/** Reads what is before the query of a statement that writes. */
class HeadReader {
  readonly #tokens: readonly Token[];
  #at = 1;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** The position after the tokens that were read. */
  get end(): number {
    return this.#tokens[this.#at - 1]?.end ?? 0;
  }

  /** Reads `create [or replace] table [if not exists] name as`. */
  create(): Write | undefined {
    const isReplaced = this.#take('or', 'replace');
    if (!this.#take('table')) return undefined;
    const isKept = this.#take('if', 'not', 'exists');
    const name = this.#name();
    if (!name || !this.#take('as')) return undefined;
    return { kind: 'create', name, mode: isReplaced ? 'overwrite' : isKept ? 'exist_ok' : 'create' };
  }

  /** Reads `insert into name [by name] [(columns)]`. */
  insert(): Write | undefined {
    const name = this.#take('into') ? this.#name() : undefined;
    if (!name) return undefined;
    const isByName = this.#take('by', 'name');
    if (this.#take('by', 'position') || this.#tokens[this.#at]?.text !== '(')
      return { kind: 'insert', name, columns: undefined, isByName };
    const start = this.#at;
    const columns: string[] = [];
    do {
      this.#at++;
      const column = this.#tokens[this.#at] && plainName(this.#tokens[this.#at]!);
      this.#at++;
      if (column === undefined) return undefined;
      columns.push(column);
    } while (this.#tokens[this.#at]?.text === ',');
    if (this.#take(')')) return { kind: 'insert', name, columns, isByName };
    // The parentheses are around the query.
    this.#at = start;
    return { kind: 'insert', name, columns: undefined, isByName };
  }

  #take(...words: readonly string[]): boolean {
    const isNext = words.every((word, index) => {
      const token = this.#tokens[this.#at + index];
      return token !== undefined && token.kind !== 'quoted' && token.text.toLowerCase() === word;
    });
    if (isNext) this.#at += words.length;
    return isNext;
  }

  #name(): TableName | undefined {
    const parts: string[] = [];
    do {
      const token = this.#tokens[this.#at];
      const part = token && plainName(token);
      if (part === undefined) return undefined;
      parts.push(part);
      this.#at++;
    } while (this.#take('.'));
    if (parts.length > 3) return undefined;
    const [name = '', schema = '', catalog = ''] = parts.toReversed();
    return { catalog, schema, name };
  }
}

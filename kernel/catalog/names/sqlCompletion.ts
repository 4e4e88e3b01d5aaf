import { plainName, SqlCursor, type Token, tokensOf } from '#shared/sqlTokens.ts';
import type { NamedTable, Naming } from '#shared/catalogConfig.ts';
import type { LanguageCompletion } from '#shared/protocol/languageMessages.ts';
import { reservedWords, sqlFunctions, sqlKeywords, startKeywords, writeSqlName } from './sqlNames.ts';
import { columnsOf, findQuery, parsePosition, sourcesNamed, type SqlScope, visibleSources } from './sqlScopes.ts';

/** A word that fits without a look into the catalog. */
export type SqlWord = {
  text: string;
  kind: 'keyword' | 'function' | 'alias' | 'table' | 'column';
  /** The arguments of a function. */
  signature?: string;
};

/** What fits at a position in SQL. */
export type SqlCompletion = {
  /** The names of the catalog that fit; undefined if none can. */
  naming: Naming | undefined;
  words: SqlWord[];
  /** The range that one of `words` replaces. */
  start: number;
  end: number;
};

/** Sort keys of the words of SQL, after the names of the catalog. */
const wordOrder = { column: '5', table: '5', alias: '6', function: '7', keyword: '8' } as const;

/** Returns the words of a completion as items. */
export const completionItems = ({ words, start, end }: SqlCompletion): LanguageCompletion[] =>
  words.map(({ text, kind, signature }) => ({
    name: text,
    kind,
    sortText: `${wordOrder[kind]}${text}`,
    replace: { start, end },
    ...(signature !== undefined && { signature }),
  }));

/** Returns what completes SQL at an offset. */
export function completeSql(sql: string, at: number): SqlCompletion {
  const word = wordAt(sql, at);
  const nothing = { naming: undefined, words: [], start: word?.start ?? at, end: word?.end ?? at };
  if (!word) return nothing;
  const { holders, chainStart, start, end, quote } = word;
  // The word is blanked, because it is not finished.
  const rest = sql.slice(0, chainStart) + ' '.repeat(end - chainStart) + sql.slice(end);
  const { scope, place } = parsePosition(rest, chainStart);
  const name = (what: Naming['what'] | undefined): Naming | undefined => what && { start, end, quote: '', what };
  const isFree = holders.length === 0 && quote === '';
  const typed = sql.slice(start, at);
  const isUpper = writesUpper(rest, typed);
  const keywords = (list: readonly string[]) => (isFree ? keywordsOf(list, isUpper) : []);
  // Enter accepts a suggestion, so nothing is suggested for a word that may be finished.
  if (isFree && isWholeKeyword(typed)) return nothing;
  const previous = tokensOf(rest.slice(0, chainStart)).at(-1);
  const mayBeAlias = isFree && typed !== '' && previous !== undefined && mayPrecedeAlias(previous);
  if (mayBeAlias && (place === 'keyword' || place === 'expression'))
    return isLikelyAlias(typed, place === 'keyword' ? previous : undefined)
      ? nothing
      : { ...nothing, words: keywords(sqlKeywords) };
  switch (place) {
    case 'newName':
      return nothing;
    case 'start':
      return { ...nothing, words: keywords(startKeywords) };
    case 'keyword':
      return { ...nothing, words: keywords(sqlKeywords) };
    case 'table': {
      const isWhole = isFree || holders.length > 1;
      const namespacePath = pathOf(holders, quote === '' ? '' : sql.slice(start + 1, at));
      const isPath = holders.length === 0 && quote !== '';
      const what: Naming['what'] = isWhole
        ? { kind: 'sqlAnyTable', catalog: 'db', namespacePath }
        : { kind: 'sqlTable', catalog: 'db', namespacePath, isPath };
      const queries = isFree ? visibleQueries(scope) : [];
      return { ...nothing, naming: { start: isWhole ? chainStart : start, end, quote: '', what }, words: queries };
    }
    case 'expression': {
      if (holders.length > 0) {
        const { tables, columns } = columnsOf(sourcesNamed(scope, holders.join('.').toLowerCase()));
        return { ...nothing, naming: name(columnNaming(tables)), words: columnWords(columns) };
      }
      const sources = visibleSources(scope);
      const { tables, columns } = columnsOf(sources);
      const aliases = sources.flatMap((each) => (each.name === undefined ? [] : [each.name]));
      const words = [
        ...columnWords([...columns, ...scope.aliases]),
        ...[...new Set(aliases)].map((text): SqlWord => ({ text: writeSqlName(text), kind: 'alias' })),
        ...(isFree ? functionsOf(isUpper) : []),
        ...keywords([...sqlKeywords, ...startKeywords]),
      ];
      return { ...nothing, naming: name(columnNaming(tables)), words: dedupe(words) };
    }
  }
}

/** Whether a word is a keyword, and not the start of keywords of several words such as `order by`. */
const isWholeKeyword = (typed: string): boolean =>
  reservedWords.has(typed.toLowerCase()) &&
  !sqlKeywords.some((keyword) => keyword.startsWith(`${typed.toLowerCase()} `));

/** Whether a word after a token is either a keyword or a new name: `orders o`, `count(*) total`, `with few`. */
function mayPrecedeAlias({ kind, text }: Token): boolean {
  const word = text.toLowerCase();
  if (kind === 'word') return !reservedWords.has(word) || ['end', 'with'].includes(word);
  return kind !== 'sign' || text === ')' || text === ']';
}

/** Number of letters from which a word after a table or a value is more likely a keyword than an alias. */
const minKeywordChars = 2;

/** Whether a word is more likely an alias than a keyword: one letter, or the first letters of the table. */
function isLikelyAlias(typed: string, table: Token | undefined): boolean {
  const letters = typed.toLowerCase();
  if (reservedWords.has(letters)) return false;
  const name = table && plainName(table)?.toLowerCase();
  return letters.length < minKeywordChars || name?.startsWith(letters) === true;
}

type TypedWord = {
  /** The names before the dots: `shop` and `eu` in `shop.eu.ord`. */
  holders: string[];
  /** Where the first of these names starts. */
  chainStart: number;
  start: number;
  end: number;
  /** The quote that opens the name, if it is not closed before the cursor. */
  quote: '"' | '`' | '';
};

const wordBefore = /[\w$\u{80}-\u{10ffff}]*$/u;
const wordAfter = /^[\w$\u{80}-\u{10ffff}]*/u;

/** Returns the name at the cursor; undefined in strings, comments and numbers. */
function wordAt(sql: string, at: number): TypedWord | undefined {
  const opened = openQuote(sql.slice(0, at));
  if (!opened) return undefined;
  const { quote } = opened;
  const start = quote === '' ? at - (wordBefore.exec(sql.slice(0, at))?.[0].length ?? 0) : opened.start;
  const tokens = tokensOf(sql.slice(0, start));
  const last = tokens.at(-1);
  const isInNumber = /^\d/.test(sql.slice(start, at)) || (last?.kind === 'number' && last.end === start);
  // Directly after a quoted name, the name is finished.
  if (isInNumber || (last?.kind === 'quoted' && last.end === start)) return undefined;
  const holders: string[] = [];
  let chainStart = start;
  for (let index = tokens.length - 1; tokens[index]?.text === '.'; index -= 2) {
    const holder = tokens[index - 1];
    const name = holder && plainName(holder);
    if (!holder || name === undefined) return undefined;
    holders.unshift(name);
    chainStart = holder.start;
  }
  const after = sql.slice(at);
  // A quoted name extends to its quote, unless a blank or a bracket shows that it is not closed yet.
  const quoted = quote === '' ? undefined : /^[^\s"'`(),;]*["`]/.exec(after)?.[0];
  const length = (quoted?.endsWith(quote) ? quoted : wordAfter.exec(after)?.[0])?.length ?? 0;
  return { holders, chainStart, start, end: at + length, quote };
}

/** Returns the quote of a name that is open at the end of the SQL; undefined if a string or a comment is open. */
function openQuote(before: string): { quote: '"' | '`' | ''; start: number } | undefined {
  const cursor = new SqlCursor(before);
  let previous: { text: string; start: number; end: number } | undefined;
  while (cursor.next()) {
    const { kind, start, end, text } = cursor;
    if (kind === 'space' && end === before.length && text.startsWith('--')) return undefined;
    if (kind === 'sign') {
      if (text === "'" || (text === '/' && before[end] === '*')) return undefined;
      if (text === '"' || text === '`') {
        // A doubled quote is a quote within the name, which starts before it.
        const isDoubled = previous?.end === start && previous.text.startsWith(text);
        return { quote: text, start: isDoubled ? (previous?.start ?? start) : start };
      }
    }
    previous = { text, start, end };
  }
  return { quote: '', start: before.length };
}

/** Returns the namespaces of the names before the dots, or of the quoted path that is typed. */
function pathOf(holders: readonly string[], typed: string): string[] {
  if (holders.length === 0) return typed.split('/').slice(0, -1);
  if (holders.length === 1 && holders[0]?.toLowerCase() === 'main') return [];
  return holders.flatMap((holder) => holder.split('/'));
}

/** Returns the queries of WITH that a FROM may name. */
function visibleQueries(scope: SqlScope): SqlWord[] {
  const words: SqlWord[] = [];
  for (let at: SqlScope | undefined = scope; at; at = at.parent)
    for (const [key, { name }] of at.queries)
      if (findQuery(scope, key) === at.queries.get(key)?.scope) words.push({ text: writeSqlName(name), kind: 'table' });
  return words;
}

const columnNaming = (tables: readonly NamedTable[]): Naming['what'] | undefined =>
  tables.length > 0 ? { kind: 'sqlColumn', catalog: 'db', tables: dedupe(tables) } : undefined;

const columnWords = (columns: readonly string[]): SqlWord[] =>
  [...new Set(columns)].map((name) => ({ text: writeSqlName(name), kind: 'column' }));

const keywordsOf = (list: readonly string[], isUpper: boolean): SqlWord[] =>
  list.map((text) => ({ text: isUpper ? text.toUpperCase() : text, kind: 'keyword' }));

const functionsOf = (isUpper: boolean): SqlWord[] =>
  sqlFunctions.map((signature) => {
    const name = signature.slice(0, signature.indexOf('('));
    return { text: isUpper ? name.toUpperCase() : name, kind: 'function', signature };
  });

const dedupe = <T>(list: readonly T[]): T[] => [...new Map(list.map((each) => [JSON.stringify(each), each])).values()];

/** Whether the user writes keywords in upper case: judged by the typed letters, else by the first word. */
function writesUpper(sql: string, typed: string): boolean {
  const first = /[a-z]/i.test(typed) ? typed : (tokensOf(sql).find(({ kind }) => kind === 'word')?.text ?? '');
  return /^[A-Z_]+$/.test(first);
}

import { CatalogError } from '#shared/errors.ts';
import { hasTextAfterSemicolon, SqlCursor } from '#shared/sqlTokens.ts';

// The engine walks an expression recursively, and an expression that is too deep for the stack of its thread ends the
// process silently. The parser of the engine limits nested parentheses, but not chains. In a chain every operator is
// one level more: `x + x + x`, `x::int::int`, `x IS TRUE IS TRUE`. Conditions that are joined by AND or OR add no
// levels, and neither do the items of a list: the engine accepts tens of thousands of them.

/**
 * Maximum tokens in one chain, including the chains nested in it. About 300 tokens of the worst kind end the process of
 * the engine.
 */
const maxDepth = 150;
/**
 * Maximum words and signs in total. This limits the time, because the engine takes a second for 30,000 conditions.
 * Numbers, strings, commas and minus signs are not counted, because a list of 100,000 keys costs little.
 */
const maxWeight = 20_000;
/** Maximum characters. This is checked before anything else. */
const maxLength = 2 ** 21;

/**
 * After these words an operand follows, so an AND directly after one of them is a name. An AND directly after `::` is
 * the name of a type.
 */
const wantsOperand = new Set(
  (
    'ALL AND ANY AS BETWEEN BY CASE CAST COLLATE CONTAINS DATE DATETIME DISTINCT DIV ELSE ESCAPE EXISTS FROM FOR GLOB ' +
    'ILIKE IN INTERVAL IS LIKE MATCH MEMBER MOD NOT OF OPERATOR OR OVERLAPS PRIOR REGEXP RLIKE SIMILAR SOME THEN TIME ' +
    'TIMESTAMP TO TRY_CAST WHEN WHERE XOR ZONE'
  ).split(' '),
);

/**
 * The current chain: its length, the depth of the deepest chain nested in it, the depth of the deepest chain before it,
 * and the number of its BETWEENs whose AND has not come yet.
 */
type Level = { length: number; inner: number; deepest: number; betweens: number };

const newLevel = (): Level => ({ length: 0, inner: 0, deepest: 0, betweens: 0 });
const depthOf = ({ length, inner, deepest }: Level): number => Math.max(deepest, length + inner);

const longestKeyword = Math.max(...[...wantsOperand].map((word) => word.length));

/**
 * Refuses SQL that could end the engine's process or take long. Also refuses SQL that the engine would read differently
 * from this check. The engine itself checks whether the SQL is valid.
 * @throws CatalogError InvalidInput (13)
 */
export function checkSql(...texts: readonly string[]): void {
  let weight = 0;
  for (const sql of texts) {
    if (sql.length > maxLength) refuse(`has ${sql.length} characters, more than the maximum of ${maxLength}`);
    weight = checkText(sql, weight);
    if (hasTextAfterSemicolon(sql)) refuse('has text after a semicolon', 'Write one expression.');
  }
}

/** @returns `before` plus the weight of this SQL */
function checkText(sql: string, before: number): number {
  const levels = [newLevel()];
  const cursor = new SqlCursor(sql);
  let weight = before;
  let isOperator = true;
  /** The last token in capitals, if it is a word that may be a keyword. */
  let word = '';
  while (cursor.next()) {
    const { kind, start, end } = cursor;
    if (kind === 'space') continue;
    const sign = kind === 'sign' ? sql[start] : undefined;
    if (kind === 'quoted') checkQuoted(sql, start, end, word);
    word = kind === 'word' && end - start <= longestKeyword ? cursor.text.toUpperCase() : '';
    if (sign !== undefined) checkSign(sign, sql[end]);
    if ((kind === 'word' || sign !== undefined) && sign !== ',' && sign !== '-' && ++weight > maxWeight)
      refuse(`has more than ${maxWeight} words and signs`);
    const level = levels.at(-1)!;
    if (sign === ')' || sign === ']' || sign === '}') {
      close(levels);
      isOperator = false;
    } else if (sign === ',' || ((word === 'AND' || word === 'OR') && !isOperator && level.betweens === 0)) {
      nextChain(level);
      isOperator = true;
    } else {
      if (word === 'AND' && !isOperator) level.betweens--;
      if (word === 'BETWEEN') level.betweens++;
      level.length++;
      if (sign === '(' || sign === '[' || sign === '{') levels.push(newLevel());
      isOperator = sign !== undefined || wantsOperand.has(word);
    }
    if (levels.length > maxDepth || depthOf(levels.at(-1)!) > maxDepth) tooDeep();
  }
  while (levels.length > 1) close(levels);
  if (depthOf(levels[0]!) > maxDepth) tooDeep();
  return weight;
}

/**
 * Refuses quotes and comments that are not closed, and signs after which the engine reads SQL differently from this
 * check. The engine reads the character after `#` or `@@` as part of a name, even if the character is a quote. So this
 * check could see the end of a string where the engine is still in the string.
 */
function checkSign(sign: string, next: string | undefined): void {
  if (sign === "'" || sign === '"' || sign === '`') refuse(`has a ${sign} that is not closed`, 'Close it.');
  if (sign === '/' && next === '*') refuse('has a comment that is not closed', 'Close it.');
  if (sign === '$' || sign === '#' || sign === '@')
    refuse(
      `has a ${sign} that is not in quotes`,
      `Write values directly, and put names that contain ${sign} in backticks.`,
    );
}

/**
 * Refuses a string or a quoted name directly behind a letter, a digit, `_`, `$` or `&`. After some letters the string
 * is a literal of another kind, and the engine reads a backslash in it as an escape. So the engine and this check could
 * disagree about where the string ends, for instance in `X'\''`. Names in backticks are not refused. Neither are
 * strings after a keyword, as in `DATE'2024-01-01'`, and bytes in hexadecimal, as in `X'00ff'`.
 * @param word the previous token in capitals, if it is a word
 */
function checkQuoted(sql: string, start: number, end: number, word: string): void {
  if (sql[start] === '`' || !/[\p{Alphabetic}\d_$&]/u.test(sql[start - 1] ?? '')) return;
  if (wantsOperand.has(word)) return;
  if (word === 'X' && /^'[\da-f]*'$/i.test(sql.slice(start, end))) return;
  refuse(
    `has a string directly behind "${sql.slice(Math.max(0, start - 20), start)}"`,
    'Put a space before the quote.',
  );
}

function nextChain(level: Level): void {
  Object.assign(level, { ...newLevel(), deepest: depthOf(level) });
}

function close(levels: Level[]): void {
  if (levels.length === 1) return;
  const closed = depthOf(levels.pop()!);
  const outer = levels.at(-1)!;
  outer.inner = Math.max(outer.inner, closed);
}

const tooDeep = (): never => refuse(`has a chain of more than ${maxDepth} tokens without AND, OR or a comma`);

function refuse(
  what: string,
  hint = 'Make it shorter, for instance with IN (…) for many values of one column.',
): never {
  throw new CatalogError('InvalidInput', `The SQL ${what}.`, hint);
}

/**
 * Maximum words to search for in one query. For a megabyte of frequent words the engine takes seconds and gigabytes.
 */
const maxWords = 1_000;
const maxSearchLength = 64 * 1024;

/** @throws CatalogError InvalidInput (13) if the search would take long */
export function checkSearchText(text: string): void {
  const hint = 'Search for fewer words.';
  if (text.length > maxSearchLength)
    refuseSearch(`has ${text.length} characters, more than the maximum of ${maxSearchLength}`, hint);
  // The engine may split the text at other characters too, but never into more words than this code counts.
  const words = text.split(/[^\p{Alphabetic}\p{M}\p{N}]+/u).filter((word) => word !== '').length;
  if (words > maxWords) refuseSearch(`has ${words} words, more than the maximum of ${maxWords}`, hint);
}

function refuseSearch(what: string, hint: string): never {
  throw new CatalogError('InvalidInput', `The full-text search ${what}.`, hint);
}

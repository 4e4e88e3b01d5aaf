import { CatalogError } from '#shared/errors.ts';
import { sqlTokens } from '#catalog/sqlTokens.ts';

// The engine walks an expression recursively, and one too deep for the stack of its thread ends the process silently.
// Its parser limits nested parentheses, but not chains, where every operator is one level more: `x + x + x`,
// `x::int::int`, `x IS TRUE IS TRUE`. Conditions joined by AND and OR and items of a list are not levels: it takes
// tens of thousands of them.

/** Maximum tokens in one chain, including nested ones. The engine ends at about 300 of the worst kind. */
const maxDepth = 150;
/** Maximum tokens in total, to limit the time too: a list of 100,000 items has 200,000. */
const maxTokens = 400_000;
const maxLength = 4 * 2 ** 20;

/** An operand follows these words, so an AND right after them is a name, as it is a type name after `::`. */
const wantsOperand = new Set(
  (
    'ALL AND ANY AS BETWEEN BY CASE CAST COLLATE CONTAINS DATE DATETIME DISTINCT DIV ELSE ESCAPE EXISTS FROM FOR GLOB ' +
    'ILIKE IN INTERVAL IS LIKE MATCH MEMBER MOD NOT OF OPERATOR OR OVERLAPS PRIOR REGEXP RLIKE SIMILAR SOME THEN TIME ' +
    'TIMESTAMP TO TRY_CAST WHEN WHERE XOR ZONE'
  ).split(' '),
);

/** The current chain: its own length, the deepest nested chain, and the deepest chain before it. */
type Level = { length: number; inner: number; deepest: number; betweens: number };

const newLevel = (): Level => ({ length: 0, inner: 0, deepest: 0, betweens: 0 });
const depthOf = ({ length, inner, deepest }: Level): number => Math.max(deepest, length + inner);

/**
 * Refuses SQL that could end the engine's process. The engine checks whether it is valid SQL.
 * @throws CatalogError InvalidInput (13)
 */
export function checkSql(sql: string): void {
  if (sql.length > maxLength) refuse(`has ${sql.length} characters, more than the maximum of ${maxLength}`);
  const levels = [newLevel()];
  let before: 'operand' | 'operator' = 'operator';
  let count = 0;
  for (const { space, word, sign, end } of sqlTokens(sql)) {
    if (space !== undefined) continue;
    // The engine refuses an unterminated token before it parses further.
    if (sign === "'" || sign === '"' || sign === '`' || (sign === '/' && sql[end] === '*')) return;
    if (sign === '$')
      refuse('has a $ that is not in quotes', 'Write values directly, and put names that start with $ in backticks.');
    if (++count > maxTokens) refuse(`has more than ${maxTokens} tokens`);
    const level = levels.at(-1)!;
    const upper = word?.toUpperCase();
    if (sign === ')' || sign === ']' || sign === '}') {
      close(levels);
      before = 'operand';
    } else if (sign === ',' || ((upper === 'AND' || upper === 'OR') && before === 'operand' && level.betweens === 0)) {
      nextChain(level);
      before = 'operator';
    } else {
      if (upper === 'AND' && before === 'operand') level.betweens--;
      if (upper === 'BETWEEN') level.betweens++;
      level.length++;
      if (sign === '(' || sign === '[' || sign === '{') levels.push(newLevel());
      before = sign !== undefined || (upper !== undefined && wantsOperand.has(upper)) ? 'operator' : 'operand';
    }
    if (levels.length > maxDepth || depthOf(levels.at(-1)!) > maxDepth) tooDeep();
  }
  while (levels.length > 1) close(levels);
  if (depthOf(levels[0]!) > maxDepth) tooDeep();
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

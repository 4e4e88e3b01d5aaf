import { CatalogError } from '#shared/errors.ts';
import { sqlTokens } from '#catalog/sqlTokens.ts';

// The engine walks an expression by recursion on the stack of its thread, and one that is too deep ends the process
// without a word. Its parser bounds how deep parentheses go, but not how long a chain is, in which every operator is one
// level more: `x + x + x`, `x::int::int`, `x IS TRUE IS TRUE`. Conditions joined by AND and OR and items of a list are
// not levels to it: it takes tens of thousands of them.

/** Words and signs in one chain, with what is nested in it. The engine ends at about 300 of the worst kind. */
const maxDepth = 150;
/** Words and signs in all, so that the time is bounded, too: a list of 100,000 items has 200,000. */
const maxTokens = 400_000;
const maxLength = 4 * 2 ** 20;

/** After these comes an operand, and AND is then the name of one, as it is the name of a type after `::`. */
const wantsOperand = new Set(
  (
    'ALL AND ANY AS BETWEEN BY CASE CAST COLLATE CONTAINS DATE DATETIME DISTINCT DIV ELSE ESCAPE EXISTS FROM FOR GLOB ' +
    'ILIKE IN INTERVAL IS LIKE MATCH MEMBER MOD NOT OF OPERATOR OR OVERLAPS PRIOR REGEXP RLIKE SIMILAR SOME THEN TIME ' +
    'TIMESTAMP TO TRY_CAST WHEN WHERE XOR ZONE'
  ).split(' '),
);

/** A chain that is being read: its own length and the deepest of what is in it, and the deepest chain before it. */
type Level = { length: number; inner: number; deepest: number; betweens: number };

const newLevel = (): Level => ({ length: 0, inner: 0, deepest: 0, betweens: 0 });
const depthOf = ({ length, inner, deepest }: Level): number => Math.max(deepest, length + inner);

/**
 * Refuses SQL that could end the engine's process. Whether it is SQL at all is left to the engine.
 * @throws CatalogError InvalidInput (13)
 */
export function checkSql(sql: string): void {
  if (sql.length > maxLength) refuse(`is ${sql.length} characters long, of at most ${maxLength}`);
  const levels = [newLevel()];
  let before: 'operand' | 'operator' = 'operator';
  let count = 0;
  for (const { space, word, sign, end } of sqlTokens(sql)) {
    if (space !== undefined) continue;
    // What has no end is refused by the engine before it looks any further.
    if (sign === "'" || sign === '"' || sign === '`' || (sign === '/' && sql[end] === '*')) return;
    if (sign === '$')
      refuse('has a $ that is not in quotes', 'Write values as they are, and names that begin with $ in backticks.');
    if (++count > maxTokens) refuse(`has more than ${maxTokens} words and signs`);
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

const tooDeep = (): never => refuse(`has a chain of more than ${maxDepth} words and signs without AND, OR or a comma`);

function refuse(what: string, hint = 'Make it shorter: many values of one column are IN (…).'): never {
  throw new CatalogError('InvalidInput', `The SQL ${what}.`, hint);
}

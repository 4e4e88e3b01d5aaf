import { tokensOf } from '#shared/sqlTokens.ts';

/** The range of a statement from its first to its last token, without its semicolon. */
export type StatementRange = { readonly start: number; readonly end: number };

/** Returns the statements of a file, which semicolons separate. Blanks and comments alone are not a statement. */
export function statementsIn(sql: string): StatementRange[] {
  const found: StatementRange[] = [];
  let start: number | undefined;
  let last = 0;
  const end = (): void => {
    if (start !== undefined) found.push({ start, end: last });
    start = undefined;
  };
  for (const token of tokensOf(sql)) {
    if (token.kind === 'sign' && token.text === ';') {
      end();
      continue;
    }
    start ??= token.start;
    last = token.end;
  }
  end();
  return found;
}

/**
 * Returns the statement that a cursor belongs to: the one around it, else the one before it on the same line, else the
 * next one, else the last one.
 */
export function statementAt(sql: string, offset: number): StatementRange | undefined {
  const all = statementsIn(sql);
  const around = all.find(({ start, end }) => start <= offset && offset <= end);
  if (around) return around;
  const before = all.findLast(({ end }) => end < offset);
  if (before && !sql.slice(before.end, offset).includes('\n')) return before;
  return all.find(({ start }) => start > offset) ?? before;
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { blanked, type Span } from '#session/magics/cellParts.ts';

const quotes: ReadonlySet<string> = new Set(["'", '"', '`']);

/**
 * Returns the ranges of the values in a query that may be incomplete, from `${` to behind its `}`. A value that is not
 * closed ends with its line, so that the text below it stays SQL.
 */
export function findHoles(sql: string): Span[] {
  const holes: Span[] = [];
  for (let start = sql.indexOf('${'); start >= 0; start = sql.indexOf('${', holes.at(-1)?.end)) {
    const end = closingBrace(sql, start + 2);
    const lineEnd = sql.indexOf('\n', start);
    holes.push({ start, end: end ?? (lineEnd < 0 ? sql.length : lineEnd) });
  }
  return holes;
}

/** Returns the offset behind the brace that closes an expression; undefined if there is none. */
function closingBrace(text: string, from: number): number | undefined {
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    const sign = text[at] ?? '';
    if (quotes.has(sign)) {
      while (++at < text.length && text[at] !== sign) if (text[at] === '\\') at++;
    } else if (sign === '{') depth++;
    else if (sign === '}' && --depth === 0) return at + 1;
  }
  return undefined;
}

/** Replaces each value by a question mark; all positions stay the same. */
export function withoutHoles(sql: string, holes: readonly Span[]): string {
  let text = '';
  for (const { start, end } of holes) text += `${sql.slice(text.length, start)}?${blanked(sql.slice(start + 1, end))}`;
  return text + sql.slice(text.length);
}

/** Returns the values of a query as TypeScript; all positions stay the same. */
export function codeInHoles(sql: string): string {
  let code = '';
  for (const { start, end } of findHoles(sql)) {
    const isClosed = sql[end - 1] === '}';
    const last = isClosed ? end - 1 : end;
    code += `${blanked(sql.slice(code.length, start))};(${sql.slice(start + 2, last)}${isClosed ? ')' : ''}`;
  }
  return code + blanked(sql.slice(code.length));
}

/** The body of the `%%sql` cell that runs. Created late, because the snapshot of the kernel can't hold it. */
let cellBody: AsyncLocalStorage<string> | undefined;

/** Runs a function that calls `sql` with the body of a `%%sql` cell, so that errors have the positions in the body. */
export function withCellBody<T>(body: string, run: () => T): T {
  return (cellBody ??= new AsyncLocalStorage()).run(body, run);
}

/** Returns the values as the body of the cell has them; undefined if the query is not that of the cell. */
export function writtenValues(parts: readonly string[]): readonly string[] | undefined {
  const body = cellBody?.getStore();
  if (body === undefined) return undefined;
  const holes = findHoles(body);
  const around = holes.map(({ start }, index) => body.slice(holes[index - 1]?.end ?? 0, start));
  const own = [...around, body.slice(holes.at(-1)?.end ?? 0)].join('${}').trim();
  return own === parts.join('${}').trim() ? holes.map(({ start, end }) => body.slice(start, end)) : undefined;
}

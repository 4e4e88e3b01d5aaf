import { writeSqlTable } from '#catalog/names/sqlNames.ts';
import { plainName, tokensOf } from '#shared/sqlTokens.ts';
import { cutText, oneLine } from '#shared/format/markup.ts';
import type { SqlProblem, SqlPurpose } from '#shared/protocol/viewsMessages.ts';
import type { PastQuery } from '../host/state.ts';
import { isCount, isString, listOf, shape } from '#shared/shape.ts';

// The rules of SQL files that need no editor.

/** Maximum characters of a query in a title. */
const titleChars = 32;

/** Returns the title of a result: the first words of the statement, and the connection. */
export const resultTitle = (text: string, connection: string): string =>
  `${cutText(oneLine(withoutComments(text)), titleChars)} (${connection})`;

/** Returns a statement as one line, without its comments. */
function withoutComments(text: string): string {
  let written = '';
  let last = 0;
  for (const { text: token, start, end } of tokensOf(text)) {
    if (start > last && written !== '') written += ' ';
    written += token;
    last = end;
    if (written.length > titleChars) break;
  }
  return written;
}

/** Returns the query of a new file: the first rows of a table, or nothing if no table is given. */
export const firstQuery = (table: readonly string[] | undefined): string =>
  table === undefined ? '' : `select * from ${writeSqlTable(table)} limit 100`;

/**
 * Returns the names of connections that a statement may mean: names before a dot, as in `"company".shop.orders`, also in
 * a string, as in `version('company.orders', 7)`.
 */
export function namedConnections(text: string, names: readonly string[]): string[] {
  const holders = new Set(holdersIn(text));
  return names.filter((name) => holders.has(name));
}

function holdersIn(text: string): string[] {
  const tokens = tokensOf(text);
  return tokens.flatMap((token, index) => {
    if (token.kind === 'quoted' && token.text.startsWith("'"))
      return holdersIn(token.text.slice(1, -1).replaceAll("''", "'"));
    const name = tokens[index + 1]?.text === '.' ? plainName(token) : undefined;
    return name === undefined ? [] : [name];
  });
}

export type WriteEffect = Extract<SqlPurpose, { kind: 'write' }>['effect'];

/** The table that a statement writes. */
export type WriteTarget = { connection: string; table: string };

/** Returns the question before a statement that writes. */
export function writeQuestion(
  effect: WriteEffect,
  { table, connection }: WriteTarget,
): { message: string; detail: string; action: string } {
  switch (effect) {
    case 'create':
      return {
        message: `Create the table "${table}" in "${connection}"?`,
        detail: 'The rows of the query are written to a new table.',
        action: 'Create Table',
      };
    case 'replace':
      return {
        message: `Replace the table "${table}" in "${connection}"?`,
        detail: 'If the table exists, its rows and columns are replaced by those of the query.',
        action: 'Replace Table',
      };
    case 'insert':
      return {
        message: `Add rows to the table "${table}" in "${connection}"?`,
        detail: 'The rows of the query are added as a new version of the table.',
        action: 'Add Rows',
      };
  }
}

/** The range of a problem in a file whose statement starts at `start`. */
export function problemRange(file: string, start: number, { offset }: SqlProblem): { start: number; end: number } {
  const tokens = tokensOf(file);
  const at = start + (offset ?? 0);
  // A statement that ends too early has its problem after its last word.
  const token =
    tokens.find(({ start: from, end }) => from <= at && at < end) ?? tokens.findLast(({ end }) => end <= at);
  return token ? { start: token.start, end: token.end } : { start: at, end: at };
}

/** Number of queries that the history keeps, and the maximum length of one. */
export const maxHistory = 200;
const maxQueryChars = 20_000;

const isPastQueries = listOf(shape({ text: isString, connection: isString, at: isCount }));

/** Returns the stored history; an empty one if another version has written it in another form. */
export const readHistory = (stored: unknown): PastQuery[] => (isPastQueries(stored) ? stored : []);

/**
 * Returns the history with a query as its newest. The same query on the same connection is listed once. A very long
 * query is left out.
 */
export function withQuery(history: readonly PastQuery[], query: PastQuery): PastQuery[] {
  if (query.text.length > maxQueryChars) return [...history];
  const others = history.filter(({ text, connection }) => text !== query.text || connection !== query.connection);
  return [query, ...others].slice(0, maxHistory);
}

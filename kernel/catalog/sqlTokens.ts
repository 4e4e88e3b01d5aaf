/**
 * Tokens as the engine reads them: a quote in a string is doubled, comments do not nest, a backslash is an ordinary
 * character.
 */
const sqlToken =
  /(?<space>\s+|--[^\n]*|\/\*[^]*?\*\/)|(?<quoted>(?:'[^']*')+|(?:"[^"]*")+|(?:`[^`]*`)+)|(?<number>\d+(?:\.\d*)?)|(?<word>[a-z_][\w$]*|\p{Alphabetic}+)|(?<sign>[^])/iuy;

/** A token of SQL: exactly one of its kinds is set, to its text. It ends before the character at `end`. */
export type SqlToken = Readonly<Partial<Record<'space' | 'quoted' | 'number' | 'word' | 'sign', string>>> & {
  readonly text: string;
  readonly end: number;
};

/** Splits SQL into tokens, including whitespace and comments. */
export function* sqlTokens(sql: string): Generator<SqlToken, void, undefined> {
  for (let end = 0; end < sql.length;) {
    sqlToken.lastIndex = end;
    const found = sqlToken.exec(sql);
    if (!found) return;
    end = sqlToken.lastIndex;
    yield { ...found.groups, text: found[0], end };
  }
}

/** Returns an obvious reason why a string is not one expression; `undefined` does not prove that it is one. */
export function sqlProblem(sql: string): string | undefined {
  let depth = 0;
  for (const { sign } of sqlTokens(sql)) {
    if (sign === '(') depth++;
    if (sign === ')' && --depth < 0) return 'closes a parenthesis that is not open';
    if (sign === "'" || sign === '"' || sign === '`') return `has a ${sign} that is not closed`;
  }
  return depth > 0 ? 'has a parenthesis that is not closed' : undefined;
}

/** As the engine cuts text: a quote in a string is doubled, comments do not nest, a backslash is nothing special. */
export const sqlToken =
  /(?<space>\s+|--[^\n]*|\/\*[^]*?\*\/)|(?<quoted>(?:'[^']*')+|(?:"[^"]*")+|(?:`[^`]*`)+)|(?<number>\d+(?:\.\d*)?)|(?<word>[a-z_][\w$]*|\p{Alphabetic}+)|(?<sign>[^])/iuy;

/** What keeps a text from being one expression, where it is easily seen; without it the text may be none all the same. */
export function sqlProblem(sql: string): string | undefined {
  let depth = 0;
  sqlToken.lastIndex = 0;
  for (let found = sqlToken.exec(sql); found; found = sqlToken.exec(sql)) {
    const { sign } = found.groups!;
    if (sign === '(') depth++;
    if (sign === ')' && --depth < 0) return 'closes a parenthesis that it has not opened';
    if (sign === "'" || sign === '"' || sign === '`') return `has a ${sign} that is not closed`;
  }
  return depth > 0 ? 'has a parenthesis that is not closed' : undefined;
}

import { sqlTokens } from '#catalog/sqlTokens.ts';
import { CatalogError } from '#shared/errors.ts';

export type Token = { kind: 'quoted' | 'number' | 'word' | 'sign'; text: string };

/** Returns the tokens of a query, without blanks and comments. */
export function tokensOf(sql: string): Token[] {
  const tokens: Token[] = [];
  for (const { space, quoted, number, word, text } of sqlTokens(sql)) {
    if (space !== undefined) continue;
    const kind =
      quoted !== undefined ? 'quoted' : number !== undefined ? 'number' : word !== undefined ? 'word' : 'sign';
    tokens.push({ kind, text });
  }
  return tokens;
}

const readers: ReadonlySet<string> = new Set(['select', 'with', 'values']);

/** @throws CatalogError InvalidInput (13) if the text is not exactly one query */
export function checkQuery(sql: string): void {
  const tokens = tokensOf(sql);
  const [first] = tokens;
  if (!first)
    throw new CatalogError('InvalidInput', 'The query is empty.', 'Write for instance select * from products limit 5.');
  if (!readers.has(first.text.toLowerCase()))
    throw new CatalogError(
      'InvalidInput',
      `Expected a query, got "${first.text}": SQL is read-only here.`,
      'Start with select, with or values. To change tables, use their methods: table.add(…), table.update(…), table.delete(…).',
    );
  const end = tokens.findIndex(({ kind, text }) => kind === 'sign' && text === ';');
  if (end >= 0 && end < tokens.length - 1)
    throw new CatalogError('InvalidInput', 'There is more than one query.', 'Write one query per cell or sql`…`.');
}

/** Returns the columns that a query may read, judged by the words in it; all columns if it contains `*`. */
export function columnsIn(sql: string, columns: readonly string[]): string[] {
  const tokens = tokensOf(sql);
  const star = tokens.some(({ text }, at) => text === '*' && !/^count$/i.test(tokens[at - 2]?.text ?? ''));
  if (star) return [...columns];
  const words = new Set(
    tokens.flatMap(({ kind, text }) => (kind === 'sign' || kind === 'number' ? [] : [plain(text)])),
  );
  return columns.filter((name) => words.has(name.toLowerCase()));
}

const plain = (text: string): string => {
  const [quote = ''] = text;
  const inner = /["'`]/.test(quote) ? text.slice(1, -1).replaceAll(quote + quote, quote) : text;
  return inner.toLowerCase();
};

export const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

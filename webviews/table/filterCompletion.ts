import type { ColumnInfo } from '#shared/protocol/webviewMessages.ts';

/** What can be written at the cursor of a filter. `detail` is the type of a column or the arguments of a function. */
export type Suggestion = {
  readonly text: string;
  readonly kind: 'column' | 'function' | 'keyword';
  readonly detail: string;
};

/** Suggestions, and the part of the filter that one of them replaces. */
export type Completion = { readonly start: number; readonly end: number; readonly suggestions: readonly Suggestion[] };

/** A column of the table, or a nested field, whose name is its path. */
export type CompletedColumn = Pick<ColumnInfo, 'name' | 'type'> & { readonly parent?: number | undefined };

const maxSuggestions = 50;

const keywords = ['AND', 'OR', 'NOT', 'IS NULL', 'IS NOT NULL', 'IN (', 'LIKE', 'BETWEEN', 'TRUE', 'FALSE', 'NULL'];

/** Functions of the engine that conditions commonly have, with their arguments. */
export const filterFunctions: readonly string[] = (
  'abs(x); array_has(list, x); array_length(list); btrim(text); char_length(text); coalesce(x, y); contains(text, part); ' +
  "date_part('year', time); date_trunc('day', time); ends_with(text, end); greatest(x, y); initcap(text); isnan(x); " +
  'iszero(x); least(x, y); left(text, count); length(text); levenshtein(text, other); ln(x); log10(x); lower(text); ' +
  'ltrim(text); now(); nullif(x, y); octet_length(text); power(x, y); regexp_like(text, pattern); ' +
  'replace(text, from, to); reverse(text); right(text, count); round(x); rtrim(text); signum(x); sqrt(x); ' +
  'starts_with(text, start); strpos(text, part); to_timestamp(text); trunc(x); upper(text)'
).split('; ');

/** Writes the name of a column for a filter: in backticks unless it is a plain word. */
export const filterName = (name: string): string => (/^[a-z_]\w*$/i.test(name) ? name : `\`${name}\``);

/**
 * Returns what fits at the cursor of a filter; nothing inside a string.
 * @param isAsked whether the user has asked for suggestions, so that no letter is needed
 */
export function completeFilter(
  text: string,
  cursor: number,
  columns: readonly CompletedColumn[],
  isAsked: boolean,
): Completion {
  const before = text.slice(0, cursor);
  const nothing = { start: cursor, end: cursor, suggestions: [] };
  // A doubled quote within a string is counted twice, so it changes nothing.
  if ((before.match(/'/g)?.length ?? 0) % 2 === 1) return nothing;
  const isQuoted = (before.match(/`/g)?.length ?? 0) % 2 === 1;
  const word = (isQuoted ? /`[^`]*$/ : /[A-Za-z_][\w.]*$/).exec(before)?.[0] ?? '';
  if (word === '' && (!isAsked || /[\w.]$/.test(before))) return nothing;
  const rest = (isQuoted ? /^[^`]*`/ : /^\w*/).exec(text.slice(cursor))?.[0] ?? '';
  const typed = word.replace('`', '').toLowerCase();
  const all: Suggestion[] = [
    ...columns.flatMap(({ name, type, parent }): Suggestion[] => {
      const isNested = parent !== undefined;
      if (isNested && isQuoted) return [];
      const column = isNested ? name : isQuoted ? `\`${name}\`` : filterName(name);
      return [{ text: column, kind: 'column', detail: type }];
    }),
    ...(isQuoted ? [] : filterFunctions.map(functionSuggestion)),
    ...(isQuoted ? [] : keywords.map((each) => ({ text: each, kind: 'keyword', detail: '' }) as const)),
  ];
  const rank = ({ text: each }: Suggestion): number => {
    const at = each.replace('`', '').toLowerCase().indexOf(typed);
    return at === 0 ? 0 : at > 0 ? 1 : 2;
  };
  const suggestions = [0, 1].flatMap((wanted) => all.filter((each) => rank(each) === wanted));
  const isWhole = suggestions[0]?.text === word && suggestions.length === 1;
  return {
    start: cursor - word.length,
    end: cursor + rest.length,
    suggestions: isWhole ? [] : suggestions.slice(0, maxSuggestions),
  };
}

const functionSuggestion = (signature: string): Suggestion => {
  const name = signature.slice(0, signature.indexOf('(') + 1);
  return { text: name, kind: 'function', detail: signature.slice(name.length - 1) };
};

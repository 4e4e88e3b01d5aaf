import { plainName, type Token, tokensOf } from '#shared/sqlTokens.ts';

/** A part of a filter in UTF-16 units. */
export type FilterSpan = { readonly start: number; readonly end: number };

/**
 * Returns the part of a filter that the engine's message is about. Returns undefined if the message names no part, or one
 * that the filter has several times.
 */
export function problemSpan(filter: string, message: string): FilterSpan | undefined {
  const tokens = tokensOf(filter);
  // The message repeats the filter, which may have any words.
  const text = message.replace(filter, '');
  for (const [pattern, find] of rules) {
    const found = pattern.exec(text);
    if (!found) continue;
    const span = find(found[1] ?? '', tokens, filter);
    if (span && span.end > span.start) return { start: span.start, end: span.end };
  }
  return undefined;
}

type Find = (found: string, tokens: readonly Token[], filter: string) => FilterSpan | undefined;

const named: Find = (name, tokens) =>
  tokens.find((token, at) => tokens[at + 1]?.text !== '(' && isName(token, name)) ??
  tokens.find((token) => isName(token, name));

/** Returns the function with a name. Each of its calls would be wrong. */
const called: Find = (name, tokens) =>
  tokens.find((token, at) => tokens[at + 1]?.text === '(' && plainName(token)?.toLowerCase() === name.toLowerCase());

/** Returns a token that the filter has once. */
const only: Find = (text, tokens) => {
  const found = tokens.filter((token) => token.text === text);
  return found.length === 1 ? found[0] : undefined;
};

const lastToken: Find = (_, tokens) => tokens.at(-1);

/** What the messages of the engine and of this project say, and where that is in the filter. */
const rules: readonly (readonly [RegExp, Find])[] = [
  [/has no column "([^"]*)"/, named],
  [/No field named [`"]?([^`".\s]+)[`"]?/, named],
  [/Invalid function '([^']+)'/, called],
  [/Function '([^']+)' (?:requires|expects)/, called],
  [/found: EOF/, lastToken],
  [/found: ([^\s)]+)/, only],
  [/Received literal Utf8\("((?:[^"\\]|\\.)*)"\)/, (text, tokens, filter) => only(`'${text}'`, tokens, filter)],
  [/Received literal \w+\(([^)]*)\)/, only],
  [/has a (['"`]) that is not closed/, (quote, tokens) => fromQuote(quote, tokens)],
  [/closes a parenthesis that is not open/, (_, tokens) => unmatched(tokens).closing],
  [/has a parenthesis that is not closed/, (_, tokens) => unmatched(tokens).opening],
];

const isName = (token: Token, name: string): boolean => plainName(token)?.toLowerCase() === name.toLowerCase();

/** Returns the rest of a filter from a quote on that is not closed, which is a sign. */
function fromQuote(quote: string, tokens: readonly Token[]): FilterSpan | undefined {
  const open = tokens.find(({ kind, text }) => kind === 'sign' && text === quote);
  const last = tokens.at(-1);
  return open && last && { start: open.start, end: last.end };
}

function unmatched(tokens: readonly Token[]): { closing?: Token; opening?: Token } {
  const open: Token[] = [];
  for (const token of tokens) {
    if (token.text === '(') open.push(token);
    else if (token.text === ')' && !open.pop()) return { closing: token };
  }
  const opening = open.at(-1);
  return opening ? { opening } : {};
}

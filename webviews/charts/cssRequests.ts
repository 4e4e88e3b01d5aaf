/** CSS functions that take an address. */
const loadingFunction = /(?:url|image-set|image|src|cross-fade)\(/i;
const escape = /\\(?:([0-9a-f]{1,6})\s?|([^0-9a-f]))/gi;

const decodeEscape = (whole: string, code: string | undefined, char: string | undefined): string => {
  if (code === undefined) return char ?? whole;
  const point = Number.parseInt(code, 16);
  return point > 0x10_ff_ff ? whole : String.fromCodePoint(point);
};

/** Returns whether a browser that reads the text as CSS may request an address. Recognizes escaped letters, too. */
export const canLoadAsCss = (text: string): boolean =>
  text.includes('(') && loadingFunction.test(text.replaceAll(escape, decodeEscape));

/** Makes text harmless as CSS: a name with a space before its parenthesis is not a function. */
export const disarmCss = (text: string): string => (canLoadAsCss(text) ? text.replaceAll('(', ' (') : text);

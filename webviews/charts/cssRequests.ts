/** Functions of CSS that name an address. */
const loadingFunction = /(?:url|image-set|image|src|cross-fade)\(/i;
const escape = /\\(?:([0-9a-f]{1,6})\s?|([^0-9a-f]))/gi;

const decodeEscape = (whole: string, code: string | undefined, char: string | undefined): string => {
  if (code === undefined) return char ?? whole;
  const point = Number.parseInt(code, 16);
  return point > 0x10_ff_ff ? whole : String.fromCodePoint(point);
};

/** Returns whether a browser may request an address if it reads the text as CSS, also if letters are escaped. */
export const canLoadAsCss = (text: string): boolean =>
  text.includes('(') && loadingFunction.test(text.replaceAll(escape, decodeEscape));

/** Makes text harmless as CSS: with a space before the parenthesis, no name is a function. */
export const disarmCss = (text: string): string => (canLoadAsCss(text) ? text.replaceAll('(', ' (') : text);

/**
 * Whether a glob matches a text as a whole: `*` is any text, `?` one character. By hand and not as a regular expression,
 * for a pattern of many stars would backtrack for ever.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  let p = 0;
  while (at < text.length) {
    // A star first: the text may hold one as well.
    if (pattern[p] === '*') {
      star = p++;
      resume = at;
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === text[at])) {
      p++;
      at++;
    } else if (star >= 0) {
      p = star + 1;
      at = ++resume;
    } else return false;
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}

/** The end of a sentence, also inside quotes or brackets, or of a list of lines. */
const ended = /[.!?…:]["'”’»)\]]*\s*$|\n$/;

/**
 * Joins a problem and its next step as two sentences. The problem often ends with a message of other software, which
 * seldom has a final period.
 */
export function withHint(what: string, hint: string): string {
  if (hint === '') return what;
  return `${what}${ended.test(what) ? '' : '.'} ${hint}`;
}

/** What ends a sentence, also within quotes or brackets; a list of lines ends one too. */
const ended = /[.!?…:]["'”’»)\]]*\s*$|\n$/;

/**
 * What is wrong and what to do next as two sentences: what somebody else's code said, which is often the end of the first,
 * seldom has a full stop.
 */
export function withHint(what: string, hint: string): string {
  if (hint === '') return what;
  return `${what}${ended.test(what) ? '' : '.'} ${hint}`;
}

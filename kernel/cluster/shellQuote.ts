/** Characters that mean nothing to any shell, so that most names stay as people write them. */
const plain = /^[\w@%+=:,./-]+$/;

/** A word as a POSIX shell takes it for one word, whatever is in it. */
export const shellQuote = (word: string): string => (plain.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** A command line of its words. */
export const shellLine = (...words: readonly string[]): string => words.map(shellQuote).join(' ');

/** One executed cell: session (0 is this one), execution count, code. */
export type HistoryEntry = [session: number, line: number, code: string];

/** The cells of this session in order. There is no history of earlier sessions: nothing is written to disk. */
export class History {
  readonly #entries: HistoryEntry[] = [];

  add(count: number, code: string): void {
    this.#entries.push([0, count, code]);
  }

  /** The last `n`. */
  tail(n: number): HistoryEntry[] {
    return n > 0 ? this.#entries.slice(-n) : [];
  }

  /** Counts from `start` to before `stop`; `stop` null is the end. */
  range(session: number, start: number, stop: number | null): HistoryEntry[] {
    if (session !== 0) return [];
    return this.#entries.filter(([, line]) => line >= start && (stop === null || line < stop));
  }

  /** Cells that match a glob as a whole (`*` any text, `?` one character); the last `n` of them when given. */
  search(pattern: string, options: { n?: number; unique?: boolean } = {}): HistoryEntry[] {
    let found = this.#entries.filter(([, , code]) => matchesGlob(pattern, code));
    if (options.unique) found = [...new Map(found.map((entry) => [entry[2], entry])).values()];
    return options.n === undefined ? found : found.slice(-options.n);
  }
}

// By hand and not as a regular expression: a pattern of many stars from the wire would backtrack for ever.
function matchesGlob(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  let p = 0;
  while (at < text.length) {
    if (p < pattern.length && pattern[p] === '*') {
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

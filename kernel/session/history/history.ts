import { RecentTexts } from '#session/recent.ts';
import { matchesGlob } from './glob.ts';
import type { HistoryFolder } from './historyFolder.ts';

/** One executed cell: session, execution count, code. */
export type HistoryEntry = [session: number, line: number, code: string];

/** Cells of this session, the text of them, and results that are kept at most. */
const limits = { count: 10_000, chars: 16 << 20 };
const maxResults = 1000;
const maxResultChars = 10_000;

/** The cells of this session and, where there is a folder, those of earlier ones. Results are kept of this session alone. */
export class History {
  readonly #folder: HistoryFolder | undefined;
  readonly #report: (error: unknown) => void;
  #isKept: boolean;
  readonly #cells = new RecentTexts<number>(limits);
  readonly #results = new Map<number, string>();

  /** `report` is told once when the folder can't be written; from then on nothing is kept. */
  constructor(folder?: HistoryFolder, report: (error: unknown) => void = () => {}) {
    this.#folder = folder;
    this.#report = report;
    this.#isKept = folder !== undefined;
  }

  add(count: number, code: string): void {
    this.#cells.set(count, code);
    if (!this.#isKept) return;
    try {
      this.#folder?.append([count, code]);
    } catch (error) {
      this.#isKept = false;
      this.#report(error);
    }
  }

  /** Remembers what a cell showed as its result, in memory alone. */
  addResult(count: number, text: string): void {
    this.#results.set(count, text.slice(0, maxResultChars));
    const oldest = this.#results.keys().next();
    if (this.#results.size > maxResults && !oldest.done) this.#results.delete(oldest.value);
  }

  /** What a cell of this session showed; null for others. */
  resultOf([session, line]: HistoryEntry): string | null {
    return session === 0 || session === this.#session() ? (this.#results.get(line) ?? null) : null;
  }

  /** The last `n`, of whichever session. */
  tail(n: number): HistoryEntry[] {
    const found: HistoryEntry[] = [];
    for (const session of this.#sessions().toReversed()) {
      if (found.length >= n) break;
      found.unshift(...this.#entries(session, session));
    }
    return n > 0 ? found.slice(-n) : [];
  }

  /**
   * Cells from the count `start` to before `stop` (null: the end) of a session: 0 is this one, -1 the one before it, and
   * so on; a positive number is that of an entry.
   */
  range(session: number, start: number, stop: number | null): HistoryEntry[] {
    const number = session > 0 ? session : session === 0 ? this.#session() : this.#earlier().at(session);
    if (number === undefined) return [];
    return this.#entries(number, session === 0 ? 0 : number).filter(
      ([, line]) => line >= start && (stop === null || line < stop),
    );
  }

  /** Cells that match a glob as a whole; the last `n` of them when given. `unique` has each code once, where it was last. */
  search(pattern: string, options: { n?: number; unique?: boolean } = {}): HistoryEntry[] {
    let found = this.#sessions()
      .flatMap((session) => this.#entries(session, session))
      .filter(([, , code]) => matchesGlob(pattern, code));
    if (options.unique) found = lastOfEach(found);
    return options.n === undefined ? found : options.n > 0 ? found.slice(-options.n) : [];
  }

  close(): void {
    this.#isKept = false;
    this.#folder?.close();
  }

  /** The number of this session. One that was not kept yet, or is not to be, counts as the next. */
  #session(): number {
    return this.#folder?.session ?? (this.#folder?.sessions().at(-1) ?? 0) + 1;
  }

  #earlier(): number[] {
    const own = this.#session();
    return this.#folder?.sessions().filter((session) => session < own) ?? [];
  }

  #sessions(): number[] {
    return [...this.#earlier(), this.#session()];
  }

  #entries(session: number, label: number): HistoryEntry[] {
    const cells = session === this.#session() ? this.#cells.entries : (this.#folder?.read(session) ?? []);
    return cells.map(([line, code]): HistoryEntry => [label, line, code]);
  }
}

function lastOfEach(entries: readonly HistoryEntry[]): HistoryEntry[] {
  const seen = new Set<string>();
  const isNew = ([, , code]: HistoryEntry) => !seen.has(code) && seen.add(code);
  return entries.toReversed().filter(isNew).toReversed();
}

import { closeSync, openSync, readdirSync, readFileSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '#processes/files.ts';
import { dataFolder } from '#processes/userFolders.ts';
import { RecentTexts } from '#session/core/recent.ts';
import type { Front } from '#session/threads/coreMessages.ts';
import { messageOf } from '#shared/errors.ts';

/**
 * Whether a glob matches a text as a whole: `*` is any text, `?` one character. By hand and not as a regular expression,
 * for a pattern of many stars would backtrack for ever.
 */
function matchesGlob(pattern: string, text: string): boolean {
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

/** One cell of a session: its execution count and code. */
type StoredCell = [line: number, code: string];

const filePattern = /^session-(\d{6,12})\.jsonl$/;
const fileOf = (session: number): string => `session-${String(session).padStart(6, '0')}.jsonl`;

/** What is kept; the oldest sessions go first. */
const fileLimits = { sessions: 1000, bytes: 32 << 20, sessionBytes: 4 << 20, cellChars: 256 << 10 };

/**
 * The history of earlier kernels, a file a session. A kernel writes to its own file alone, a line a cell, so that several
 * kernels need no lock, and a kernel that is killed leaves all but the line it was writing.
 */
export class HistoryFolder {
  readonly #folder: string;
  #own: { session: number; file: number; bytes: number } | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** This kernel's session, once a cell of it was kept. */
  get session(): number | undefined {
    return this.#own?.session;
  }

  /**
   * Keeps a cell; very long ones and those beyond four megabytes are left out. The first one gives the session a number.
   * @throws an error of the file system
   */
  append(cell: StoredCell): void {
    if (cell[1].length > fileLimits.cellChars) return;
    this.#own ??= this.#begin();
    const line = Buffer.from(`${JSON.stringify(cell)}\n`);
    if (this.#own.bytes + line.length > fileLimits.sessionBytes) return;
    this.#own.bytes += line.length;
    writeSync(this.#own.file, line);
  }

  /** The kept sessions, oldest first. */
  sessions(): number[] {
    return this.#files().map(({ session }) => session);
  }

  /** The cells of a session in order; none when it is not kept or can't be read. */
  read(session: number): StoredCell[] {
    try {
      const path = join(this.#folder, fileOf(session));
      if (statSync(path).size > 2 * fileLimits.sessionBytes) return [];
      return readFileSync(path, 'utf8').split('\n').flatMap(parseLine);
    } catch {
      // Removed by a kernel that made room, or unreadable: to who asks, it is not there.
      return [];
    }
  }

  close(): void {
    if (this.#own) closeSync(this.#own.file);
    this.#own = undefined;
  }

  #files(): { session: number; name: string }[] {
    let names: string[];
    try {
      names = readdirSync(this.#folder);
    } catch {
      return [];
    }
    return names
      .map((name) => ({ name, session: Number(filePattern.exec(name)?.[1] ?? 0) }))
      .filter(({ session }) => Number.isSafeInteger(session) && session > 0)
      .toSorted((a, b) => a.session - b.session);
  }

  #begin(): { session: number; file: number; bytes: number } {
    makeFolder(this.#folder);
    const files = this.#files();
    this.#makeRoom(files);
    for (let session = (files.at(-1)?.session ?? 0) + 1; ; session++) {
      try {
        // Fails when another kernel has taken the number meanwhile.
        const file = openSync(join(this.#folder, fileOf(session)), 'ax', 0o600);
        return { session, file, bytes: 0 };
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      }
    }
  }

  // A kernel that still writes to a file that goes here loses those lines, after a thousand newer sessions.
  #makeRoom(files: readonly { name: string }[]): void {
    let bytes = 0;
    for (const [age, { name }] of files.toReversed().entries()) {
      const path = join(this.#folder, name);
      try {
        bytes += statSync(path).size;
        if (age >= fileLimits.sessions - 1 || bytes > fileLimits.bytes) unlinkSync(path);
      } catch {
        // Another kernel makes room at the same time.
      }
    }
  }
}

function parseLine(line: string): StoredCell[] {
  try {
    const cell: unknown = JSON.parse(line);
    if (Array.isArray(cell) && Number.isSafeInteger(cell[0]) && typeof cell[1] === 'string')
      return [[cell[0] as number, cell[1]]];
  } catch {
    // The last line of a kernel that was killed, or no line at all.
  }
  return [];
}

/** One executed cell: session, execution count, code. */
export type HistoryEntry = [session: number, line: number, code: string];

/** Cells of this session, the text of them, and results that are kept at most. */
const memoryLimits = { count: 10_000, chars: 16 << 20 };
const maxResults = 1000;
const maxResultChars = 10_000;

/** The cells of this session and, where there is a folder, those of earlier ones. Results are kept of this session alone. */
export class History {
  readonly #folder: HistoryFolder | undefined;
  readonly #report: (error: unknown) => void;
  #isKept: boolean;
  readonly #cells = new RecentTexts<number>(memoryLimits);
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

/** The history for a front. An editor has its own, so only a Jupyter kernel keeps cells for the next one. */
export function openHistory(front: Front): History {
  if (front.kind !== 'jupyter' || !front.keepsHistory) return new History();
  const folder = join(dataFolder(), 'history');
  return new History(new HistoryFolder(folder), (error) => {
    // To the log of the Jupyter server: no cell is at fault, and none should fail for it.
    writeSync(2, `The history of this kernel can't be kept in ${folder}: ${messageOf(error)}\n`);
  });
}

import { closeSync, openSync, readdirSync, readFileSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '#processes/files.ts';
import { dataFolder } from '#processes/userFolders.ts';
import { RecentTexts } from '#session/core/boundedSets.ts';
import type { Front } from '#session/threads/coreMessages.ts';
import { messageOf } from '#shared/errors.ts';

/**
 * Whether a glob matches an entire string: `*` matches any characters, and `?` matches one character. No regular
 * expression is used, because it could backtrack exponentially.
 */
function matchesGlob(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  let p = 0;
  while (at < text.length) {
    // The star is checked first, because the text may contain `*` as an ordinary character too.
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

/** Limits of the stored history; the oldest sessions are deleted first. */
const fileLimits = { sessions: 1000, bytes: 32 << 20, sessionBytes: 4 << 20, cellChars: 256 << 10 };

/**
 * The history of earlier kernels, one file per session. A kernel appends only to its own file, one line per cell. So no
 * lock is needed, and a killed kernel loses at most its last line.
 */
export class HistoryFolder {
  readonly #folder: string;
  #own: { session: number; file: number; bytes: number } | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The number of this kernel's session; undefined before the first cell is stored. */
  get session(): number | undefined {
    return this.#own?.session;
  }

  /**
   * Stores a cell, unless it is too long or the session file is full (4 MiB). The first cell gives the session a
   * number.
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

  sessions(): number[] {
    return this.#files().map(({ session }) => session);
  }

  /** Returns the cells of a session in order; an empty list if the session is not stored or is unreadable. */
  read(session: number): StoredCell[] {
    try {
      const path = join(this.#folder, fileOf(session));
      if (statSync(path).size > 2 * fileLimits.sessionBytes) return [];
      return readFileSync(path, 'utf8').split('\n').flatMap(parseLine);
    } catch {
      // Another kernel deleted the file to free space, or the file is unreadable.
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
        // Fails if another kernel has just taken the number.
        const file = openSync(join(this.#folder, fileOf(session)), 'ax', 0o600);
        return { session, file, bytes: 0 };
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      }
    }
  }

  // Deletes the oldest files beyond the limits. A kernel that still writes to a deleted file loses its lines, but only
  // after a thousand newer sessions or 32 MiB.
  #makeRoom(files: readonly { name: string }[]): void {
    let bytes = 0;
    for (const [age, { name }] of files.toReversed().entries()) {
      const path = join(this.#folder, name);
      try {
        bytes += statSync(path).size;
        if (age >= fileLimits.sessions - 1 || bytes > fileLimits.bytes) unlinkSync(path);
      } catch {
        // Ignores the error, because another kernel may delete files at the same time.
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
    // Skips the incomplete last line of a killed kernel, or an empty line.
  }
  return [];
}

export type HistoryEntry = [session: number, line: number, code: string];

/** Limits in memory: cells of this session, their characters, and results. */
const memoryLimits = { count: 10_000, chars: 16 << 20 };
const maxResults = 1000;
const maxResultChars = 10_000;

/** The cells of this session and, with a folder, of earlier sessions. Results are kept for this session only. */
export class History {
  readonly #folder: HistoryFolder | undefined;
  readonly #report: (error: unknown) => void;
  #isKept: boolean;
  readonly #cells = new RecentTexts<number>(memoryLimits);
  readonly #results = new Map<number, string>();

  /** `report` is called once if the folder can't be written; after that nothing more is stored. */
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

  /** Keeps the result of a cell, only in memory. */
  addResult(count: number, text: string): void {
    this.#results.set(count, text.slice(0, maxResultChars));
    const oldest = this.#results.keys().next();
    if (this.#results.size > maxResults && !oldest.done) this.#results.delete(oldest.value);
  }

  /** Returns the result of a cell of this session; null for a cell of another session. */
  resultOf([session, line]: HistoryEntry): string | null {
    return session === 0 || session === this.#session() ? (this.#results.get(line) ?? null) : null;
  }

  tail(n: number): HistoryEntry[] {
    const found: HistoryEntry[] = [];
    for (const session of this.#sessions().toReversed()) {
      if (found.length >= n) break;
      found.unshift(...this.#entries(session, session));
    }
    return n > 0 ? found.slice(-n) : [];
  }

  /**
   * Returns the cells from count `start` to before `stop` (null: the end) of a session: 0 is this session, -1 is the
   * session before it, and so on; a positive number is an absolute session number.
   */
  range(session: number, start: number, stop: number | null): HistoryEntry[] {
    const number = session > 0 ? session : session === 0 ? this.#session() : this.#earlier().at(session);
    if (number === undefined) return [];
    return this.#entries(number, session === 0 ? 0 : number).filter(
      ([, line]) => line >= start && (stop === null || line < stop),
    );
  }

  /**
   * Returns the cells that match a glob completely, limited to the last `n`. `unique` keeps only the last occurrence
   * of each code.
   */
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

  /** Returns the number of this session; if this session is not stored, the next free number. */
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

/** Opens the history for a client. Editors have their own history, so only a kernel of Jupyter stores cells. */
export function openHistory(front: Front): History {
  if (front.kind !== 'jupyter' || !front.keepsHistory) return new History();
  const folder = join(dataFolder(), 'history');
  return new History(new HistoryFolder(folder), (error) => {
    // The error is written to the log of the Jupyter server. Cells did not cause it, so they must not fail.
    writeSync(2, `Can't store the history of this kernel in "${folder}": ${messageOf(error)}\n`);
  });
}

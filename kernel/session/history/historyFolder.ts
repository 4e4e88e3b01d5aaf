import { closeSync, openSync, readdirSync, readFileSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '#client/makeFolder.ts';

/** One cell of a session: its execution count and code. */
export type StoredCell = [line: number, code: string];

const filePattern = /^session-(\d{6,12})\.jsonl$/;
const fileOf = (session: number): string => `session-${String(session).padStart(6, '0')}.jsonl`;

/** What is kept; the oldest sessions go first. */
const limits = { sessions: 1000, bytes: 32 << 20, sessionBytes: 4 << 20, cellChars: 256 << 10 };

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
    if (cell[1].length > limits.cellChars) return;
    this.#own ??= this.#begin();
    const line = Buffer.from(`${JSON.stringify(cell)}\n`);
    if (this.#own.bytes + line.length > limits.sessionBytes) return;
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
      if (statSync(path).size > 2 * limits.sessionBytes) return [];
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
        if (age >= limits.sessions - 1 || bytes > limits.bytes) unlinkSync(path);
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

import { rmSync } from 'node:fs';
import { totalmem } from 'node:os';
import { constrainedMemory, memoryUsage, pid } from 'node:process';
import { replaceFile } from '#processes/files.ts';
import type { CrashNote } from '#shared/protocol/crashNote.ts';
import { prepareCrashFolder } from './crashFolder.ts';

const maxNames = 100;
const maxNameChars = 60;
const headChars = 60;
/** Pause after a cell before its end is written to the note, so that a series of cells writes nothing in between. */
const restMs = 500;
/** Interval at which memory is measured while a cell runs. A small heap can fill up in a few tenths of a second. */
const memoryMs = 50;
/** Share of the memory limit from which a process counts as nearly out of memory. */
const nearness = 0.7;

/**
 * Keeps a kernel's crash note. If memory runs out, all threads end without notice, so the note must already be on disk.
 * The worker thread rewrites this small file for every cell. The main thread can't do this, because it may be busy.
 */
export class CrashKeeper {
  readonly #path: string;
  readonly #heapLimit: number;
  #note: CrashNote | undefined;
  #names: readonly string[] = [];
  #isReady = false;
  #isOver = false;
  #rest: NodeJS.Timeout | undefined;
  #look: NodeJS.Timeout | undefined;
  #base = 0;
  /** The running cells by their ids. */
  readonly #running = new Map<string, CrashNote['cell']>();

  /** @param heapLimit maximum heap size of the main thread in bytes */
  constructor(path: string, heapLimit: number) {
    this.#path = path;
    this.#heapLimit = heapLimit;
  }

  get path(): string {
    return this.#path;
  }

  /** Called when a cell starts. */
  begin(id: string, count: number, code: string): void {
    this.#stopTimers();
    const cell = { count, head: headOf(code), isRunning: true };
    this.#running.set(id, cell);
    const names = this.#names.slice(0, maxNames);
    const unnamed = this.#names.length - names.length;
    this.#note = {
      version: 1,
      pid,
      cell,
      names,
      unnamed,
      memory: null,
    };
    this.#write();
    this.#base ||= memoryUsage.rss();
    this.#look = setInterval(() => this.#lookAtMemory(), memoryMs);
  }

  /** Called when a cell has finished. `names` are the notebook's variables, if they have changed. */
  done(id: string, names: readonly string[] | undefined): void {
    if (names) this.#names = names.map((name) => name.slice(0, maxNameChars));
    this.#running.delete(id);
    if (this.#running.size === 0) clearInterval(this.#look);
    const note = this.#note;
    if (!note) return;
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => {
      const shown = this.#names.slice(0, maxNames);
      const cell = [...this.#running.values()].at(-1) ?? { ...note.cell, isRunning: false };
      this.#note = { ...note, cell, names: shown, unnamed: this.#names.length - shown.length };
      this.#write();
    }, restMs);
  }

  /** Removes the note, because the kernel ends as intended. */
  close(): void {
    this.#stopTimers();
    this.#isOver = true;
    if (this.#isReady) rmSync(this.#path, { force: true });
  }

  #lookAtMemory(): void {
    const note = this.#note;
    const rss = memoryUsage.rss();
    const machine = Math.min(totalmem(), constrainedMemory() || Infinity);
    // This thread can't measure the heap of the main thread, so it compares the limit of the heap with the growth of
    // the whole process since the first cell.
    const isNear = rss - this.#base > nearness * this.#heapLimit || rss > nearness * machine;
    if (!note || !isNear || (note.memory && rss < note.memory.used * 1.1)) return;
    this.#note = { ...note, memory: { used: rss, limit: Math.min(this.#heapLimit + this.#base, machine) } };
    this.#write();
  }

  #write(): void {
    if (this.#isOver) return;
    try {
      if (!this.#isReady) prepareCrashFolder();
      this.#isReady = true;
      replaceFile(this.#path, JSON.stringify(this.#note), { isLasting: false });
    } catch {
      // If the disk is full or read-only, the error is dropped. Cells run anyway, and after a crash the note is missing
      // or old.
    }
  }

  #stopTimers(): void {
    clearTimeout(this.#rest);
    clearInterval(this.#look);
  }
}

/** Returns the first line that is not blank, shortened. */
function headOf(code: string): string {
  const line =
    code
      .slice(0, 10_000)
      .split('\n')
      .find((each) => each.trim() !== '')
      ?.trim() ?? '';
  return line.length > headChars ? `${line.slice(0, headChars - 1)}…` : line;
}

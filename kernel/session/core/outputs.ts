import { AsyncLocalStorage } from 'node:async_hooks';
import type { CellOutput } from '#session/threads/coreMessages.ts';
import type { RingWriter } from '#session/threads/textRing.ts';
import { CellWork, stillRuns } from './cellWork.ts';

type Callback = (error: null) => void;

/**
 * Callbacks of streams for when something is written, called when the code that wrote comes to its end. `console` gives the
 * same one with every line, and a million lines are not to be a million things to remember.
 */
class LaterCalls {
  #last: { callback: Callback; times: number } | undefined;

  add(callback: Callback): void {
    if (this.#last?.callback === callback) {
      this.#last.times++;
      return;
    }
    const calls = { callback, times: 1 };
    this.#last = calls;
    queueMicrotask(() => {
      if (this.#last === calls) this.#last = undefined;
      for (let i = 0; i < calls.times; i++) callback(null);
    });
  }

  /** To be called when other code begins: what was to come may have been cut off with the code before. */
  forget(): void {
    this.#last = undefined;
  }
}

/** How the worker knows whose text it is and of which stream. */
const streamLabel = (name: 'stdout' | 'stderr', cell: string | null): string => `${name}:${cell ?? ''}`;

/** The label in its parts. */
export function readStreamLabel(label: string): { name: 'stdout' | 'stderr'; cell: string | null } {
  const at = label.indexOf(':');
  return { name: label.slice(0, at) === 'stderr' ? 'stderr' : 'stdout', cell: label.slice(at + 1) || null };
}

/**
 * Sends what code prints and shows, each with the cell it belongs to: a timer's output has the cell that set the timer,
 * long after that cell is done.
 */
export class Outputs {
  readonly #send: (parent: string | null, output: CellOutput) => void;
  // Made of async hooks in an older Node, it would abort the process when code behind an `await` is stopped.
  readonly #context = hasContextFrames() ? new AsyncLocalStorage<CellWork>() : undefined;
  // For output that comes out of nowhere, from a native callback for instance.
  #latest: CellWork | undefined;
  readonly #written = new LaterCalls();

  constructor(send: (parent: string | null, output: CellOutput) => void) {
    this.#send = send;
  }

  /** The cell whose code is running. */
  get cell(): string | null {
    return this.#author?.id ?? null;
  }

  /** What the code that runs is part of; undefined outside of all cells. An older Node can only tell what began last. */
  get work(): CellWork | undefined {
    if (this.#context) return this.#context.getStore();
    return this.#latest?.signal.aborted ? undefined : this.#latest;
  }

  /** Runs `body` so that all it starts counts as this cell's. */
  within<T>(cell: CellWork | string, body: () => T): T {
    const work = typeof cell === 'string' ? new CellWork(cell) : cell;
    this.#latest = work;
    this.#written.forget();
    return this.#context ? this.#context.run(work, body) : body();
  }

  send(output: CellOutput): void {
    if (this.#isHeard()) this.#send(this.cell, output);
  }

  get #author(): CellWork | undefined {
    return this.work ?? this.#latest;
  }

  /** Says once of an interrupted cell that it goes on, in place of what it has to say. */
  #isHeard(): boolean {
    const heard = this.#author?.hear() ?? 'yes';
    if (heard === 'last') this.#send(this.cell, { type: 'stream', content: { name: 'stderr', text: stillRuns } });
    return heard === 'yes';
  }

  /** Puts the process's own streams behind `send`: `console` and every library write to them. */
  takeStreams(ring: RingWriter): void {
    for (const name of ['stdout', 'stderr'] as const) {
      const decoder = new TextDecoder();
      let [cell, label]: [string | null, string] = [null, streamLabel(name, null)];
      const write = (chunk: string | Uint8Array, encodingOrDone?: unknown, done?: unknown): boolean => {
        const text = isPlain(chunk, encodingOrDone)
          ? chunk
          : decoder.decode(typeof chunk === 'string' ? Buffer.from(chunk, encodingOrDone as BufferEncoding) : chunk, {
              stream: true,
            });
        if (text && this.#isHeard()) {
          if (cell !== this.cell) label = streamLabel(name, (cell = this.cell));
          ring.write(label, text);
        }
        const callback = typeof encodingOrDone === 'function' ? encodingOrDone : done;
        if (typeof callback === 'function') this.#written.add(callback as () => void);
        return true;
      };
      process[name].write = write;
    }
  }
}

/** Whether this is text that need not go through bytes: it says no encoding, or one of Unicode. */
const isPlain = (chunk: string | Uint8Array, encoding: unknown): chunk is string =>
  typeof chunk === 'string' &&
  (typeof encoding !== 'string' || /^(?:utf-?(?:8|16le)|ucs-?2)$/i.test(encoding) || !Buffer.isEncoding(encoding));

const hasContextFrames = (): boolean =>
  Number.parseInt(process.versions.node, 10) >= 24 || process.execArgv.includes('--experimental-async-context-frame');

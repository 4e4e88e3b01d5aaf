import { AsyncLocalStorage } from 'node:async_hooks';
import type { CellOutput } from '#session/threads/coreMessages.ts';
import type { RingWriter } from '#session/threads/textRing.ts';
import { CellWork, stillRuns } from './cellWork.ts';

type Callback = (error: null) => void;

/**
 * Calls the callbacks of stream writes when the code that wrote has finished. A callback that is passed repeatedly is
 * stored once with a count: `console` passes the same callback with every line, and a cell may print a million lines.
 */
class DeferredCallbacks {
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

  /**
   * Forgets the pending callbacks. Called when other code starts, because the microtask that would call them may have
   * been terminated with the previous code.
   */
  forget(): void {
    this.#last = undefined;
  }
}

const streamLabel = (name: 'stdout' | 'stderr', cell: string | null): string => `${name}:${cell ?? ''}`;

/** Splits a label of printed text into stream and cell. */
export function readStreamLabel(label: string): { name: 'stdout' | 'stderr'; cell: string | null } {
  const at = label.indexOf(':');
  return { name: label.slice(0, at) === 'stderr' ? 'stderr' : 'stdout', cell: label.slice(at + 1) || null };
}

/**
 * Sends what code prints and shows, together with the cell that it belongs to. Output of a timer belongs to the cell
 * that set the timer, even after that cell has finished.
 */
export class Outputs {
  readonly #send: (parent: string | null, output: CellOutput) => void;
  // Older Node.js versions implement `AsyncLocalStorage` by async hooks. With async hooks, the process aborts when code
  // after an `await` is terminated. So these versions get no storage.
  readonly #context = hasContextFrames() ? new AsyncLocalStorage<CellWork>() : undefined;
  // The run that gets output without an async context, for instance output of a native callback.
  #latest: CellWork | undefined;
  readonly #written = new DeferredCallbacks();

  constructor(send: (parent: string | null, output: CellOutput) => void) {
    this.#send = send;
  }

  get cell(): string | null {
    return this.#author?.id ?? null;
  }

  /**
   * The run that the current code belongs to; undefined outside of cells. On older Node.js it is the run that started
   * last.
   */
  get work(): CellWork | undefined {
    if (this.#context) return this.#context.getStore();
    return this.#latest?.signal.aborted ? undefined : this.#latest;
  }

  /** Runs `body` so that everything that `body` starts belongs to this cell. */
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

  /** Whether output is shown now. For an interrupted cell that still runs, prints one notice instead of the output. */
  #isHeard(): boolean {
    const heard = this.#author?.hear() ?? 'yes';
    if (heard === 'last') this.#send(this.cell, { type: 'stream', content: { name: 'stderr', text: stillRuns } });
    return heard === 'yes';
  }

  /** Redirects the process's own streams to the ring: `console` and every library write to them. */
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

/** Whether the chunk is text that needs no conversion to bytes: no encoding, or a Unicode encoding. */
const isPlain = (chunk: string | Uint8Array, encoding: unknown): chunk is string =>
  typeof chunk === 'string' &&
  (typeof encoding !== 'string' || /^(?:utf-?(?:8|16le)|ucs-?2)$/i.test(encoding) || !Buffer.isEncoding(encoding));

const hasContextFrames = (): boolean =>
  Number.parseInt(process.versions.node, 10) >= 24 || process.execArgv.includes('--experimental-async-context-frame');

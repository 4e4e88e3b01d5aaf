import { AsyncLocalStorage } from 'node:async_hooks';
import type { CellOutput } from './coreMessages.ts';
import type { RingWriter } from './textRing.ts';

/** How the worker knows whose text it is and of which stream. */
export const streamLabel = (name: 'stdout' | 'stderr', cell: string | null): string => `${name}:${cell ?? ''}`;

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
  readonly #context = hasContextFrames() ? new AsyncLocalStorage<string>() : undefined;
  // For output that comes out of nowhere, from a native callback for instance.
  #latest: string | null = null;

  constructor(send: (parent: string | null, output: CellOutput) => void) {
    this.#send = send;
  }

  /** The cell whose code is running. */
  get cell(): string | null {
    return this.#context?.getStore() ?? this.#latest;
  }

  /** Runs `body` so that all it starts counts as this cell's. */
  within<T>(cell: string, body: () => T): T {
    this.#latest = cell;
    return this.#context ? this.#context.run(cell, body) : body();
  }

  send(output: CellOutput): void {
    this.#send(this.cell, output);
  }

  /** Puts the process's own streams behind `send`: `console` and every library write to them. */
  takeStreams(ring: RingWriter): void {
    for (const name of ['stdout', 'stderr'] as const) {
      const decoder = new TextDecoder();
      const write = (chunk: string | Uint8Array, encodingOrDone?: unknown, done?: unknown): boolean => {
        const text = isPlain(chunk, encodingOrDone)
          ? chunk
          : decoder.decode(typeof chunk === 'string' ? Buffer.from(chunk, encodingOrDone as BufferEncoding) : chunk, {
              stream: true,
            });
        if (text) ring.write(streamLabel(name, this.cell), text);
        const callback = typeof encodingOrDone === 'function' ? encodingOrDone : done;
        if (typeof callback === 'function') queueMicrotask(() => void callback());
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

// Outputs go from the main thread to the worker as messages, and a loop creates thousands before the worker has sent
// the first. So the outputs in flight are limited. Code that shows more outputs has to wait, as code that prints into a
// full ring does (textRing.ts).
import type { CellOutput } from './coreMessages.ts';

/** Maximum number of outputs in flight, and of characters in them. */
export const maxPendingOutputs = 1000;
export const maxPendingChars = 1 << 24;
/** Size assumed for a JSON value, whose length is not known yet. */
const jsonChars = 10_000;
const { wait, load, add, notify } = Atomics;

/** Creates the shared memory: it holds the number of outputs passed on to clients, modulo 2³². */
export const createOutputWindow = (): SharedArrayBuffer => new SharedArrayBuffer(4);

/** The main thread's side. */
export class OutputSender {
  readonly #through: Int32Array;
  /** Characters of each output in flight, oldest first. */
  #sizes: number[] = [];
  #chars = 0;
  #sent = 0;

  constructor(memory: SharedArrayBuffer) {
    this.#through = new Int32Array(memory);
  }

  /** Sends an output once the limits allow it; an output larger than the limit is sent alone. */
  send(output: CellOutput, post: () => void): void {
    const size = sizeOf(output);
    for (;;) {
      const through = load(this.#through, 0);
      this.#forget((this.#sent - through) | 0);
      if (this.#sizes.length < maxPendingOutputs && (this.#chars + size <= maxPendingChars || this.#sizes.length === 0))
        break;
      wait(this.#through, 0, through, 50);
    }
    post();
    // The output is counted after it was sent. If code is terminated before this line, the output is not counted, but
    // no capacity is lost.
    this.#sent = (this.#sent + 1) | 0;
    this.#sizes.push(size);
    this.#chars += size;
  }

  #forget(pending: number): void {
    const gone = this.#sizes.splice(0, Math.max(0, this.#sizes.length - Math.max(0, pending)));
    for (const size of gone) this.#chars -= size;
  }
}

/** The worker's side. */
export class OutputReceiver {
  readonly #through: Int32Array;
  #taken = 0;

  constructor(memory: SharedArrayBuffer) {
    this.#through = new Int32Array(memory);
  }

  take(): void {
    this.#taken++;
  }

  /** Reports the counted outputs as passed on to clients. */
  makeRoom(): void {
    if (this.#taken === 0) return;
    add(this.#through, 0, this.#taken);
    this.#taken = 0;
    notify(this.#through, 0);
  }
}

function sizeOf(output: CellOutput): number {
  if (!('data' in output.content)) return 0;
  const values = Object.values(output.content.data);
  return values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : jsonChars), 0);
}

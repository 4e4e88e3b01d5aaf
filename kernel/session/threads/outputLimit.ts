// What code shows goes from the main thread to the worker by messages, of which a loop makes thousands before the worker
// has sent the first. So there is room for some on the way, and who shows more waits until they are through, as who prints
// waits at the ring of text.
import type { CellOutput } from './coreMessages.ts';

/** Outputs that may be on the way, and characters in them. */
export const roomForOutputs = 1000;
export const roomForChars = 1 << 24;
/** What is counted for a value of JSON, whose length nobody knows yet. */
const jsonChars = 10_000;
const { wait, load, add, notify } = Atomics;

/** The memory that both sides share: how many outputs have gone through, modulo 2³². */
export const createRoom = (): SharedArrayBuffer => new SharedArrayBuffer(4);

/** The main thread's side. */
export class OutputSender {
  readonly #through: Int32Array;
  /** Characters of each output on the way, the oldest first. */
  #sizes: number[] = [];
  #chars = 0;
  #sent = 0;

  constructor(memory: SharedArrayBuffer) {
    this.#through = new Int32Array(memory);
  }

  /** Sends an output once there is room for it. One that is larger than all room goes alone. */
  send(output: CellOutput, post: () => void): void {
    const size = sizeOf(output);
    for (;;) {
      const through = load(this.#through, 0);
      this.#forget((this.#sent - through) | 0);
      if (this.#sizes.length < roomForOutputs && (this.#chars + size <= roomForChars || this.#sizes.length === 0))
        break;
      wait(this.#through, 0, through, 50);
    }
    post();
    // Behind it: code that is stopped in between has one more on the way than is known, and no room is lost for ever.
    this.#sent = (this.#sent + 1) | 0;
    this.#sizes.push(size);
    this.#chars += size;
  }

  /** Keeps the sizes of the newest `pending` outputs. */
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

  /** An output has come. */
  take(): void {
    this.#taken++;
  }

  /** What has come is on its way to who looks at it, and others may follow. */
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

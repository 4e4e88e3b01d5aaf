// A cell may print faster than anyone reads. What was printed and not yet taken by the reader is counted in memory that
// both threads share; over the limit the printing thread waits, as it would at a full pipe.

const maxInFlight = 8 * 1024 * 1024;
const pollMs = 5;

export const createFlow = (): SharedArrayBuffer => new SharedArrayBuffer(4);

/** The printing side. Waits until there is room, which an interrupt ends as it ends any code. */
export function waitForRoom(flow: SharedArrayBuffer, chars: number): void {
  const inFlight = new Int32Array(flow);
  Atomics.add(inFlight, 0, chars);
  for (let now = Atomics.load(inFlight, 0); now > maxInFlight; now = Atomics.load(inFlight, 0)) {
    Atomics.wait(inFlight, 0, now, 100);
  }
}

/** The reading side: takes text off the count once the connection has not too much of it waiting. */
export class FlowReader {
  readonly #inFlight: Int32Array;
  readonly #backlog: () => number;
  #owed = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `backlog` gives the bytes that the connection has accepted and not sent. */
  constructor(flow: SharedArrayBuffer, backlog: () => number) {
    this.#inFlight = new Int32Array(flow);
    this.#backlog = backlog;
  }

  took(chars: number): void {
    this.#owed += chars;
    this.#settle();
  }

  #settle(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#backlog() > maxInFlight) {
      this.#timer = setTimeout(() => this.#settle(), pollMs);
      return;
    }
    Atomics.sub(this.#inFlight, 0, this.#owed);
    Atomics.notify(this.#inFlight, 0);
    this.#owed = 0;
  }
}

/** Longer than ZeroMQ takes to connect again a socket that was refused once. Who listens to nothing waits for it once. */
const waitMs = 1000;

/**
 * Whether anybody listens to what a kernel publishes. A client's channels connect one by one, each when ZeroMQ tries it again;
 * what a cell gives before the last of them is there would be lost, and its end with it.
 */
export class Audience {
  #isThere: boolean;
  #timer: NodeJS.Timeout | undefined;
  readonly #waiting: (() => void)[] = [];

  constructor(isThere: boolean) {
    this.#isThere = isThere;
  }

  /** Calls `answer` once somebody listens, or has had the time to; answers in the order in which they were given. */
  before(answer: () => void): void {
    if (this.#isThere) return answer();
    this.#waiting.push(answer);
    this.#timer ??= setTimeout(() => this.arrive(), waitMs);
  }

  arrive(): void {
    this.#isThere = true;
    clearTimeout(this.#timer);
    // At once: what comes next must not be answered before these.
    for (const answer of this.#waiting.splice(0)) answer();
  }
}

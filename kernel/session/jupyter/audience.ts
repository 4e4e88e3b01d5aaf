/** Longer than ZeroMQ takes to connect again a socket that was refused once. Who listens to nothing waits for it once. */
const waitMs = 1000;

/**
 * Whether anybody listens to what a kernel publishes. A client's channels connect one by one, each when ZeroMQ tries it again;
 * what a cell gives before the last of them is there would be lost, and its end with it.
 */
export class Audience {
  #isAwaited = true;
  readonly #came: Promise<void>;
  #come = (): void => {};

  constructor(isThere: boolean) {
    this.#isAwaited = !isThere;
    this.#came = new Promise((resolve) => (this.#come = resolve));
  }

  /** Whether what is answered by more than a reply has to wait. */
  get isAwaited(): boolean {
    return this.#isAwaited;
  }

  arrive(): void {
    this.#isAwaited = false;
    this.#come();
  }

  /** Resolves when somebody listens, or has had the time to. */
  async wait(): Promise<void> {
    const timer = setTimeout(() => this.arrive(), waitMs);
    await this.#came;
    clearTimeout(timer);
  }
}

/** Limits how long a process may be silent while its caller waits. */
export class SilenceTimer {
  readonly #time: number;
  readonly #over = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  /** Why the body of the request ended early, for instance because its client was too slow. */
  bodyFault: { readonly cause: unknown } | undefined;

  constructor(time: number) {
    this.#time = time;
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  start(): void {
    this.#timer = setTimeout(() => this.#over.abort(), this.#time);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /**
   * Returns the body to send. The time starts when the whole body was sent, because until then the process waits for
   * the client.
   */
  watch(body: Uint8Array | AsyncIterable<Uint8Array>): Uint8Array | AsyncIterable<Uint8Array> {
    if (!(body instanceof Uint8Array)) return this.#after(body);
    this.start();
    return body;
  }

  async *#after(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (cause) {
      this.bodyFault = { cause };
      throw cause;
    }
    this.start();
  }
}

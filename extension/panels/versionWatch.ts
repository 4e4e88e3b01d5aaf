/** Minimum time between two checks, and the part of the time that checks may take. */
const leastMs = 1_000;
const maxShare = 0.1;

/**
 * Checks whether a version of a table still is the one whose rows were read. A table that was dropped and created again
 * under the same name may have a version of the same number, and no request for its rows would fail. Checks are made at
 * most once a second, because a server may have to list all versions for one.
 */
export class VersionWatch {
  readonly #check: (signal: AbortSignal) => Promise<void>;
  readonly #signal: AbortSignal;
  readonly #onLost: (error: unknown) => void;
  #isChecking = false;
  #wantsCheck = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #notBefore = 0;

  /**
   * @param check rejects if the version is another one or is gone
   * @param options.signal ends the watch
   * @param options.onLost called with the reason of each check that was rejected
   */
  constructor(
    check: (signal: AbortSignal) => Promise<void>,
    { signal, onLost }: { signal: AbortSignal; onLost: (error: unknown) => void },
  ) {
    this.#check = check;
    this.#signal = signal;
    this.#onLost = onLost;
    signal.addEventListener('abort', () => clearTimeout(this.#timer), { once: true });
  }

  /** Checks soon. Call this after rows were read, so that the check is later than the rows. */
  checkSoon(): void {
    this.#wantsCheck = true;
    if (this.#isChecking || this.#timer !== undefined || this.#signal.aborted) return;
    const wait = Math.max(0, this.#notBefore - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#run();
    }, wait);
  }

  async #run(): Promise<void> {
    this.#isChecking = true;
    this.#wantsCheck = false;
    const started = performance.now();
    try {
      await this.#check(this.#signal);
    } catch (error) {
      if (!this.#signal.aborted) this.#onLost(error);
    }
    const now = performance.now();
    this.#notBefore = Math.max(started + leastMs, now + (now - started) / maxShare);
    this.#isChecking = false;
    if (this.#wantsCheck) this.checkSoon();
  }
}

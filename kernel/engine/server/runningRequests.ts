/** All requests, or only those that make changes. */
export type RequestKind = 'all' | 'writes';

/**
 * Counts the requests that run. It has no set of them: V8 copies a set after every few changes, and the old copies keep
 * ended requests in memory until the next full garbage collection.
 */
export class RunningRequests {
  #all = 0;
  #writes = 0;
  #waiting: { readonly which: RequestKind; readonly resolve: () => void }[] = [];

  get count(): number {
    return this.#all;
  }

  start(isWrite: boolean): void {
    this.#all++;
    if (isWrite) this.#writes++;
  }

  end(isWrite: boolean): void {
    this.#all--;
    if (isWrite) this.#writes--;
    if (this.#waiting.length > 0) this.#wake();
  }

  /** Resolves when no request runs, or none that makes changes. */
  ended(which: RequestKind): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ which, resolve });
      this.#wake();
    });
  }

  #wake(): void {
    const hasEnded = ({ which }: { readonly which: RequestKind }) => (which === 'all' ? this.#all : this.#writes) === 0;
    const ended = this.#waiting.filter(hasEnded);
    this.#waiting = this.#waiting.filter((each) => !hasEnded(each));
    for (const { resolve } of ended) resolve();
  }
}

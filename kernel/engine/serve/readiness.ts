import type { Catalog } from '#catalog/catalog.ts';

type ReadinessOptions = {
  /** Opens each served root. */
  catalogs: () => Promise<Catalog>[];
  onChange: (ready: boolean, problem: unknown) => void;
  /** Milliseconds for which a result is reused (default: 3000). */
  keep?: number;
  /** Milliseconds after which a root without a response counts as unreachable (default: 5000). */
  limit?: number;
};

/**
 * Checks whether the roots can be read. Any client may request this, so the storage is queried at intervals and not for
 * each request.
 */
export class Readiness {
  readonly #options: ReadinessOptions;
  #last: { ready: boolean; at: number } | undefined;
  #asking: Promise<boolean> | undefined;

  constructor(options: ReadinessOptions) {
    this.#options = options;
  }

  /** The last result, without a new check. */
  get isReady(): boolean {
    return this.#last?.ready ?? false;
  }

  check(): Promise<boolean> {
    const { keep = 3000 } = this.#options;
    if (this.#last && performance.now() - this.#last.at < keep) return Promise.resolve(this.#last.ready);
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  async #ask(): Promise<boolean> {
    let problem: unknown;
    try {
      const signal = AbortSignal.timeout(this.#options.limit ?? 5000);
      await Promise.all(
        this.#options.catalogs().map(async (catalog) => (await catalog).listNamespaces([], { limit: 1, signal })),
      );
    } catch (error) {
      problem = error;
    }
    const ready = problem === undefined;
    const before = this.#last?.ready;
    this.#last = { ready, at: performance.now() };
    if (ready !== before) this.#options.onChange(ready, problem);
    return ready;
  }
}

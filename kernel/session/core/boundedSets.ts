/** The strings that were added last, at most `limit`. */
export class RecentSet {
  readonly #limit: number;
  readonly #texts = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(text: string): void {
    this.#texts.add(text);
    if (this.#texts.size <= this.#limit) return;
    const [oldest] = this.#texts;
    if (oldest !== undefined) this.#texts.delete(oldest);
  }

  has(text: string): boolean {
    return this.#texts.has(text);
  }
}

/**
 * The strings that were set last, by a key: at most `count`, with at most `chars` UTF-16 units in total. The newest
 * string is kept regardless of its length.
 */
export class RecentTexts<K> {
  readonly #limits: { count: number; chars: number };
  readonly #texts = new Map<K, string>();
  #chars = 0;

  constructor(limits: { count: number; chars: number }) {
    this.#limits = limits;
  }

  set(key: K, text: string): void {
    this.#delete(key);
    this.#texts.set(key, text);
    this.#chars += text.length;
    for (const oldest of this.#texts.keys()) {
      if (oldest === key || (this.#texts.size <= this.#limits.count && this.#chars <= this.#limits.chars)) return;
      this.#delete(oldest);
    }
  }

  get(key: K): string | undefined {
    return this.#texts.get(key);
  }

  has(key: K): boolean {
    return this.#texts.has(key);
  }

  /** Keys and strings, oldest first. */
  get entries(): [K, string][] {
    return [...this.#texts];
  }

  #delete(key: K): void {
    this.#chars -= this.#texts.get(key)?.length ?? 0;
    this.#texts.delete(key);
  }
}

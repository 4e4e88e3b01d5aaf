/** The texts that were added last, at most `limit` of them. */
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

/** A page that a budget counts. */
export type CountedPage = {
  bytes: number;
  /** Forgets the page. Returns false if the page is in the view and must stay. */
  drop(): boolean;
};

/** Limits the memory of all loaded pages of a grid. The pages that were not used for the longest time go first. */
export class PageBudget {
  readonly #maxBytes: number;
  /** In the order of use, the oldest first. */
  readonly #pages = new Set<CountedPage>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(page: CountedPage): void {
    this.#pages.add(page);
    this.#bytes += page.bytes;
    this.trim();
  }

  /** Counts further memory of a page, such as its formatted cells. */
  grow(page: CountedPage, bytes: number): void {
    if (!this.#pages.has(page)) return;
    page.bytes += bytes;
    this.#bytes += bytes;
    this.trim();
  }

  use(page: CountedPage): void {
    if (!this.#pages.delete(page)) return;
    this.#pages.add(page);
  }

  remove(page: CountedPage): void {
    if (this.#pages.delete(page)) this.#bytes -= page.bytes;
  }

  /** Drops pages that have left the view, if there is too much. */
  trim(): void {
    for (const page of this.#pages) {
      if (this.#bytes <= this.#maxBytes) return;
      if (page.drop()) this.remove(page);
    }
  }
}

import type { Catalog } from '#client/catalog.ts';

/** Opened catalogs by root, the most recently used of them: a person browses many directories over a day. */
export class OpenCatalogs {
  readonly #open: (root: string) => Promise<Catalog>;
  readonly #limit: number;
  // A Map keeps insertion order; using an entry moves it to the end.
  readonly #byRoot = new Map<string, Promise<Catalog>>();

  constructor(open: (root: string) => Promise<Catalog>, limit = 32) {
    this.#open = open;
    this.#limit = limit;
  }

  get(root: string): Promise<Catalog> {
    const known = this.#byRoot.get(root);
    this.#byRoot.delete(root);
    const catalog =
      known ??
      this.#open(root).catch((error: unknown) => {
        // A root that failed is asked again next time: it may be there by then.
        this.#byRoot.delete(root);
        throw error;
      });
    this.#byRoot.set(root, catalog);
    if (this.#byRoot.size > this.#limit) this.#dropOldest();
    return catalog;
  }

  #dropOldest(): void {
    const [root] = this.#byRoot.keys();
    // Not closed: a request may still be using it; it goes with the last one.
    if (root !== undefined) this.#byRoot.delete(root);
  }
}

import type { Catalog } from '#catalog/catalog.ts';

type StorageOptions = Readonly<Record<string, string>>;

/**
 * A cache of the most recently used catalogs by root. The number is limited, because a user may browse many directories
 * in a day.
 */
export class OpenCatalogs<C extends Catalog> {
  readonly #open: (root: string, storageOptions: StorageOptions | undefined) => Promise<C>;
  readonly #limit: number;
  // A Map keeps insertion order; using an entry moves it to the end.
  readonly #byRoot = new Map<string, Promise<C>>();
  /** The key that was used last. */
  #newest: string | undefined;

  constructor(open: (root: string, storageOptions: StorageOptions | undefined) => Promise<C>, limit = 32) {
    this.#open = open;
    this.#limit = limit;
  }

  /** Returns the catalog in a root; other storage options make another catalog. */
  get(root: string, storageOptions?: StorageOptions): Promise<C> {
    const key = keyOf(root, storageOptions);
    const known = this.#byRoot.get(key);
    // A map that entries leave and enter all the time is copied again and again.
    if (known && key === this.#newest) return known;
    this.#newest = key;
    this.#byRoot.delete(key);
    const catalog = known ?? this.#open(root, storageOptions);
    this.#byRoot.set(key, catalog);
    if (!known)
      catalog.catch(() => {
        // A failed root is removed, so that the next call opens it again. The entry may already be another one, if the
        // root was opened again meanwhile.
        if (this.#byRoot.get(key) === catalog) this.#byRoot.delete(key);
      });
    if (this.#byRoot.size > this.#limit) this.#dropOldest();
    return catalog;
  }

  #dropOldest(): void {
    const [key] = this.#byRoot.keys();
    // The catalog is not closed, because a request may still use it. It is garbage collected after the last use.
    if (key !== undefined) this.#byRoot.delete(key);
  }
}

const keyOf = (root: string, options: StorageOptions = {}): string =>
  JSON.stringify([root, ...Object.entries(options).toSorted(([a], [b]) => (a < b ? -1 : 1))]);

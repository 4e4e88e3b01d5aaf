import type { Catalog } from '#catalog/catalog.ts';

type StorageOptions = Readonly<Record<string, string>>;

/** Opened catalogs by root, the most recently used of them: a person browses many directories over a day. */
export class OpenCatalogs {
  readonly #open: (root: string, storageOptions: StorageOptions | undefined) => Promise<Catalog>;
  readonly #limit: number;
  // A Map keeps insertion order; using an entry moves it to the end.
  readonly #byRoot = new Map<string, Promise<Catalog>>();

  constructor(open: (root: string, storageOptions: StorageOptions | undefined) => Promise<Catalog>, limit = 32) {
    this.#open = open;
    this.#limit = limit;
  }

  /** The catalog in a root; one that was opened with other settings of its object store is another catalog. */
  get(root: string, storageOptions?: StorageOptions): Promise<Catalog> {
    const key = keyOf(root, storageOptions);
    const known = this.#byRoot.get(key);
    this.#byRoot.delete(key);
    const catalog =
      known ??
      this.#open(root, storageOptions).catch((error: unknown) => {
        // A root that failed is asked again next time: it may be there by then.
        this.#byRoot.delete(key);
        throw error;
      });
    this.#byRoot.set(key, catalog);
    if (this.#byRoot.size > this.#limit) this.#dropOldest();
    return catalog;
  }

  #dropOldest(): void {
    const [key] = this.#byRoot.keys();
    // Not closed: a request may still be using it; it goes with the last one.
    if (key !== undefined) this.#byRoot.delete(key);
  }
}

const keyOf = (root: string, options: StorageOptions = {}): string =>
  JSON.stringify([root, ...Object.entries(options).toSorted(([a], [b]) => (a < b ? -1 : 1))]);

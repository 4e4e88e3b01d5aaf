/** How a process loads the parts of this product that it loads late, where that must not be cut off half way. */
export type PartLoader = {
  load<T>(load: () => Promise<T>): Promise<T>;
  now<T>(load: () => T): T;
};

declare global {
  // Every bundle has this module for itself, and all of them in a process go by one.
  var lanceCatalogPartLoader: PartLoader | undefined;
}

/** Loads a part: `loadPart(() => import('./dir.ts'))`. A module that was cut off while it was evaluated stays half for ever. */
export const loadPart = <T>(load: () => Promise<T>): Promise<T> =>
  globalThis.lanceCatalogPartLoader?.load(load) ?? load();

/** The same for what is loaded at once, by `require`. */
export const loadPartNow = <T>(load: () => T): T =>
  globalThis.lanceCatalogPartLoader ? globalThis.lanceCatalogPartLoader.now(load) : load();

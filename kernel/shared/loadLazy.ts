/** How a process loads parts of this product lazily if an interrupt must not stop the loading halfway. */
export type PartLoader = {
  load<T>(load: () => Promise<T>): Promise<T>;
  now<T>(load: () => T): T;
};

declare global {
  // Each bundle has a copy of this module; the global is shared by all bundles of a process.
  var lanceCatalogPartLoader: PartLoader | undefined;
}

/**
 * Loads a part: `loadLazy(() => import('./dir.ts'))`. A module interrupted during its evaluation stays incomplete
 * forever.
 */
export const loadLazy = <T>(load: () => Promise<T>): Promise<T> =>
  globalThis.lanceCatalogPartLoader?.load(load) ?? load();

/** Does the same for a synchronous `require`. */
export const requireLazy = <T>(load: () => T): T =>
  globalThis.lanceCatalogPartLoader ? globalThis.lanceCatalogPartLoader.now(load) : load();

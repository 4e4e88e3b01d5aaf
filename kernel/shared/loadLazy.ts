/** How a process loads parts of this product lazily. Used if an interrupt must not stop the loading halfway. */
export type PartLoader = {
  load<T>(load: () => Promise<T>): Promise<T>;
  now<T>(load: () => T): T;
};

declare global {
  // The loader is a global, because each bundle has a copy of this module, and all bundles of a process must share the
  // loader.
  var lanceCatalogPartLoader: PartLoader | undefined;
}

/**
 * Loads a part: `loadLazy(() => import('./dir.ts'))`. A module interrupted during its evaluation stays incomplete
 * forever.
 */
export const loadLazy = <T>(load: () => Promise<T>): Promise<T> =>
  globalThis.lanceCatalogPartLoader?.load(load) ?? load();

/** Like `loadLazy`, for a synchronous `require`. */
export const requireLazy = <T>(load: () => T): T =>
  globalThis.lanceCatalogPartLoader ? globalThis.lanceCatalogPartLoader.now(load) : load();

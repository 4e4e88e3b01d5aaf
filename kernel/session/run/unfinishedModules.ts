/** What is looked at of a module of Node's cache. */
export type CachedModule = { readonly loaded: boolean; readonly children: readonly CachedModule[] };

/**
 * The keys of modules that were being loaded when code was cut off, and of those that were loaded within that and took
 * something of them: modules that need each other know the half of a module that there was.
 * @param cache in the order in which the modules began to be loaded, as Node's is
 */
export function unfinishedModules(cache: Readonly<Record<string, CachedModule | undefined>>): string[] {
  const all = Object.entries(cache).flatMap(([key, module]) => (module ? [{ key, module }] : []));
  const first = all.findIndex(({ module }) => !module.loaded);
  if (first < 0) return [];
  const later = all.slice(first);
  const unfinished = new Set(later.map(({ module }) => module).filter(({ loaded }) => !loaded));
  for (let known = 0; known !== unfinished.size;) {
    known = unfinished.size;
    for (const { module } of later) if (module.children.some((each) => unfinished.has(each))) unfinished.add(module);
  }
  return later.filter(({ module }) => unfinished.has(module)).map(({ key }) => key);
}

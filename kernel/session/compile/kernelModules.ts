import type ts from 'typescript-6';

// Where the imports of the kernel's own declarations lead. Those files, and the packages that they import, do not change
// under a kernel: each import is looked for once a process, and those that a start-up snapshot holds not even that.
// Looking for them was most of what the first cell of a notebook waited for.

type Store = {
  /** Folders of packages that the kernel's own declarations lead to, and the folder of those. */
  readonly folders: Set<string>;
  readonly modules: Map<string, ts.ResolvedModuleFull | undefined>;
  readonly types: Map<string, ts.ResolvedTypeReferenceDirective | undefined>;
};

declare global {
  // What a start-up snapshot hands to the kernel's bundle, which is a script of its own and shares no modules with it.
  var lanceCatalogModules: Store | undefined;
}

const store = (globalThis.lanceCatalogModules ??= { folders: new Set(), modules: new Map(), types: new Map() });

/** Counts a file as the kernel's own, and with it its package and all that is imported there. */
export const addKernelFile = (file: string): void => void store.folders.add(folderOf(file));

const isKernels = (file: string): boolean => store.folders.has(folderOf(file));

const folderOf = (file: string): string =>
  /^.*\/(?:node_modules\/(?:@[^/]+\/)?[^/]+|dist\/types)\//.exec(file)?.[0] ?? file;

type Asked = { name: string; from: string; mode: ts.ResolutionMode };

/** What an import leads to. For files of the kernel's own, in which a notebook's tsconfig.json has no say, it is kept. */
export function moduleOnce(
  asked: Asked,
  look: () => ts.ResolvedModuleWithFailedLookupLocations,
): ts.ResolvedModuleWithFailedLookupLocations {
  if (!isKernels(asked.from)) return look();
  const resolvedModule = kept(store.modules, asked, () => look().resolvedModule);
  return { resolvedModule };
}

/** The same for `types` and `/// <reference types>`. */
export function typesOnce(
  asked: Asked,
  look: () => ts.ResolvedTypeReferenceDirectiveWithFailedLookupLocations,
): ts.ResolvedTypeReferenceDirectiveWithFailedLookupLocations {
  if (!isKernels(asked.from)) return look();
  const resolvedTypeReferenceDirective = kept(store.types, asked, () => look().resolvedTypeReferenceDirective);
  return { resolvedTypeReferenceDirective };
}

function kept<T extends { resolvedFileName: string | undefined } | undefined>(
  known: Map<string, T>,
  { name, from, mode }: Asked,
  look: () => T,
): T {
  const key = `${mode ?? ''} ${name} ${from}`;
  const before = known.get(key);
  if (before !== undefined || known.has(key)) return before as T;
  const found = look();
  known.set(key, found);
  if (found?.resolvedFileName !== undefined) addKernelFile(found.resolvedFileName);
  return found;
}

import ts from 'typescript-6';

// Files of packages and libraries. They do not change under a running notebook, so they are read once, and parsed and
// bound once for all who compile in this process. A start-up snapshot holds the ones that every notebook needs.

type Store = {
  /** Parsed files, by name. For every language service of the process. */
  readonly registry: ts.DocumentRegistry;
  readonly texts: Map<string, ts.IScriptSnapshot>;
  /** How many texts that are not on disk the registry was given. */
  versions: number;
};

declare global {
  // What a start-up snapshot hands to the kernel's bundle, which is a script of its own and shares no modules with it.
  var lanceCatalogFiles: Store | undefined;
}

const store: Store = (globalThis.lanceCatalogFiles ??= {
  registry: ts.createDocumentRegistry(ts.sys.useCaseSensitiveFileNames),
  texts: new Map(),
  versions: 0,
});

/** What knows of files of packages what they import without reading them (see outlinedFiles.ts). */
export type Outlines = {
  /** What stands for the text of a file; undefined when the text itself has to be read. */
  textOf(file: string): ts.IScriptSnapshot | undefined;
  /** Is told of every file that a program gets, with what it was parsed of. */
  acquired(file: ts.SourceFile, text: ts.IScriptSnapshot, options: ts.CompilerOptions): void;
  /** Where an import leads; undefined when that has to be looked for. */
  leadOf(name: string, from: string): ts.ResolvedModuleFull | undefined;
  /** Is told where an import led. */
  noteLead(name: string, from: string, found: ts.ResolvedModuleFull | undefined): void;
};

/** None while a start-up snapshot is made, which holds its files whole and is of no person's folder. */
let outlines: Outlines | undefined;

export const useOutlines = (used: Outlines): void => void (outlines = used);

let areKept = false;

/** From here on a file of a package stays, also while no program has it. */
export const keepFiles = (): void => void (areKept = true);

/** Parsed files that all language services share. */
export const sharedDocuments: ts.DocumentRegistry = {
  ...store.registry,
  acquireDocumentWithKey(name, path, settings, key, text, ...rest) {
    const file = store.registry.acquireDocumentWithKey(name, path, settings, key, text, ...rest);
    outlines?.acquired(file, text, optionsOf(settings));
    return file;
  },
  releaseDocumentWithKey(path: ts.Path, key: ts.DocumentRegistryBucketKey, ...rest: readonly unknown[]) {
    if (!areKept || !isInstalled(path))
      store.registry.releaseDocumentWithKey(path, key, ...(rest as [ts.ScriptKind, undefined]));
  },
};

const optionsOf = (settings: ts.CompilerOptions | ts.MinimalResolutionCacheHost): ts.CompilerOptions =>
  typeof settings['getCompilationSettings'] === 'function'
    ? (settings as ts.MinimalResolutionCacheHost).getCompilationSettings()
    : (settings as ts.CompilerOptions);

/** Where an import of an installed file leads, as `look` finds it or as it is known already. */
export function leadOnce(
  name: string,
  from: string,
  look: () => ts.ResolvedModuleWithFailedLookupLocations,
): ts.ResolvedModuleWithFailedLookupLocations {
  const resolvedModule = outlines?.leadOf(name, from);
  if (resolvedModule) return { resolvedModule };
  const found = look();
  outlines?.noteLead(name, from, found.resolvedModule);
  return found;
}

/** A version that no text in the registry has: files of one name and one version are one file to it. */
export const newVersion = (): number => ++store.versions;

/** Whether a file, named as TypeScript names it, is one that does not change while the kernel runs. */
export const isInstalled = (file: string): boolean =>
  store.texts.has(file) || /\/(?:node_modules|typescript-6)\/|\/lib\.[\w.]+\.d\.ts$|\/dist\/types\//.test(file);

/** The text of an installed file, or what stands for it, read once; undefined when there is no such file. */
export function installedText(file: string): ts.IScriptSnapshot | undefined {
  const known = store.texts.get(file);
  if (known) return known;
  const found = outlines?.textOf(file) ?? textOf(file);
  if (found) store.texts.set(file, found);
  return found;
}

function textOf(file: string): ts.IScriptSnapshot | undefined {
  const text = ts.sys.readFile(file);
  return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
}

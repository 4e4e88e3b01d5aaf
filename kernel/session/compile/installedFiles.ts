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

/** Parsed files that all language services share. */
export const sharedDocuments: ts.DocumentRegistry = store.registry;

/** A version that no text in the registry has: files of one name and one version are one file to it. */
export const newVersion = (): number => ++store.versions;

/** Whether a file, named as TypeScript names it, is one that does not change while the kernel runs. */
export const isInstalled = (file: string): boolean =>
  store.texts.has(file) || /\/(?:node_modules|typescript-6)\/|\/lib\.[\w.]+\.d\.ts$|\/dist\/types\//.test(file);

/** The text of an installed file, read once; undefined when there is no such file. */
export function installedText(file: string): ts.IScriptSnapshot | undefined {
  const known = store.texts.get(file);
  if (known) return known;
  const text = ts.sys.readFile(file);
  if (text === undefined) return undefined;
  const snapshot = ts.ScriptSnapshot.fromString(text);
  store.texts.set(file, snapshot);
  return snapshot;
}

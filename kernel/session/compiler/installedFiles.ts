import { readdirSync } from 'node:fs';
import { basename, dirname, extname, resolve } from 'node:path';
import ts from 'typescript-6';
import { nearestName } from '#shared/names.ts';

// Files of packages and libraries. They do not change while a notebook runs, so they are read once, and parsed and
// bound once for all compilers in this process. A startup snapshot holds the files that every notebook needs.

type Store = {
  /** Parsed files by name, for every language service of the process. */
  readonly registry: ts.DocumentRegistry;
  readonly texts: Map<string, ts.IScriptSnapshot>;
  /** Number of versions given so far to files in the registry that are not on disk. */
  versions: number;
};

declare global {
  // The store passes from a startup snapshot to the kernel's bundle through this global, because the bundle is a
  // separate script and shares no modules with the snapshot.
  var lanceCatalogFiles: Store | undefined;
}

const store: Store = (globalThis.lanceCatalogFiles ??= {
  registry: ts.createDocumentRegistry(ts.sys.useCaseSensitiveFileNames),
  texts: new Map(),
  versions: 0,
});

/** Knows the imports of package files without reading them (see outlinedFiles.ts). */
export type Outlines = {
  /** Returns a replacement for the text of a file; undefined if the text itself has to be read. */
  textOf(file: string): ts.IScriptSnapshot | undefined;
  /** Called for every file that a program acquires, with the text it was parsed from. */
  acquired(file: ts.SourceFile, text: ts.IScriptSnapshot, options: ts.CompilerOptions): void;
  /** Returns the target of an import; undefined if the import has to be resolved. */
  leadOf(name: string, from: string): ts.ResolvedModuleFull | undefined;
  /** Called with the target of an import that was resolved. */
  noteLead(name: string, from: string, found: ts.ResolvedModuleFull | undefined): void;
};

/**
 * Not set while a startup snapshot is created, because a snapshot holds whole files, and outlines belong to the cache
 * of one user.
 */
let outlines: Outlines | undefined;

export const useOutlines = (used: Outlines): void => void (outlines = used);

let areKept = false;

/** From now on files of packages stay in memory, even if no program uses them. */
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

/** Returns the target of an import of an installed file: the known target, or the result of `look`. */
export function resolveOnce(
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

/**
 * Returns a version that no text in the registry has: files with the same name and version are the same file for the
 * registry.
 */
export const newVersion = (): number => ++store.versions;

/** Whether a file never changes while the kernel runs. `file` has forward slashes, as in TypeScript. */
export const isInstalled = (file: string): boolean =>
  store.texts.has(file) || /\/(?:node_modules|typescript-6)\/|\/lib\.[\w.]+\.d\.ts$|\/dist\/types\//.test(file);

/**
 * Returns the text of an installed file, or the replacement of the text; undefined if the file does not exist. Reads
 * each file once.
 */
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

const importable = /^[^.]+$|\.(?:[cm]?[jt]sx?|json)$/;

/** Whether an import names a file by its path, and not a package. */
export const isPath = (specifier: string): boolean => /^(?:\.{0,2}[\\/]|\.{1,2}$)/.test(specifier);

/**
 * Explains where an imported file was searched, and suggests a similar name; undefined if a file with that name exists.
 * @param from folder of the importing file
 * @param called how the message calls the file
 */
export function missingFile(specifier: string, from: string, called = 'it'): string | undefined {
  const path = resolve(from, specifier);
  const folder = dirname(path);
  const names = namesIn(folder);
  if (!names) return `The folder "${folder}" does not exist. Check the path.`;
  if (names.includes(basename(path))) return undefined;
  const near = nearIn(names, basename(path));
  const there = specifier.slice(0, specifier.length - basename(specifier).length);
  const step = near === undefined ? 'Check the name, or create the file.' : `Did you mean '${there}${near}'?`;
  return `There is no file for ${called} in "${folder}". ${step}`;
}

/**
 * Returns the file whose name is most similar to a written name. The written extension may be right, wrong or missing.
 */
function nearIn(names: readonly string[], written: string): string | undefined {
  const files = names.filter((name) => importable.test(name));
  const stem = nearestName(stemOf(written), files.map(stemOf));
  return nearestName(written, files) ?? files.find((name) => stemOf(name) === stem);
}

const stemOf = (name: string): string => basename(name, extname(name));

function namesIn(folder: string): string[] | undefined {
  try {
    return readdirSync(folder);
  } catch {
    return undefined;
  }
}

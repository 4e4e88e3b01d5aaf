import { readdirSync } from 'node:fs';
import { basename, dirname, extname, resolve } from 'node:path';
import ts from 'typescript-6';
import { nearestName } from '#shared/names.ts';

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

const importable = /^[^.]+$|\.(?:[cm]?[jt]sx?|json)$/;

/** Whether an import names a file by its place, and not a package. */
export const isPath = (specifier: string): boolean => /^(?:\.{0,2}[\\/]|\.{1,2}$)/.test(specifier);

/**
 * Where a file that is imported was looked for, and a name there that may have been meant; undefined where there is
 * something of that name.
 * @param from folder of the one who imports
 * @param called what the file is called in the sentence
 */
export function missingFile(specifier: string, from: string, called = 'it'): string | undefined {
  const path = resolve(from, specifier);
  const folder = dirname(path);
  const names = namesIn(folder);
  if (!names) return `There is no folder ${folder}: check the path.`;
  if (names.includes(basename(path))) return undefined;
  const near = nearIn(names, basename(path));
  const there = specifier.slice(0, specifier.length - basename(specifier).length);
  const step = near === undefined ? ': check the name, or make the file.' : `. Is '${there}${near}' meant?`;
  return `There is no file for ${called} in ${folder}${step}`;
}

/** The name of a file may be written with its extension, with another one or without. */
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

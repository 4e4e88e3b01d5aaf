import { join } from 'node:path';
import ts from 'typescript-6';
import { resolveOnce } from './installedFiles.ts';
import { nodeSpecifier } from './missingModules.ts';

// Finds the declarations of an import in a cell: first in the notebook's folder, then beside the kernel's bundle. The
// declarations of 'lance-catalog' and 'tslab' are always beside the bundle.

// The store holds the resolved imports of the kernel's own declarations. These declarations, and the packages that they
// import, do not change while a kernel runs. So each import is resolved once per process, or not at all if a startup
// snapshot holds the result. Without the store, resolving takes most of the time of the first cell.

type Store = {
  /** Folders of packages that the kernel's own declarations import, and the folder of these declarations. */
  readonly folders: Set<string>;
  readonly modules: Map<string, ts.ResolvedModuleFull | undefined>;
  readonly types: Map<string, ts.ResolvedTypeReferenceDirective | undefined>;
};

declare global {
  // The store passes from a startup snapshot to the kernel's bundle through this global, because the bundle is a
  // separate script and shares no modules with the snapshot.
  var lanceCatalogModules: Store | undefined;
}

const store = (globalThis.lanceCatalogModules ??= { folders: new Set(), modules: new Map(), types: new Map() });

/** Treats a file as the kernel's own, and also all files of its package and everything that they import. */
const addKernelFile = (file: string): void => void store.folders.add(folderOf(file));

const isKernels = (file: string): boolean => store.folders.has(folderOf(file));

const folderOf = (file: string): string =>
  /^.*\/(?:node_modules\/(?:@[^/]+\/)?[^/]+|dist\/types)\//.exec(file)?.[0] ?? file;

type Asked = { name: string; from: string; mode: ts.ResolutionMode };

/**
 * Resolves an import. Keeps the result if the import is in one of the kernel's own files, because a notebook's
 * tsconfig.json does not affect such a file.
 */
function moduleOnce(
  asked: Asked,
  look: () => ts.ResolvedModuleWithFailedLookupLocations,
): ts.ResolvedModuleWithFailedLookupLocations {
  if (!isKernels(asked.from)) return look();
  const resolvedModule = kept(store.modules, asked, () => look().resolvedModule);
  return { resolvedModule };
}

/** Resolves `types` and `/// <reference types>` in the same way as `moduleOnce` resolves imports. */
function typesOnce(
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

/** Modules that exist in every notebook, with the file that declares each module. */
const declared: Record<string, string> = {
  'lance-catalog': 'types/session/preload.d.ts',
  tslab: 'types/tslab.d.ts',
};

/**
 * Packages that a module of the kernel replaces if the notebook's folder lacks them, with the file that declares the
 * module.
 */
const replaced: Record<string, string> = {
  '@lancedb/lancedb': 'types/session/preload.d.ts',
  '@lancedb/lancedb/embedding': 'types/catalog/lancedb/embeddingModule.d.ts',
  '@lancedb/lancedb/embedding/openai': 'types/catalog/lancedb/embeddingModule.d.ts',
  '@lancedb/lancedb/embedding/transformers': 'types/catalog/lancedb/embeddingModule.d.ts',
};

/** Whether the kernel's own client replaces this package in a notebook whose folder lacks the package. */
export const isReplacedByKernel = (name: string): boolean => Object.hasOwn(replaced, name);

/** Packages that the kernel provides to a notebook whose folder does not have them. */
export const isProvidedByKernel = (name: string): boolean =>
  name === 'apache-arrow' || name.startsWith('apache-arrow/');

const beside = (file: string): string => ts.sys.resolvePath(join(import.meta.dirname, file));

/**
 * Returns a resolver of imports for a compiler host. If the compiler finds no module, the resolver returns a module of
 * the kernel.
 * @param cache keeps found and missing modules until it is cleared
 */
export function moduleResolver(
  system: ts.ModuleResolutionHost,
  cache?: ts.ModuleResolutionCache,
): NonNullable<ts.LanguageServiceHost['resolveModuleNameLiterals']> {
  return (literals, containingFile, redirected, options, containingSource) =>
    literals.map((literal) => {
      const name = nodeSpecifier(literal.text);
      const own = Object.hasOwn(declared, name) ? declared[name] : undefined;
      if (own !== undefined) return kernelModule(own);
      if (isNeedless(literal, containingFile)) return { resolvedModule: undefined };
      const mode = ts.getModeForUsageLocation(containingSource, literal, options);
      const found = moduleOnce({ name, from: containingFile, mode }, () =>
        resolveOnce(name, containingFile, () =>
          ts.resolveModuleName(name, containingFile, options, system, cache, redirected, mode),
        ),
      );
      if (found.resolvedModule) return found;
      if (isReplacedByKernel(name)) return kernelModule(replaced[name]!);
      if (!isProvidedByKernel(name)) return found;
      return ts.resolveModuleName(name, beside('kernel.ts'), options, ts.sys, cache, redirected, mode);
    });
}

function kernelModule(file: string): ts.ResolvedModuleWithFailedLookupLocations {
  const resolvedFileName = beside(file);
  addKernelFile(resolvedFileName);
  return { resolvedModule: { resolvedFileName, extension: ts.Extension.Dts, isExternalLibraryImport: true } };
}

/**
 * Whether an import is not needed: the compiler adds an import of the JSX runtime to every module, even without JSX,
 * and the declarations of the runtime are a megabyte.
 */
const isNeedless = (literal: ts.StringLiteralLike, containingFile: string): boolean =>
  literal.pos === -1 && !/\.[jt]sx$/.test(containingFile);

/**
 * Returns a resolver of `types` and of `/// <reference types>`.
 * Cells run on the kernel's Node.js and get its types, whatever their folder has installed; a second version would
 * declare every global twice.
 */
export function typesResolver(
  system: ts.ModuleResolutionHost,
): NonNullable<ts.LanguageServiceHost['resolveTypeReferenceDirectiveReferences']> {
  return (references, containingFile, redirected, options, containingSource) =>
    references.map((reference) => {
      const name = typeof reference === 'string' ? reference : reference.fileName;
      const resolve = (from: string, under: ts.CompilerOptions, mode?: ts.ResolutionMode) =>
        ts.resolveTypeReferenceDirective(name, from, under, system, redirected, undefined, mode);
      if (name === 'node') {
        const from = beside('kernel.ts');
        addKernelFile(from);
        // `typeRoots` is empty, because without it the compiler would look in the working directory.
        const kernels = typesOnce({ name, from, mode: undefined }, () => resolve(from, { ...options, typeRoots: [] }));
        if (kernels.resolvedTypeReferenceDirective) return kernels;
      }
      const mode =
        typeof reference === 'string'
          ? undefined
          : ts.getModeForFileReference(reference, containingSource?.impliedNodeFormat);
      return typesOnce({ name, from: containingFile, mode }, () => resolve(containingFile, options, mode));
    });
}

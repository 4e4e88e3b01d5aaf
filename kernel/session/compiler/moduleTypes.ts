import { join } from 'node:path';
import ts from 'typescript-6';
import { leadOnce } from './installedFiles.ts';

// Where the compiler finds the declarations of an import in a cell: the notebook's folder first; what only the kernel
// has comes from beside its bundle.

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
const addKernelFile = (file: string): void => void store.folders.add(folderOf(file));

const isKernels = (file: string): boolean => store.folders.has(folderOf(file));

const folderOf = (file: string): string =>
  /^.*\/(?:node_modules\/(?:@[^/]+\/)?[^/]+|dist\/types)\//.exec(file)?.[0] ?? file;

type Asked = { name: string; from: string; mode: ts.ResolutionMode };

/** What an import leads to. For files of the kernel's own, in which a notebook's tsconfig.json has no say, it is kept. */
function moduleOnce(
  asked: Asked,
  look: () => ts.ResolvedModuleWithFailedLookupLocations,
): ts.ResolvedModuleWithFailedLookupLocations {
  if (!isKernels(asked.from)) return look();
  const resolvedModule = kept(store.modules, asked, () => look().resolvedModule);
  return { resolvedModule };
}

/** The same for `types` and `/// <reference types>`. */
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

/** Modules that exist in every notebook, by the file that declares them. */
const declared: Record<string, string> = {
  'lance-catalog': 'types/session/preload.d.ts',
  tslab: 'types/tslab.d.ts',
};

/** Packages that the kernel lends to a notebook whose folder has none of its own. */
export const isLent = (name: string): boolean => name === 'apache-arrow' || name.startsWith('apache-arrow/');

const beside = (file: string): string => ts.sys.resolvePath(join(import.meta.dirname, file));

/**
 * A resolver for a compiler host: same answers as the compiler's own, plus the kernel's modules.
 * @param cache keeps what was found, and what was not, until it is cleared
 */
export function moduleResolver(
  system: ts.ModuleResolutionHost,
  cache?: ts.ModuleResolutionCache,
): NonNullable<ts.LanguageServiceHost['resolveModuleNameLiterals']> {
  return (literals, containingFile, redirected, options, containingSource) =>
    literals.map((literal) => {
      const name = literal.text;
      const own = Object.hasOwn(declared, name) ? declared[name] : undefined;
      if (own !== undefined) {
        const resolvedFileName = beside(own);
        addKernelFile(resolvedFileName);
        return {
          resolvedModule: {
            resolvedFileName,
            extension: ts.Extension.Dts,
            isExternalLibraryImport: true,
          },
        };
      }
      if (isNeedless(literal, containingFile)) return { resolvedModule: undefined };
      const mode = ts.getModeForUsageLocation(containingSource, literal, options);
      const found = moduleOnce({ name, from: containingFile, mode }, () =>
        leadOnce(name, containingFile, () =>
          ts.resolveModuleName(name, containingFile, options, system, cache, redirected, mode),
        ),
      );
      if (found.resolvedModule || !isLent(name)) return found;
      return ts.resolveModuleName(name, beside('kernel.ts'), options, ts.sys, cache, redirected, mode);
    });
}

/** The compiler adds an import of the JSX runtime to every module, with or without JSX: a megabyte of declarations. */
const isNeedless = (literal: ts.StringLiteralLike, containingFile: string): boolean =>
  literal.pos === -1 && !/\.[jt]sx$/.test(containingFile);

/**
 * A resolver of `types` and of `/// <reference types>`. Cells run on the kernel's Node whatever their folder has
 * installed, so that is whose types they get; those of a second version would declare every global twice.
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
        // Without roots, which the compiler would make up of the working directory.
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

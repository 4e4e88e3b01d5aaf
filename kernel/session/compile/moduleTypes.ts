import { join } from 'node:path';
import ts from 'typescript-6';

// Where the compiler finds the declarations of an import in a cell: the notebook's folder first; what only the kernel
// has comes from beside its bundle.

/** Modules that exist in every notebook, by the file that declares them. */
const declared: Record<string, string> = {
  'lance-catalog': 'types/session/preload.d.ts',
  tslab: 'types/tslab.d.ts',
};

/** Packages that the kernel lends to a notebook whose folder has none of its own. */
export const isLent = (name: string): boolean => name === 'apache-arrow' || name.startsWith('apache-arrow/');

/** A resolver for a watching compiler host: same answers as the compiler's own, plus the kernel's modules. */
export function moduleResolver(
  system: ts.ModuleResolutionHost,
): NonNullable<ts.WatchCompilerHostOfFilesAndCompilerOptions<ts.BuilderProgram>['resolveModuleNameLiterals']> {
  const kernelFolder = import.meta.dirname;
  return (literals, containingFile, redirected, options, containingSource) =>
    literals.map((literal) => {
      const name = literal.text;
      const own = Object.hasOwn(declared, name) ? declared[name] : undefined;
      if (own !== undefined) {
        const resolvedFileName = ts.sys.resolvePath(join(kernelFolder, own));
        return {
          resolvedModule: { resolvedFileName, extension: ts.Extension.Dts, isExternalLibraryImport: true },
        };
      }
      const mode = ts.getModeForUsageLocation(containingSource, literal, options);
      const found = ts.resolveModuleName(name, containingFile, options, system, undefined, redirected, mode);
      if (found.resolvedModule || !isLent(name)) return found;
      const lender = ts.sys.resolvePath(join(kernelFolder, 'kernel.ts'));
      return ts.resolveModuleName(name, lender, options, ts.sys, undefined, redirected, mode);
    });
}

import {
  createRequire,
  registerHooks,
  type ResolveFnOutput,
  type ResolveHookContext,
  type ResolveHookSync,
} from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import tslab from 'tslab/dist/public.js';
import { registerCodecs } from '#catalog/arrow/ipcCompression.ts';
import { embeddingHint } from '#catalog/lancedb/embeddingModule.ts';
import { embedding } from '#catalog/lancedb/unsupportedModules.ts';
import { isProvidedByKernel, isReplacedByKernel } from '#session/compiler/moduleTypes.ts';
import { isOwnUrl } from './ownFiles.ts';

const scheme = 'lance-catalog:';
const ownModule = 'lance-catalog';
const embeddingModule = 'lance-catalog/embedding';
const shelf = Symbol.for('lance-catalog.modules');

/**
 * Makes modules available to cells and to the user's files that cells import: 'lance-catalog' (the preloaded names),
 * 'tslab' and apache-arrow. Arrow comes from the notebook's folder if it is installed there. Otherwise cells get the
 * kernel's copy, which reads compressed data. If LanceDB's package is not installed, imports of this package get
 * 'lance-catalog'.
 */
export function registerKernelModules(notebook: Record<string, unknown>): void {
  const modules: Record<string, Record<string, unknown>> = {
    [ownModule]: notebook,
    [embeddingModule]: { ...embedding },
    tslab: { ...tslab },
  };
  // The modules are in a global, because the source of a module is text and can find its exports only by a global name.
  Object.defineProperty(globalThis, shelf, { value: modules });
  const lender = createRequire(join(import.meta.dirname, 'kernel.cjs'));
  const lend: ResolveHookSync = (specifier, context, next) => {
    try {
      // The imports of other files keep Node's resolution. Cells load the CommonJS build, and the user's files must
      // load the same build.
      if (context.parentURL === undefined || !isOwnUrl(context.parentURL)) return next(specifier, context);
      const path = createRequire(fileURLToPath(context.parentURL)).resolve(specifier);
      return { url: pathToFileURL(path).href, format: 'commonjs', shortCircuit: true };
    } catch (error) {
      if (!isMissing(error)) throw error;
      return { url: pathToFileURL(lender.resolve(specifier)).href, format: 'commonjs', shortCircuit: true };
    }
  };
  const announced = new Set<string>();
  // Imports by the kernel's own bundles need no registration of the codecs, because the bundles register them and are
  // loading Arrow at this moment.
  const bundles = new URL('./', pathToFileURL(join(import.meta.dirname, 'kernel.cjs'))).href;
  const isCells = ({ parentURL }: ResolveHookContext): boolean => parentURL?.startsWith(bundles) !== true;
  const isKernels = (url: string): boolean =>
    url.startsWith(new URL('./', pathToFileURL(lender.resolve('apache-arrow'))).href);
  registerHooks({
    resolve(specifier, context, next) {
      if (Object.hasOwn(modules, specifier)) return { url: scheme + specifier, format: 'module', shortCircuit: true };
      if (isReplacedByKernel(specifier) && isCells(context)) return replace(specifier, () => next(specifier, context));
      if (!isProvidedByKernel(specifier)) return next(specifier, context);
      const found = lend(specifier, context, next);
      if (isCells(context) && isKernels(found.url)) registerCodecs();
      return found;
    },
    load(url, context, next) {
      if (!url.startsWith(scheme)) return next(url, context);
      const requested = url.slice(scheme.length);
      const name = replacementOf(requested) ?? requested;
      // `import` and `require` load the module separately.
      if (name !== requested && !announced.has(requested)) {
        announced.add(requested);
        process.stdout.write(`${replacement(requested)}\n`);
      }
      return { format: 'module', source: sourceOf(name, Object.keys(modules[name] ?? {})), shortCircuit: true };
    },
  });
}

/** Returns the module that Node.js finds, or the kernel's own module in its place. */
function replace(specifier: string, find: () => ResolveFnOutput): ResolveFnOutput {
  try {
    return find();
  } catch (error) {
    if (!isMissing(error)) throw error;
    return { url: scheme + specifier, format: 'module', shortCircuit: true };
  }
}

/** Returns the name of the kernel's module that replaces a module of a package. */
function replacementOf(name: string): string | undefined {
  if (!isReplacedByKernel(name)) return undefined;
  return name.includes('/embedding') ? embeddingModule : ownModule;
}

function replacement(name: string): string {
  const what = `"${name}" is not installed in the notebook's folder`;
  return replacementOf(name) === embeddingModule
    ? `${what}, and the client of Lance Catalog has no such module. ${embeddingHint}`
    : `${what}, so the import returns the client of Lance Catalog ("lance-catalog"), which has the same calls.`;
}

/** Returns the source of an ES module, which must list its exports by name. */
function sourceOf(name: string, exported: readonly string[]): string {
  const from = `globalThis[Symbol.for('lance-catalog.modules')][${JSON.stringify(name)}]`;
  const names = exported.filter((each) => each !== 'default' && !each.startsWith('__'));
  return `const { ${names.map((each, index) => `${each}: v${index}`).join(', ')} } = ${from};
export { ${names.map((each, index) => `v${index} as ${each}`).join(', ')} };`;
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  ['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'].includes(String(error.code));

import { createRequire, registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isLent } from './moduleTypes.ts';

const preloadUrl = 'lance-catalog:preload';
const shelf = Symbol.for('lance-catalog.preload');

/**
 * Gives cells, and the files of the notebook's folder that they import, `import … from 'lance-catalog'`, which is what is
 * preloaded; and apache-arrow, the notebook folder's own where it has one, else the kernel's.
 */
export function lendModules(notebook: Record<string, unknown>): void {
  // The loaded module is text, so what it exports has to be found by name.
  Object.defineProperty(globalThis, shelf, { value: notebook });
  const source = `module.exports = globalThis[Symbol.for('lance-catalog.preload')];`;
  const lender = createRequire(join(import.meta.dirname, 'kernel.cjs'));
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === 'lance-catalog') return { url: preloadUrl, format: 'commonjs', shortCircuit: true };
      if (!isLent(specifier)) return next(specifier, context);
      try {
        return next(specifier, context);
      } catch (error) {
        if (!isMissing(error)) throw error;
        return { url: pathToFileURL(lender.resolve(specifier)).href, format: 'commonjs', shortCircuit: true };
      }
    },
    load(url, context, next) {
      if (url === preloadUrl) return { format: 'commonjs', source, shortCircuit: true };
      return next(url, context);
    },
  });
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  ['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'].includes(String(error.code));

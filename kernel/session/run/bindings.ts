import type { Variable } from './variables.ts';

/** A loaded module as an importer sees it. */
export type Loaded = {
  /** `module.exports`, or the namespace of an ES module. */
  module: unknown;
  /** As it was written in the import. */
  specifier: string;
};

/**
 * What `import { imported } from …` gives, `default` and `*` included. A CommonJS module is its own default export,
 * unless it was compiled from an ES module and says so.
 * @throws SyntaxError for a name that an ES module does not export
 */
export function importedValue({ module, specifier }: Loaded, imported: string): unknown {
  const isNamespace = isEsModule(module);
  if (imported === '*') return isNamespace ? module : namespaceOf(module);
  if (imported === 'default' && !isNamespace) return module;
  if (module === null || module === undefined) return undefined;
  const members = Object(module) as Record<string, unknown>;
  if (Object.prototype.toString.call(module) === '[object Module]' && !(imported in members))
    throw new SyntaxError(`The module '${specifier}' does not provide an export named '${imported}'.`);
  return members[imported];
}

/** An ES module, or CommonJS that was compiled from one. */
export const isEsModule = (module: unknown): boolean =>
  typeof module === 'object' &&
  module !== null &&
  (Object.prototype.toString.call(module) === '[object Module]' || '__esModule' in module);

const namespaces = new WeakMap<object, object>();

/** A CommonJS module as the namespace that `import * as name` gives. */
function namespaceOf(module: unknown): unknown {
  if ((typeof module !== 'object' && typeof module !== 'function') || module === null) return { default: module };
  const known = namespaces.get(module);
  if (known) return known;
  const namespace: object = {};
  for (const key of Object.keys(module))
    Object.defineProperty(namespace, key, {
      enumerable: true,
      get: () => (module as Record<string, unknown>)[key],
    });
  Object.defineProperty(namespace, 'default', { enumerable: true, configurable: true, value: module });
  namespaces.set(module, namespace);
  return namespace;
}

/**
 * Makes a variable of the notebook show what a module exports now, as an import does. Unlike in a module the variable may
 * be assigned to, by a later cell that declares the name anew.
 * @returns whether the variable is still that import
 */
export function bindImport(variable: Variable, read: () => unknown): () => boolean {
  const get = (): unknown => read();
  Object.defineProperty(variable, 'v', {
    configurable: true,
    enumerable: true,
    get,
    set(value: unknown) {
      Object.defineProperty(variable, 'v', { configurable: true, enumerable: true, writable: true, value });
    },
  });
  return () => Object.getOwnPropertyDescriptor(variable, 'v')?.get === get;
}

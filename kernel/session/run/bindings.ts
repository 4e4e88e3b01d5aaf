import type { Variable } from './variables.ts';

/** A loaded module, as its importer receives it. */
export type Loaded = {
  /** `module.exports`, or the namespace of an ES module. */
  module: unknown;
  /** The specifier as written in the import. */
  specifier: string;
};

/**
 * Returns the value of `import { imported } from …`, including `default` and `*`. A CommonJS module is its own default
 * export, unless a mark on the module says that it was compiled from an ES module.
 * @throws SyntaxError if an ES module does not export the name
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

/** Whether a module is an ES module, or CommonJS compiled from an ES module. */
export const isEsModule = (module: unknown): boolean =>
  typeof module === 'object' &&
  module !== null &&
  (Object.prototype.toString.call(module) === '[object Module]' || '__esModule' in module);

const namespaces = new WeakMap<object, object>();

/** Returns the namespace of a CommonJS module, as `import * as name` gives it. */
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
 * Binds a notebook variable to the current value of a module's export, so that the variable follows changes like an
 * import. Unlike in a module, a later cell may declare the name again and assign to the variable.
 * @returns a function that reports whether the variable is still this import
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

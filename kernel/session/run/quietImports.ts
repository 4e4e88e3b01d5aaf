import { constants, Script } from 'node:vm';

/**
 * Node says once a process that `import()` in code of `node:vm` is experimental, as it is in every cell. Here it says so to
 * nobody; later it would be among what a cell prints.
 */
export function quietImports(): void {
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  const first = new Script(`import('node:vm')`, { importModuleDynamically });
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => {};
  try {
    void first.runInThisContext();
  } finally {
    process.emitWarning = emitWarning;
  }
}

import { registerImplementation } from '#catalog/connect.ts';
import { loadPart } from '#shared/loadPart.ts';

/** Makes `connect(root)` and `connectNamespace('dir', { root })` open directories in this process. */
export function registerDir(): void {
  registerImplementation('dir', {
    keys: ['root', 'storageOptions'],
    // Loaded by the first connection, with Arrow, and the package of the engine by what first asks that for something.
    connect: async (config, options) =>
      (await loadPart(() => import('#engine/dir/dirCatalog.ts'))).openDir(config, options),
  });
}

import { registerImplementation } from '#catalog/connect.ts';
import { loadLazy } from '#shared/loadLazy.ts';

/** Lets `connect(root)` and `connectNamespace('dir', { root })` open directories in this process. */
export function registerDir(): void {
  registerImplementation('dir', {
    keys: ['root', 'storageOptions'],
    // The first connection loads `dirCatalog.ts` and Arrow. The first call that needs the engine loads the engine's
    // package.
    connect: async (config, options) =>
      (await loadLazy(() => import('#engine/dir/dirCatalog.ts'))).openDirForUser(config, options),
  });
}

import { registerImplementation } from '#catalog/connect.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { CatalogError } from '#shared/errors.ts';
import type { Engine } from '../host/engine.ts';

/**
 * Registers the implementations for `connectNamespace` in this process. The engine process opens directories, because
 * this process never loads the native module. The REST client opens servers.
 */
export function registerImplementations(engine: Engine): void {
  registerImplementation('dir', {
    keys: ['root', 'storageOptions'],
    connect: async ({ root, storageOptions }) => {
      if (root) return engine.catalog(root, storageOptions);
      throw new CatalogError('InvalidInput', 'The catalog has no root.', 'Set "root" to the path of a directory.');
    },
  });
  registerRest();
}

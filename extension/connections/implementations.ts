import { registerImplementation } from '#catalog/connect.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { CatalogError } from '#shared/errors.ts';
import type { Engine } from '../host/engine.ts';

/**
 * Makes `connectNamespace` open catalogs in this process: directories through the engine process, since the native module
 * is never loaded here, and servers by the client of the REST contract.
 */
export function registerImplementations(engine: Engine): void {
  registerImplementation('dir', {
    keys: ['root', 'storageOptions'],
    connect: async ({ root, storageOptions }) => {
      if (root) return engine.catalog(root, storageOptions);
      throw new CatalogError('InvalidInput', 'The catalog has no root.', 'Give the path of a directory as root.');
    },
  });
  registerRest();
}

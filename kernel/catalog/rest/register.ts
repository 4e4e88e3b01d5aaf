import { loadLazy } from '#shared/loadLazy.ts';
import { registerImplementation } from '#catalog/connect.ts';

/** Lets `connectNamespace('rest', { uri, headers })` connect to servers in this process. */
export function registerRest(): void {
  registerImplementation('rest', {
    keys: [
      'uri',
      'apiKey',
      'token',
      'database',
      'databasePrefix',
      'headerNames',
      'headers',
      'endpoint',
      'ca',
      'proxy',
      'delimiter',
      'timeouts',
      'retries',
    ],
    keyPrefixes: ['headers.'],
    // Loaded by the first connection, because a process that only reads directories needs no HTTP.
    connect: async (config, options) => (await loadLazy(() => import('./restCatalog.ts'))).openRest(config, options),
  });
}

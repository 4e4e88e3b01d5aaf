import { RestCatalog } from '#catalog/rest/restCatalog.ts';
import type { DirConfig } from '#shared/catalogConfig.ts';
import type { CatalogError } from '#shared/errors.ts';
import { engineHost } from './contract.ts';
import { engineBlobs } from './blobs.ts';
import { type EngineAddress, engineHeaders } from './engineRequest.ts';
import { identityOfRoot, isSecretOption } from './identity.ts';

type EngineCatalogOptions = {
  /** Returns the error for a broken connection. */
  explain?: ((cause: unknown) => Promise<CatalogError>) | undefined;
  onClose?: (() => void) | undefined;
};

/**
 * Returns the catalog in a directory or an object store, which an engine process reads. Sends no request, so a root that
 * can't be read fails at the first call of the catalog.
 */
export function engineCatalog(
  address: EngineAddress,
  { root, storageOptions = {} }: DirConfig,
  { explain, onClose }: EngineCatalogOptions = {},
): RestCatalog {
  const { socketPath, secret } = address;
  const blobs = engineBlobs(address, { root, storageOptions }, explain);
  return new RestCatalog(
    {
      uri: `http://${engineHost}`,
      name: 'The engine process',
      socketPath,
      isOurs: true,
      headers: engineHeaders(secret, { root, storageOptions }),
      secrets: [secret, ...secretsOf(storageOptions)],
      ...(explain && { explain }),
    },
    { location: root, identity: identityOfRoot(root, storageOptions), blobs, ...(onClose && { onClose }) },
  );
}

/**
 * Returns the values of settings whose names mark them as secrets. Other values, for instance a region, may appear in
 * errors.
 */
const secretsOf = (options: Readonly<Record<string, string>>): string[] =>
  Object.entries(options)
    .filter(([name]) => isSecretOption(name))
    .map(([, value]) => value);

import { RestCatalog } from '#catalog/rest/restCatalog.ts';
import type { DirConfig } from '#shared/catalogConfig.ts';
import type { CatalogError } from '#shared/errors.ts';
import { engineHost, rootHeader, storageOptionsHeader } from './contract.ts';
import { identityOfRoot, isSecretOption } from './identity.ts';

/** How a process of this user reaches an engine process. The secret is sent over pipes only. */
export type EngineAddress = { readonly socketPath: string; readonly secret: string };

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
  { socketPath, secret }: EngineAddress,
  { root, storageOptions = {} }: DirConfig,
  { explain, onClose }: EngineCatalogOptions = {},
): RestCatalog {
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
    { location: root, identity: identityOfRoot(root, storageOptions), ...(onClose && { onClose }) },
  );
}

/** Returns the headers that authenticate the caller of an engine process and select the catalog. */
export function engineHeaders(secret: string, { root, storageOptions = {} }: DirConfig): Record<string, string> {
  const hasOptions = Object.keys(storageOptions).length > 0;
  return {
    authorization: `Bearer ${secret}`,
    [rootHeader]: encodeURIComponent(root),
    ...(hasOptions && { [storageOptionsHeader]: encodeURIComponent(JSON.stringify(storageOptions)) }),
  };
}

/**
 * Returns the values of settings whose names mark them as secrets. Other values, for instance a region, may appear in
 * errors.
 */
const secretsOf = (options: Readonly<Record<string, string>>): string[] =>
  Object.entries(options)
    .filter(([name]) => isSecretOption(name))
    .map(([, value]) => value);

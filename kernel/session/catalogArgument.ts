import { isObjectStore, localRoot } from '#catalog/root.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';

/** Environment variables that define the catalog if the editor does not. */
export const catalogVariables = {
  catalog: 'LANCE_CATALOG',
  apiKey: 'LANCE_CATALOG_API_KEY',
  token: 'LANCE_CATALOG_TOKEN',
  database: 'LANCE_CATALOG_DATABASE',
} as const;

/**
 * Returns the catalog that `--catalog` or `LANCE_CATALOG` names.
 * Credentials are read only from the environment, because every user of a machine can read arguments.
 * @param argument the value of `--catalog`, if given
 * @returns `null` if neither is set; a local directory as an absolute path
 * @throws CatalogError InvalidInput (13) if a `file:` URL is not a path on this machine
 */
export function catalogOfArgument(
  argument: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): CatalogConfig | null {
  // An empty variable counts as not set, as in a shell.
  const named = argument ?? env[catalogVariables.catalog];
  if (!named) return null;
  if (!/^https?:\/\//i.test(named))
    return { implementation: 'dir', root: isObjectStore(named) ? named : localRoot(named) };
  const apiKey = env[catalogVariables.apiKey];
  const token = env[catalogVariables.token];
  const database = env[catalogVariables.database];
  return {
    implementation: 'rest',
    uri: named,
    keyHint: `To use another key, set ${catalogVariables.apiKey}, or ${catalogVariables.token}, and start again.`,
    ...(apiKey && { apiKey }),
    ...(token && { token }),
    ...(database && { database }),
  };
}

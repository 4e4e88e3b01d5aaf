import { isObjectStore, localRoot } from '#catalog/root.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';

/** The variables that a catalog is taken from where no editor says which one it is. */
export const catalogVariables = {
  catalog: 'LANCE_CATALOG',
  apiKey: 'LANCE_CATALOG_API_KEY',
  token: 'LANCE_CATALOG_TOKEN',
  database: 'LANCE_CATALOG_DATABASE',
} as const;

/**
 * The catalog that `--catalog` or `LANCE_CATALOG` names: the address of a server (`https://…`), else a directory. What
 * lets one in comes from the environment alone, since arguments can be read by every user of a machine.
 * @param argument what `--catalog` said; `undefined` where it was not given
 * @returns `null` where neither names one; a relative directory as an absolute path
 * @throws CatalogError InvalidInput (13) for a `file:` address that is no path here
 */
export function catalogOfArgument(
  argument: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): CatalogConfig | null {
  // A variable that is set to nothing is one that is not set, as in a shell.
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

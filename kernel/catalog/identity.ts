/**
 * Names of settings that resemble names of secrets, but whose values only identify or locate something or switch
 * something on.
 */
const harmless = /key_?id$|enabled$|endpoint|service_?account(?:_?path)?$|application_?credentials$/i;

/** Whether a setting of an object store is a secret, by its name: `aws_secret_access_key`, `azureStorageSasKey`. */
export const isSecretOption = (name: string): boolean =>
  /secret|key|token|password|credential|sas/i.test(name) && !harmless.test(name);

/** Returns a setting of an object store as the engine names it: `awsRegion` and `AWS_REGION` are `aws_region`. */
export const settingName = (name: string): string =>
  (name === name.toUpperCase() ? name : name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`)).toLowerCase();

/**
 * Identifies a catalog, regardless of the user and the key; never contains a secret. An identity is only compared for
 * equality and not displayed.
 */
export type Identity = string;

/**
 * The identity of a root: its location and, for an object store, the store, because two stores may have buckets of the
 * same name.
 */
export function identityOfRoot(location: string, storageOptions: Readonly<Record<string, string>> = {}): Identity {
  const store = Object.entries(storageOptions).filter(
    ([name]) => /endpoint|account_?name$/i.test(name) && !isSecretOption(name),
  );
  return store.length === 0 ? location : JSON.stringify([location, store.toSorted(byName)]);
}

/**
 * The identity of a server's database. The database headers and the private endpoint are part of the identity, because
 * one URL may have several databases.
 */
export const identityOfServer = (
  url: URL,
  databaseHeaders: Readonly<Record<string, string>>,
  endpoint: { hostname: string; port: string } | undefined,
): Identity =>
  JSON.stringify([
    `${url.origin}${url.pathname.replace(/\/+$/, '')}`,
    Object.entries(databaseHeaders).toSorted(byName),
    endpoint ? [endpoint.hostname, endpoint.port] : [],
  ]);

const byName = ([a]: [string, string], [b]: [string, string]): number => (a < b ? -1 : a > b ? 1 : 0);

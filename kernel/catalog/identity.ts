/** Settings whose names sound like a secret's and that are none: names and places of one, switches. */
const harmless = /key_?id$|enabled$|endpoint|service_?account(?:_?path)?$|application_?credentials$/i;

/** Whether a setting of an object store (`aws_secret_access_key`, `azureStorageSasKey`) is a secret, by its name. */
export const isSecretOption = (name: string): boolean =>
  /secret|key|token|password|credential|sas/i.test(name) && !harmless.test(name);

/**
 * What tells one catalog from another, whoever connects to it and with whichever key: never a secret. Not for people to
 * read, and compared as a whole.
 */
export type Identity = string;

/** Of a root: its place, and in an object store the store too, since buckets of two of them may have one name. */
export function identityOfRoot(location: string, storageOptions: Readonly<Record<string, string>> = {}): Identity {
  const store = Object.entries(storageOptions).filter(
    ([name]) => /endpoint|account_?name$/i.test(name) && !isSecretOption(name),
  );
  return store.length === 0 ? location : JSON.stringify([location, store.toSorted(byName)]);
}

/** Of a server's database: one address may hold many, told apart by headers; a private endpoint leads to yet others. */
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

/** Settings whose names sound like a secret's and that are none: names and places of one, switches. */
const harmless = /key_?id$|enabled$|endpoint|service_?account(?:_?path)?$|application_?credentials$/i;

/** Whether a setting of an object store (`aws_secret_access_key`, `azureStorageSasKey`) is a secret, by its name. */
export const isSecretOption = (name: string): boolean =>
  /secret|key|token|password|credential|sas/i.test(name) && !harmless.test(name);

import { isSecretOption } from '#catalog/identity.ts';
import { isObjectStore } from '#catalog/root.ts';
import { catalogOfArgument, catalogVariables } from '#session/catalogArgument.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import { UsageError } from './command.ts';

export const storageArguments = {
  'storage-option': { type: 'string', multiple: true },
  'storage-option-env': { type: 'string', multiple: true },
} as const;

export const storageHelp = `  --storage-option NAME=VALUE        object store setting, such as aws_region=eu-west-1
  --storage-option-env NAME=VARIABLE the same with its value in an environment variable, for secrets;
                                     the store's own variables (AWS_ACCESS_KEY_ID, …) are always read`;

/**
 * Reads the settings of an object store. For a command with two object stores, `side` (`from` or `to`) is part of the
 * option names. Secrets on the command line are rejected, because every user of the machine can read command lines.
 * @throws UsageError for a secret, for anything but `NAME=VALUE`, and for a variable that is not set
 */
export function storageOptions(
  values: { 'storage-option'?: string[] | undefined; 'storage-option-env'?: string[] | undefined },
  side?: string,
): Record<string, string> | undefined {
  const option = side === undefined ? '--storage-option' : `--${side}-storage-option`;
  const options: Record<string, string> = {};
  for (const text of values['storage-option'] ?? []) {
    const [name, value] = pair(option, text);
    if (isSecretOption(name)) {
      throw new UsageError(
        `"${name}" is a secret: put it into an environment variable, ${option}-env ${name}=VARIABLE.`,
      );
    }
    options[name] = value;
  }
  for (const text of values['storage-option-env'] ?? []) {
    const [name, variable] = pair(`${option}-env`, text);
    options[name] = fromEnvironment(variable);
  }
  return Object.keys(options).length > 0 ? options : undefined;
}

/** Reads the environment variable that an option names. @throws UsageError if it is not set or empty */
export function fromEnvironment(variable: string): string {
  const value = process.env[variable];
  if (value) return value;
  throw new UsageError(`The environment variable ${variable} is not set.`);
}

function pair(option: string, text: string): [name: string, value: string] {
  const split = text.indexOf('=');
  // The message does not contain the value, because it may be a secret.
  if (split < 1) throw new UsageError(`${option} needs NAME=VALUE.`);
  return [text.slice(0, split), text.slice(split + 1)];
}

export const catalogArguments = { catalog: { type: 'string' }, ...storageArguments } as const;

export type CatalogValues = {
  readonly catalog?: string | undefined;
  readonly 'storage-option'?: string[] | undefined;
  readonly 'storage-option-env'?: string[] | undefined;
};

export const oneCatalogHelp = `  --catalog DIR|s3://…|https://…     a directory, an object store URL, or a server URL (default: the environment
                                     variable ${catalogVariables.catalog}). The API key, token and database of a
                                     server are read from ${catalogVariables.apiKey}, ${catalogVariables.token}
                                     and ${catalogVariables.database}
${storageHelp}`;

/**
 * Reads the catalog from the arguments or the environment.
 * @param otherwise the default if the arguments name none
 * @throws UsageError if no catalog is named
 */
export function catalogOf(values: CatalogValues, otherwise?: string): CatalogConfig {
  const config = catalogOfArgument(values.catalog ?? otherwise, process.env);
  if (!config)
    throw new UsageError(
      `No catalog is given. Add --catalog, or set the environment variable ${catalogVariables.catalog}.`,
    );
  const storage = storageOptions({ ...values });
  if (!storage) return config;
  if (config.implementation === 'rest' || !isObjectStore(config.root))
    throw new UsageError(
      `--storage-option applies only to object stores, but ${values.catalog ?? 'the catalog'} is not an object store.`,
    );
  return { ...config, storageOptions: storage };
}

const { catalog, apiKey, token, database } = catalogVariables;

/** Options for a command that reads several catalogs. */
export const catalogsArguments = { ...storageArguments, catalog: { type: 'string', multiple: true } } as const;

export type CatalogsValues = Omit<CatalogValues, 'catalog'> & { readonly catalog?: string[] | undefined };

/** The default catalog, and the others by their names. */
export type NamedCatalogs = { config: CatalogConfig; others: ReadonlyMap<string, CatalogConfig> };

// A directory whose name contains `=` is written with its path: ./a=b.
const namedCatalog = /^([\p{L}_][\p{L}\p{N}_-]*)=(.*)$/su;

/**
 * Reads `--catalog DIR --catalog NAME=DIR …`. Without a catalog that has no name, the default is that of the
 * environment, or else the first one.
 * @throws UsageError if a name is used twice, and if no catalog is named
 */
export function catalogsOf(values: CatalogsValues): NamedCatalogs {
  const others = new Map<string, CatalogConfig>();
  const unnamed: string[] = [];
  for (const argument of values.catalog ?? []) {
    const [, name, location = ''] = namedCatalog.exec(argument) ?? [];
    if (name === undefined) {
      unnamed.push(argument);
      continue;
    }
    if (others.has(name)) throw new UsageError(`--catalog ${name}=… is given twice.`);
    const config = catalogOfArgument(location, environmentOf(name));
    if (!config) throw new UsageError(`--catalog ${name}= needs a directory or an address after the equals sign.`);
    others.set(name, config.implementation === 'dir' ? config : { ...config, keyHint: keyHintOf(name) });
  }
  if (unnamed.length > 1)
    throw new UsageError('Only one --catalog can have no name. Write the others as --catalog NAME=DIR.');
  const [first] = others.values();
  const isNamed = unnamed.length === 0 && first && !process.env[catalog];
  if (!isNamed) return { config: catalogOf({ ...values, catalog: unnamed[0] }), others };
  if (storageOptions({ ...values }))
    throw new UsageError('--storage-option applies to the --catalog without a name, and there is none.');
  return { config: first, others };
}

/** Returns the variables of a catalog with a name, so that a key is sent only to the server that it is for. */
const environmentOf = (name: string): Record<string, string | undefined> =>
  Object.fromEntries(
    [apiKey, token, database].map((variable) => [variable, process.env[namedVariable(variable, name)]]),
  );

const keyHintOf = (name: string): string =>
  `To use another key, set ${namedVariable(apiKey, name)}, or ${namedVariable(token, name)}, and start again.`;

/** Returns `LANCE_CATALOG_COMPANY_API_KEY` for `LANCE_CATALOG_API_KEY` and `company`. */
const namedVariable = (variable: string, name: string): string =>
  variable.replace(`${catalog}_`, `${catalog}_${name.toUpperCase().replaceAll(/[^\p{L}\p{N}]/gu, '_')}_`);

export const catalogsHelp = `  --catalog NAME=DIR|s3://…|https://…  another catalog, whose tables a query names NAME.shop.orders; several times. The
                                     API key, token and database of a server are read from ${namedVariable(apiKey, 'NAME')},
                                     ${namedVariable(token, 'NAME')} and ${namedVariable(database, 'NAME')}`;

/** Returns the hint for a request that a server refused because the key of the environment was not sent. */
export const keptKeyHint = (namedBy: string, step: string): string =>
  `The key of ${apiKey} or ${token} was not sent: only ${namedBy} names the server. ${step}, or use --trust.`;

/** Help for the options that select the catalog of `db`. */
export const catalogHelp = `  --catalog DIR       the directory that db reads, or
  --catalog ADDRESS   the https:// URL of a catalog server (default: the environment variable ${catalog}).
                      The API key, token and database of a server are read from ${apiKey},
                      ${token} and ${database}`;

/** Parses a path: `shop/orders`, or `["shop","a/b"]` if a name contains a slash. @throws UsageError */
export function pathOf(text: string): string[] {
  // An empty path is an error, because an unset shell variable must not select everything.
  if (text !== '' && !text.startsWith('[')) return text.split('/').filter((part) => part !== '');
  try {
    const path: unknown = JSON.parse(text);
    if (Array.isArray(path) && path.every((part): part is string => typeof part === 'string')) return path;
  } catch {
    // The error is reported below, with the expected format.
  }
  throw new UsageError(`Expected a path such as shop/orders or ["shop","orders"], got "${text}".`);
}

/** Parses `id,amount`, or `["a,b"]` if a name contains a comma. @throws UsageError */
export function columnsArgument(option: string, text: string): string[] {
  if (!text.startsWith('[')) return text.split(',').map((name) => name.trim());
  try {
    const names: unknown = JSON.parse(text);
    if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names;
  } catch {
    // The message below says what is expected.
  }
  throw new UsageError(`Expected columns such as id,amount or a JSON list of names for ${option}, got "${text}".`);
}

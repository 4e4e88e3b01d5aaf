import { isRecord } from './records.ts';

/** What a catalog in a directory is connected by. */
export type DirConfig = {
  /** A directory, or the address of one in an object store such as `s3://bucket/path`. */
  root: string;
  /** Settings of the object store, named as its own client names them. */
  storageOptions?: Record<string, string>;
};

/** What a catalog on a server is connected by. */
export type RestConfig = {
  /** The address of the server, for instance `https://catalog.example.com`. */
  uri: string;
  /** Sent as `x-api-key`. A secret, as `token` is and `headers` may be: never logged, never in an error. */
  apiKey?: string | undefined;
  /** Sent as `Authorization: Bearer …`. */
  token?: string | undefined;
  /** Sent as `x-service-database`; left out for the host of a service's database, `<database>.<region>.api.<domain>`. */
  database?: string | undefined;
  /** Sent as `x-service-database-prefix`. */
  databasePrefix?: string | undefined;
  /** Other names of those two headers; `x-lancedb-database` is what some servers call the first. */
  headerNames?: { database?: string | undefined; databasePrefix?: string | undefined } | undefined;
  /** Sent with every request under their own names. */
  headers?: Record<string, string> | undefined;
  /** The same, a header a property: `'headers.x-team': 'data'`. */
  [header: `headers.${string}`]: string | undefined;
  /** Where to connect instead: a private endpoint, a tunnel. `Host` and the certificate's name stay those of `uri`. */
  endpoint?: string | undefined;
  /** Certificates of the authority that signed the server's, PEM, beside those that Node trusts. */
  ca?: string | undefined;
  /** A proxy's address; without it `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` of the environment. */
  proxy?: string | undefined;
  /** Between the components of an identifier in addresses; `$` when not given. */
  delimiter?: string | undefined;
  /** Milliseconds; `connect` 10,000, `headers` and `body` (between two chunks) 300,000 when not given, 0 for none. */
  timeouts?: { connect?: number | undefined; headers?: number | undefined; body?: number | undefined } | undefined;
  /** How often a request that changes nothing the second time is sent again after 429, 503 and broken connections; 3. */
  retries?: number | undefined;
};

/**
 * A catalog as one process tells another which it is. It may hold secrets: it crosses a pipe, nothing else. `keyHint` says
 * how the person changes the key there, for the error that a server gives one that it refuses.
 */
export type CatalogConfig =
  ({ implementation: 'dir' } & DirConfig) | ({ implementation: 'rest'; keyHint?: string | undefined } & RestConfig);

const isText = (value: unknown): boolean => typeof value === 'string';
const isCount = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value >= 0;
const isRecordOf =
  (isFine: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    isRecord(value) && Object.values(value).every((each) => each === undefined || isFine(each));

type Checks<C> = Record<Extract<keyof C, string>, (value: unknown) => boolean>;

const dirChecks: Checks<DirConfig> = { root: isText, storageOptions: isRecordOf(isText) };

const restChecks: Omit<Checks<RestConfig & { keyHint?: string }>, `headers.${string}`> = {
  uri: isText,
  keyHint: isText,
  apiKey: isText,
  token: isText,
  database: isText,
  databasePrefix: isText,
  headerNames: isRecordOf(isText),
  headers: isRecordOf(isText),
  endpoint: isText,
  ca: isText,
  proxy: isText,
  delimiter: isText,
  timeouts: isRecordOf(isCount),
  retries: isCount,
};

/** Whether something that came from another process is the configuration of a catalog, in the types of its parts. */
export function isCatalogConfig(value: unknown): value is CatalogConfig {
  if (!isRecord(value)) return false;
  const { implementation, ...config } = value;
  if (implementation === 'dir') return isText(config['root']) && fits(config, dirChecks);
  return implementation === 'rest' && isText(config['uri']) && fits(config, restChecks);
}

/** The first property whose value has another type than the implementation takes; unknown ones are not looked at. */
export function mistypedProperty(
  implementation: CatalogConfig['implementation'],
  config: Readonly<Record<string, unknown>>,
): string | undefined {
  const checks: Record<string, (value: unknown) => boolean> = implementation === 'dir' ? dirChecks : restChecks;
  return Object.keys(config).find((key) => {
    const isKnown = Object.hasOwn(checks, key) || (implementation === 'rest' && key.startsWith('headers.'));
    return isKnown && !fits({ [key]: config[key] }, checks);
  });
}

function fits(config: Record<string, unknown>, checks: Record<string, (value: unknown) => boolean>): boolean {
  return Object.entries(config).every(([key, value]) => {
    if (value === undefined) return true;
    const check = Object.hasOwn(checks, key) ? checks[key] : key.startsWith('headers.') ? isText : undefined;
    return check?.(value) === true;
  });
}

// What a string in a cell names: a table, a namespace or a column of a catalog. Who reads the code finds it, and who has
// the catalog says what there is.

/** A table as code opens it. */
export type NamedTable = { catalog: string; name: string; namespacePath: readonly string[] };

export type Naming = {
  /** What a name that is chosen takes the place of, in UTF-16 units. */
  start: number;
  end: number;
  /** The quote that the string began with, for which names are escaped; empty in SQL of its own. */
  quote: '"' | "'" | '`' | '';
  what:
    | { kind: 'table'; catalog: string; namespacePath: readonly string[] }
    | { kind: 'namespace'; catalog: string; parent: readonly string[] }
    /** A name alone, or in a filter or another expression of SQL. */
    | { kind: 'column'; table: NamedTable | { variable: string }; isSql: boolean }
    /** In a query: a table or a namespace, by itself or as a path in quotes, `"shop/eu`. */
    | { kind: 'sqlTable'; catalog: string; namespacePath: readonly string[]; isPath: boolean }
    /** In a query: a column of one of these. */
    | { kind: 'sqlColumn'; catalog: string; tables: readonly NamedTable[] };
};

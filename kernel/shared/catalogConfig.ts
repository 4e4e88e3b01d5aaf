import { isRecord } from './records.ts';
import { type Check, isNonNegativeNumber, isString, mapOf, optional } from './shape.ts';

/** Configuration of a directory catalog. */
export type DirConfig = {
  /** A directory, or a URL in an object store such as `s3://bucket/path`. */
  root: string;
  /** Settings of the object store, with the names that its own client uses. */
  storageOptions?: Record<string, string>;
};

/** Configuration of a catalog on a server. */
export type RestConfig = {
  /** URL of the server, for example `https://catalog.example.com`. */
  uri: string;
  /**
   * Sent as `x-api-key`. A key is a secret and must never be in logs or errors. `token` is a secret too, and `headers`
   * may contain one.
   */
  apiKey?: string | undefined;
  /** Sent as `Authorization: Bearer …`. */
  token?: string | undefined;
  /** Sent as `x-service-database`, except to a host that names the database: `<database>.<region>.api.<domain>`. */
  database?: string | undefined;
  /** Sent as `x-service-database-prefix`. */
  databasePrefix?: string | undefined;
  /** Other names of the two database headers. Some servers call the first `x-lancedb-database`. */
  headerNames?: { database?: string | undefined; databasePrefix?: string | undefined } | undefined;
  /** Headers that are sent with every request. */
  headers?: Record<string, string> | undefined;
  /** The same headers with one property for each: `'headers.x-team': 'data'`. */
  [header: `headers.${string}`]: string | undefined;
  /**
   * Host to connect to instead of the host in `uri`, such as a private endpoint or a tunnel. The `Host` header and the
   * certificate must still name the host in `uri`.
   */
  endpoint?: string | undefined;
  /** CA certificates in PEM for the server's certificate, in addition to the certificates that Node.js trusts. */
  ca?: string | undefined;
  /** URL of a proxy. Default: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` of the environment. */
  proxy?: string | undefined;
  /** Delimiter of identifier components in URLs. Default: `$`. */
  delimiter?: string | undefined;
  /**
   * Milliseconds; 0 for none. Default: `connect` 10,000, `headers` and `body` (between two chunks) 300,000, `json` (the
   * whole body of a response that is not a stream of rows) 60,000.
   */
  timeouts?:
    | {
        connect?: number | undefined;
        headers?: number | undefined;
        body?: number | undefined;
        json?: number | undefined;
      }
    | undefined;
  /** Retries of an idempotent request after 429, 503 and broken connections. Default: 3. */
  retries?: number | undefined;
};

/**
 * A catalog's configuration, as sent from one process to another. The configuration may hold secrets, so it is only
 * sent over pipes. `keyHint` explains how the user changes the key. The error for a rejected key contains this
 * explanation.
 */
export type CatalogConfig =
  ({ implementation: 'dir' } & DirConfig) | ({ implementation: 'rest'; keyHint?: string | undefined } & RestConfig);

const areStrings = mapOf(optional(isString));

type Checks<C> = Record<Extract<keyof C, string>, Check>;

const dirChecks: Checks<DirConfig> = { root: isString, storageOptions: areStrings };

const restChecks: Omit<Checks<RestConfig & { keyHint?: string }>, `headers.${string}`> = {
  uri: isString,
  keyHint: isString,
  apiKey: isString,
  token: isString,
  database: isString,
  databasePrefix: isString,
  headerNames: areStrings,
  headers: areStrings,
  endpoint: isString,
  ca: isString,
  proxy: isString,
  delimiter: isString,
  timeouts: mapOf(optional(isNonNegativeNumber)),
  retries: isNonNegativeNumber,
};

/** Whether a value from another process is a catalog configuration; checks the types of all properties. */
export function isCatalogConfig(value: unknown): value is CatalogConfig {
  if (!isRecord(value)) return false;
  const { implementation, ...config } = value;
  if (implementation === 'dir') return isString(config['root']) && fits(config, dirChecks);
  return implementation === 'rest' && isString(config['uri']) && fits(config, restChecks);
}

/** Returns the first property with a wrong type; unknown properties are ignored. */
export function mistypedProperty(
  implementation: CatalogConfig['implementation'],
  config: Readonly<Record<string, unknown>>,
): string | undefined {
  const checks: Record<string, Check> = implementation === 'dir' ? dirChecks : restChecks;
  return Object.keys(config).find((key) => {
    const isKnown = Object.hasOwn(checks, key) || (implementation === 'rest' && key.startsWith('headers.'));
    return isKnown && !fits({ [key]: config[key] }, checks);
  });
}

function fits(config: Record<string, unknown>, checks: Record<string, Check>): boolean {
  return Object.entries(config).every(([key, value]) => {
    if (value === undefined) return true;
    const check = Object.hasOwn(checks, key) ? checks[key] : key.startsWith('headers.') ? isString : undefined;
    return check?.(value) === true;
  });
}

// `Naming` describes the table, namespace or column that a string in a cell names. The code analysis returns it, and
// the process that has the catalog looks up the names.

export type NamedTable = { catalog: string; name: string; namespacePath: readonly string[] };

export type Naming = {
  /** The range that a chosen name replaces, in UTF-16 units. */
  start: number;
  end: number;
  /** The quote of the string, for which names are escaped; empty in SQL outside a string. */
  quote: '"' | "'" | '`' | '';
  what:
    /** A table of one namespace. */
    | { kind: 'table'; catalog: string; namespacePath: readonly string[] }
    /**
     * A table of any namespace, if the string is the only argument of a call. If `isClosed`, the range includes the
     * quote that closes the string, because the completion may add the namespace as the second argument.
     */
    | { kind: 'anyTable'; catalog: string; isClosed: boolean }
    | { kind: 'namespace'; catalog: string; parent: readonly string[] }
    /** A table or a namespace in `parent`. */
    | { kind: 'child'; catalog: string; parent: readonly string[] }
    /** A column: a bare name, or a name within a filter or another SQL expression (`isSql`). */
    | { kind: 'column'; table: NamedTable | { variable: string }; isSql: boolean }
    /** In a query: a table in or below a namespace, written with all its namespaces. */
    | { kind: 'sqlAnyTable'; catalog: string; namespacePath: readonly string[] }
    /** In a query: a table or a namespace, as a name or as a quoted path, `"shop/eu`. */
    | { kind: 'sqlTable'; catalog: string; namespacePath: readonly string[]; isPath: boolean }
    /** In a query: a column of one of `tables`. */
    | { kind: 'sqlColumn'; catalog: string; tables: readonly NamedTable[] };
};

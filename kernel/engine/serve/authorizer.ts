import type { IncomingMessage } from 'node:http';
import { type Operation, readingOperations } from '#catalog/contract.ts';
import type { RequestInfo } from '#engine/server/server.ts';
import { CatalogError } from '#shared/errors.ts';
import { displayPath, nameProblem, type NamespacePath } from '#shared/names.ts';
import { checkRootNamespace, parseBasePath } from './basePath.ts';
import { joinRoot, type Database } from './databases.ts';
import { type HostRoute, routeOfHost } from './hosts.ts';
import type { KeyStore } from './keyStore.ts';
import type { Access, ApiKey } from './keys.ts';

/** Whether a key permits an operation. A request without a known operation is permitted, because it changes nothing. */
const isOperationAllowed = (access: Access, operation: Operation | undefined): boolean =>
  access === 'read-write' || operation === undefined || readingOperations.has(operation);

/**
 * The key and the database of a request. If the request has a prefix, the root is the folder `prefix` below the root of
 * the database.
 */
export type Caller = {
  readonly key: ApiKey;
  readonly database: Database;
  readonly prefix?: string | undefined;
  /** The namespace that the base path of the URL names, below the namespace of the key. */
  readonly basePath: NamespacePath;
  /** The namespace that is the root for the request: the namespace of the key, followed by that of the base path. */
  readonly namespacePath: NamespacePath;
};

type GateOptions = {
  keys: KeyStore;
  databases: readonly Database[];
  /** The address that the server listens on. */
  host: string;
  publicHosts: readonly string[];
};

/** The headers that name a database; LanceDB's remote client sends the second one. */
const databaseHeaders = ['x-service-database', 'x-lancedb-database'] as const;
export const prefixHeaders = ['x-service-database-prefix', 'x-lancedb-database-prefix'] as const;

/** Authorizes requests for a database by headers alone, before any of the body is read. */
export class Authorizer {
  readonly #options: GateOptions;
  readonly #callers = new WeakMap<IncomingMessage, Caller>();

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /**
   * Refuses requests that a browser sends for a web page, and requests for another host.
   * @throws CatalogError PermissionDenied (15)
   */
  checkOrigin({ headers }: IncomingMessage): HostRoute {
    if (headers.origin !== undefined) {
      throw new CatalogError(
        'PermissionDenied',
        'Requests from web pages are refused.',
        'Send the request without an Origin header.',
      );
    }
    const { host, publicHosts } = this.#options;
    const route = routeOfHost(headers.host, host, publicHosts);
    if (route.allowed) return route;
    throw new CatalogError(
      'PermissionDenied',
      'The Host header of the request does not name this server.',
      'Use a host name that the server was started with (--public-host).',
    );
  }

  /** Returns the API key of a request. @throws CatalogError Unauthenticated (16) */
  checkKey({ headers }: IncomingMessage): ApiKey {
    const presented = oneOf(headers, ['x-api-key']) ?? bearer(headers.authorization);
    const key = this.#options.keys.find(presented ?? '');
    if (key) return key;
    throw new CatalogError(
      'Unauthenticated',
      presented === undefined ? 'The request has no API key.' : 'This server does not know the API key.',
      'Send a key of this server as x-api-key.',
    );
  }

  /**
   * Authorizes a request and records its caller.
   * @throws CatalogError PermissionDenied (15), Unauthenticated (16), NamespaceNotFound (1) for an unknown database,
   * InvalidInput (13) if the headers do not name one database
   */
  authorize(request: IncomingMessage, { operation }: RequestInfo): void {
    const route = this.checkOrigin(request);
    const key = this.checkKey(request);
    const { namespacePath: basePath, problem } = parseBasePath(request.url ?? '');
    if (problem) throw problem;
    const namespacePath = [...key.namespacePath, ...basePath];
    checkRootNamespace(namespacePath);
    this.#callers.set(request, { key, ...this.#placeOf(request, route, key), basePath, namespacePath });
    if (!isOperationAllowed(key.access, operation)) {
      throw new CatalogError('PermissionDenied', `The key "${key.name}" is read-only.`, 'Use another key.');
    }
  }

  /** Returns the caller of a request; `undefined` if it was refused before its key and database were known. */
  callerOf(request: IncomingMessage): Caller | undefined {
    return this.#callers.get(request);
  }

  #placeOf({ headers }: IncomingMessage, route: HostRoute, key: ApiKey): Pick<Caller, 'database' | 'prefix'> {
    const named = this.#nameIn(headers, route);
    if (named !== undefined && route.database !== undefined && named.toLowerCase() !== route.database) {
      throw new CatalogError(
        'InvalidInput',
        'The host and the header name different databases.',
        'Name only one of them.',
      );
    }
    const opens = (name: string): boolean => key.databases === '*' || key.databases.includes(name);
    const prefix = prefixOf(headers);
    const ofHost = named === undefined ? route.database : undefined;
    const given = named ?? ofHost;
    const { asked, folders } = given === undefined ? this.#byPrefix(prefix, opens) : { asked: given, folders: prefix };
    // Names are also compared in lower case, because host names have no uppercase letters, but database names may.
    const isAsked = ({ name }: Database): boolean => name === asked || name.toLowerCase() === ofHost;
    const database = this.#options.databases.find(isAsked);
    const name = database?.name ?? asked;
    // The key is checked before the existence of the database, because a client must not learn whether a database
    // exists that its key does not open.
    if (!opens(name)) {
      throw new CatalogError(
        'PermissionDenied',
        `The key "${key.name}" does not open the database "${asked}".`,
        'Use another key, or a database that this key opens.',
      );
    }
    if (!database) {
      throw new CatalogError(
        'NamespaceNotFound',
        `There is no database "${asked}" on this server.`,
        given === undefined
          ? `Name another database in ${prefixHeaders[0]}.`
          : `${otherDatabase(headers, asked, named === undefined)}, or start the server with --database ${asked}=DIR.`,
      );
    }
    if (folders.length === 0) return { database };
    if (key.namespacePath.length > 0) {
      // A folder is a separate catalog: a namespace of the same name in it is not the one that the key opens.
      throw new CatalogError(
        'PermissionDenied',
        `The key "${key.name}" opens only the namespace "${displayPath(key.namespacePath)}", and no folder.`,
        `Leave the folder out of ${prefixHeaders[0]}.`,
      );
    }
    const root = folders.reduce((place, folder) => joinRoot(place, folder) ?? place, database.root);
    return { database: { name: database.name, root }, prefix: folders.join('/') };
  }

  /**
   * Returns the database that a header names. LanceDB's remote client can't leave the name out (`db://NAME`). So on a
   * server that was started without names, every name in its header means the only database. The key must still open
   * that database.
   */
  #nameIn(headers: IncomingMessage['headers'], route: HostRoute): string | undefined {
    const [only] = this.#options.databases;
    const isChosen = route.database !== undefined || oneOf(headers, [databaseHeaders[0]]) !== undefined;
    const named = oneOf(headers, databaseHeaders);
    return named !== undefined && only?.isUnnamed && !isChosen ? only.name : named;
  }

  /**
   * Resolves the database of a request that names no database by header or host. If the key opens several databases,
   * the first segment of the prefix names the database. If the key opens only one, that database is used, and the
   * prefix may start with its name.
   * @throws CatalogError InvalidInput (13) if the database is ambiguous, PermissionDenied (15) if the key opens no
   * database
   */
  #byPrefix(
    prefix: readonly string[],
    opens: (name: string) => boolean,
  ): { asked: string; folders: readonly string[] } {
    const open = this.#options.databases.filter(({ name }) => opens(name));
    const [only, ...others] = open;
    if (!only)
      throw new CatalogError('PermissionDenied', 'The key opens no database of this server.', 'Use another key.');
    const [first, ...folders] = prefix;
    if (first !== undefined && (others.length > 0 || only.name === first)) return { asked: first, folders };
    if (others.length === 0) return { asked: only.name, folders: prefix };
    throw new CatalogError(
      'InvalidInput',
      'The request names no database.',
      `Name a database in ${databaseHeaders[0]}, or start ${prefixHeaders[0]} with its name.`,
    );
  }
}

/** Returns how the client can name another database: in the place where it named this one. */
function otherDatabase(headers: IncomingMessage['headers'], asked: string, isOfHost: boolean): string {
  if (isOfHost) return 'Name another database in the first label of the host';
  if (oneOf(headers, [databaseHeaders[0]]) !== undefined) return `Name another database in ${databaseHeaders[0]}`;
  // Users of LanceDB's client do not see the header.
  return `Connect to another database than "db://${asked}"`;
}

/**
 * Returns the segments of the prefix header. Each segment must be a valid name, so that the prefix can't lead out of
 * the database.
 */
function prefixOf(headers: IncomingMessage['headers']): string[] {
  const steps = oneOf(headers, prefixHeaders)?.split('/') ?? [];
  if (!steps.some((step) => nameProblem('namespace', step))) return steps;
  throw new CatalogError(
    'InvalidInput',
    `${prefixHeaders[0]} is not a path of names.`,
    'Send names with "/" between them.',
  );
}

function oneOf(headers: IncomingMessage['headers'], names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

const bearer = (header: string | undefined): string | undefined => /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];

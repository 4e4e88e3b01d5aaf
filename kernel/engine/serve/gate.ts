import type { IncomingMessage } from 'node:http';
import { CatalogError } from '#shared/errors.ts';
import { nameProblem } from '#shared/names.ts';
import type { Asked } from '#engine/server.ts';
import { permits } from './access.ts';
import { below, type Database } from './databases.ts';
import { routeOfHost, type HostRoute } from './hosts.ts';
import type { KeyRing } from './keyRing.ts';
import type { ApiKey } from './keys.ts';

/** Who asks, and of what. */
export type Caller = { readonly key: ApiKey; readonly database: Database };

export type GateOptions = {
  keys: KeyRing;
  databases: readonly Database[];
  /** The address that the server listens on. */
  host: string;
  publicHosts: readonly string[];
};

/** The headers that name a database; the second is what upstream's own clients send. */
const databaseHeaders = ['x-service-database', 'x-lancedb-database'] as const;
const prefixHeaders = ['x-service-database-prefix', 'x-lancedb-database-prefix'] as const;

/** Decides who may ask what of which database, by headers alone: nothing of a body is read before. */
export class Gate {
  readonly #options: GateOptions;
  readonly #callers = new WeakMap<IncomingMessage, Caller>();

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /**
   * Refuses requests that a web page made a browser send, and those for another host.
   * @throws CatalogError PermissionDenied (15)
   */
  checkOrigin({ headers }: IncomingMessage): HostRoute {
    if (headers.origin !== undefined) {
      throw new CatalogError('PermissionDenied', 'Requests from web pages are refused.', 'Ask without an Origin.');
    }
    const { host, publicHosts } = this.#options;
    const route = routeOfHost(headers.host, host, publicHosts);
    if (route.allowed) return route;
    throw new CatalogError(
      'PermissionDenied',
      'The request names another host than this server.',
      'Ask by the name that the server was started with (--public-host).',
    );
  }

  /** The key in a request. @throws CatalogError Unauthenticated (16) */
  checkKey({ headers }: IncomingMessage): ApiKey {
    const presented = oneOf(headers, ['x-api-key']) ?? bearer(headers.authorization);
    const key = this.#options.keys.find(presented ?? '');
    if (key) return key;
    throw new CatalogError(
      'Unauthenticated',
      presented === undefined ? 'The request carries no API key.' : 'The API key is not known here.',
      'Send a key of this server as x-api-key.',
    );
  }

  /**
   * Lets a request pass, and keeps who sent it.
   * @throws CatalogError PermissionDenied (15), Unauthenticated (16), NamespaceNotFound (1) for an unknown database
   */
  authorize(request: IncomingMessage, { operation }: Asked): void {
    const route = this.checkOrigin(request);
    const key = this.checkKey(request);
    const database = this.#databaseOf(request, route, key);
    this.#callers.set(request, { key, database });
    if (!permits(key.access, operation)) {
      throw new CatalogError('PermissionDenied', `The key "${key.name}" is for reading only.`, 'Ask with another key.');
    }
  }

  /** Who sent a request; `undefined` where it did not get as far. */
  callerOf(request: IncomingMessage): Caller | undefined {
    return this.#callers.get(request);
  }

  #databaseOf({ headers }: IncomingMessage, route: HostRoute, key: ApiKey): Database {
    const named = oneOf(headers, databaseHeaders);
    if (named !== undefined && route.database !== undefined && named.toLowerCase() !== route.database) {
      throw new CatalogError('InvalidInput', 'The host and the header name two databases.', 'Name one of them.');
    }
    const opens = (name: string): boolean => key.databases === '*' || key.databases.includes(name);
    const asked = named ?? route.database ?? this.#onlyOne(opens);
    // A host has no capital letters, and a database may have some.
    const isAsked = ({ name }: Database): boolean => name === asked || (!named && name.toLowerCase() === asked);
    const database = this.#options.databases.find(isAsked);
    const name = database?.name ?? asked;
    // Before it is said whether it is there: a key that does not open it has no business knowing whether it is there.
    if (!opens(name)) {
      throw new CatalogError(
        'PermissionDenied',
        `The key "${key.name}" does not open the database "${asked}".`,
        'Ask with another key, or for a database that it opens.',
      );
    }
    if (!database) {
      throw new CatalogError(
        'NamespaceNotFound',
        `There is no database "${asked}" on this server.`,
        `Name another in ${databaseHeaders[0]}.`,
      );
    }
    const prefix = oneOf(headers, prefixHeaders);
    return prefix === undefined ? database : { name, root: placeOf(database.root, prefix) };
  }

  /** The database of a request that names none: the one that there is, for this key. */
  #onlyOne(opens: (name: string) => boolean): string {
    const [first, ...others] = this.#options.databases.filter(({ name }) => opens(name));
    if (first && others.length === 0) return first.name;
    throw first
      ? new CatalogError('InvalidInput', 'The request names no database.', `Name one in ${databaseHeaders[0]}.`)
      : new CatalogError('PermissionDenied', 'The key opens no database of this server.', 'Ask with another key.');
  }
}

/** A prefix names a folder below a database's root, and never leaves it. */
function placeOf(root: string, prefix: string): string {
  let place = root;
  for (const part of prefix.split('/')) {
    if (nameProblem('namespace', part)) {
      throw new CatalogError(
        'InvalidInput',
        `${prefixHeaders[0]} is no path in a database.`,
        'Send names with "/" between them.',
      );
    }
    place = below(place, part) ?? place;
  }
  return place;
}

function oneOf(headers: IncomingMessage['headers'], names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

const bearer = (header: string | undefined): string | undefined => /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];

import { availableParallelism } from 'node:os';
import { CatalogError } from '#shared/errors.ts';
import type { ServerJobs } from '#engine/server/serverJobs.ts';
import type { CertificateFiles } from './certificate.ts';
import type { Database } from './databases.ts';
import { isLoopback } from './hosts.ts';
import type { KeySource } from './keyStore.ts';
import type { Vending } from './tableCredentials.ts';

/** Resource limits of a server. */
export type ServeLimits = {
  /** Maximum bytes of a request with rows. */
  bodyBytes: number;
  /** Milliseconds that a whole JSON body may take. */
  jsonTime: number;
  /** Milliseconds without progress after which a request or response is cut off. */
  idle: number;
  /** Concurrent requests; further ones are refused with 503. */
  requests: number;
  /** Maximum bytes of a JSON body, which is parsed at once. */
  jsonBytes: number;
  /** Maximum bytes of the JSON bodies of all concurrent requests. */
  allJsonBytes: number;
  /**
   * Maximum share of the concurrent requests, and of the bytes of their JSON bodies, for one key. Not applied to a
   * single key.
   */
  keyShare: number;
  connections: number;
  /** Connections from one address on which no key was seen; without effect behind a proxy. */
  keylessPerAddress: number;
  /** Milliseconds that an idle connection stays open if no key was seen on it. */
  keylessKeepAlive: number;
  /** Milliseconds that running requests may take after the server is told to stop. */
  grace: number;
  /** Processes for requests with SQL, text to search or a vector. */
  queryProcesses: number;
  /** Bytes that each of the query processes may use. */
  queryMemory: number;
  /**
   * Milliseconds that a request in a query process may keep its client waiting, for the first rows or for the next
   * ones.
   */
  queryTime: number;
  /** Like `queryTime`, for requests that change a table. */
  writeTime: number;
};

export const defaultServeLimits: ServeLimits = {
  bodyBytes: 64 * 1024 ** 3,
  jsonTime: 30_000,
  idle: 120_000,
  requests: 256,
  jsonBytes: 2 * 1024 ** 2,
  allJsonBytes: 16 * 1024 ** 2,
  keyShare: 0.75,
  connections: 2048,
  keylessPerAddress: 256,
  keylessKeepAlive: 5000,
  grace: 30_000,
  queryProcesses: Math.max(4, availableParallelism() + 2),
  queryMemory: 1400 * 1024 ** 2,
  queryTime: 20_000,
  writeTime: 600_000,
};

/**
 * Milliseconds that an idle connection with a key stays open. The time is longer than that of usual load balancers,
 * because the client should close the connection first.
 */
export const keepAliveMs = 75_000;

export type ServeOptions = {
  databases: readonly Database[];
  /** Settings of the object store that contains the roots. May hold secrets. */
  storageOptions?: Record<string, string> | undefined;
  host: string;
  /** The port to listen on; 0 for any free port. */
  port: number;
  keys: KeySource;
  tls?: CertificateFiles | undefined;
  /** Whether a proxy in front terminates TLS. */
  behindProxy: boolean;
  /** Names by which clients reach the server, in addition to its listen address. */
  publicHosts: readonly string[];
  /** Runs jobs; without it the server offers none. */
  jobs?: ServerJobs | undefined;
  /** Vends credentials for the files of tables; without it the server vends none. */
  vending?: Vending | undefined;
  limits?: Partial<ServeLimits> | undefined;
  /** Takes a line of the log. */
  write: (line: string) => void;
};

/**
 * Refuses options that would expose tables or keys.
 * @throws CatalogError InvalidInput (13)
 */
export function checkExposure({ host, keys, tls, behindProxy }: ServeOptions): void {
  if (keys.kind === 'none' && (!isLoopback(host) || behindProxy)) {
    throw new CatalogError(
      'InvalidInput',
      'A server that other machines can reach needs keys.',
      'Pass --keys FILE or --api-key-env NAME instead of --no-auth.',
    );
  }
  if (isLoopback(host) || tls || behindProxy) return;
  throw new CatalogError(
    'InvalidInput',
    `Keys and rows would be sent without encryption at "${host}".`,
    'Pass --tls-cert and --tls-key, or --behind-proxy if a proxy handles TLS.',
  );
}

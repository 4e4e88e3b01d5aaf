import { CatalogError } from '#shared/errors.ts';
import type { ServerJobs } from '#engine/server/serverJobs.ts';
import type { CertificateFiles } from './certificate.ts';
import type { Database } from './databases.ts';
import { isLoopback } from './hosts.ts';
import type { KeySource } from './keyRing.ts';

/** What a server costs at most. */
export type ServeLimits = {
  /** Bytes of a request with rows. */
  bodyBytes: number;
  /** Milliseconds that a request or an answer may stand still. */
  idle: number;
  /** Requests at a time; more are told to come again. */
  requests: number;
  connections: number;
  /** Milliseconds for the requests under way when the server is told to end. */
  grace: number;
};

export const defaultServeLimits: ServeLimits = {
  bodyBytes: 64 * 1024 ** 3,
  idle: 120_000,
  requests: 256,
  connections: 2048,
  grace: 30_000,
};

export type ServeOptions = {
  databases: readonly Database[];
  /** Settings of the object store that the roots are in. May hold secrets. */
  storageOptions?: Record<string, string> | undefined;
  host: string;
  /** 0 for a free one. */
  port: number;
  keys: KeySource;
  tls?: CertificateFiles | undefined;
  /** A proxy in front takes care of TLS. */
  behindProxy: boolean;
  /** Names by which clients know the server, beside the address that it listens on. */
  publicHosts: readonly string[];
  /** What runs jobs; none are where nothing does. */
  jobs?: ServerJobs | undefined;
  limits?: Partial<ServeLimits> | undefined;
  /** Takes a line of the log. */
  write: (line: string) => void;
};

/**
 * Refuses what would put tables or keys before everybody.
 * @throws CatalogError InvalidInput (13)
 */
export function checkExposure({ host, keys, tls, behindProxy }: ServeOptions): void {
  if (keys.kind === 'none' && (!isLoopback(host) || behindProxy)) {
    throw new CatalogError(
      'InvalidInput',
      'A server that others reach needs keys.',
      'Give --keys FILE or --api-key-env NAME instead of --no-auth.',
    );
  }
  if (isLoopback(host) || tls || behindProxy) return;
  throw new CatalogError(
    'InvalidInput',
    `Keys and rows would cross the network in the clear at "${host}".`,
    'Give --tls-cert and --tls-key, or --behind-proxy where a proxy takes care of TLS.',
  );
}

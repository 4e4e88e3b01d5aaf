import { networkInterfaces } from 'node:os';
import { isIP } from 'node:net';

export type HostRoute = {
  readonly allowed: boolean;
  /** The label before a known name, in lower case. */ readonly database?: string;
};

/** Returns the host without its port, in lower case; `undefined` if it is not a valid host. */
function hostName(header: string | undefined): string | undefined {
  const found = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(header ?? '')?.[1];
  return found?.toLowerCase().replace(/\.$/, '');
}

const bare = (host: string): string => host.replace(/^\[|\]$/g, '').toLowerCase();

/** Whether a listen address is reachable only from this machine. `localhost` is the only name trusted to stay local. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || bare(host) === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/**
 * Checks whether a request is meant for this server. A web page can point its own host name at a local address ("DNS
 * rebinding"): the browser then sends that name, and the request is refused. Allowed names are the public hosts and
 * `localhost`, also with a label in front that names a database. Allowed addresses are those that the server listens
 * on.
 */
export function routeOfHost(header: string | undefined, listen: string, publicHosts: readonly string[]): HostRoute {
  const host = hostName(header);
  if (host === undefined) return { allowed: false };
  const own = [...publicHosts.map((name) => name.toLowerCase()), 'localhost'];
  if (own.includes(host) || isOwnAddress(bare(host), bare(listen))) return { allowed: true };
  const dot = host.indexOf('.');
  return dot > 0 && own.includes(host.slice(dot + 1))
    ? { allowed: true, database: host.slice(0, dot) }
    : { allowed: false };
}

function isOwnAddress(host: string, listen: string): boolean {
  if (host === listen) return true;
  if (isIP(host) === 0) return false;
  if (isLoopback(listen)) return isLoopback(host);
  // A wildcard address covers every current address of this machine.
  if (listen !== '0.0.0.0' && listen !== '::') return false;
  return Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === host));
}

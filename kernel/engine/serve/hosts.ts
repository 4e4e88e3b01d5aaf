import { networkInterfaces } from 'node:os';
import { isIP } from 'node:net';

/** What a request's `Host` says. */
export type HostRoute = {
  readonly allowed: boolean;
  /** The label before a known name, lower-case. */ readonly database?: string;
};

/** The host without its port, lower-case; `undefined` for what is no host. */
function hostName(header: string | undefined): string | undefined {
  const found = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(header ?? '')?.[1];
  return found?.toLowerCase().replace(/\.$/, '');
}

const bare = (host: string): string => host.replace(/^\[|\]$/g, '').toLowerCase();

/** Whether only this machine reaches an address to listen on. Names but `localhost` are not trusted to stay what they are. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || bare(host) === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/**
 * Whether a request was meant for this server. A web page can point a name of its own at a local address ("DNS
 * rebinding"): the browser then sends that name, and it is none of ours. Names are those given as public ones and
 * `localhost`, with a label before them that names a database; addresses those that the server listens on.
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
  // "Everywhere" is every address that this machine has now.
  if (listen !== '0.0.0.0' && listen !== '::') return false;
  return Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === host));
}

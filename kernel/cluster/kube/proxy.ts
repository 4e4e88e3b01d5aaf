import { BlockList, isIP } from 'node:net';
import { withoutBrackets, isThisMachine } from '#processes/thisMachine.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Finds the proxy for a URL as `kubectl` does. The proxy in the kubeconfig comes first.
 * Otherwise the proxy is `HTTPS_PROXY` or `HTTP_PROXY`, depending on the URL, unless `NO_PROXY` contains the host.
 * Proxies of the environment never apply to this machine.
 */
export function proxyOf(server: URL, explicit: string | undefined, env: Environment): string | undefined {
  if (explicit !== undefined && explicit !== '') return explicit;
  if (isThisMachine(server.hostname)) return undefined;
  const scheme = server.protocol.slice(0, -1);
  const proxy = variable(env, `${scheme}_proxy`);
  if (proxy === undefined || isLeftOut(server, variable(env, 'no_proxy') ?? '')) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

/** Reads a variable. The lowercase name has precedence, and an empty value counts as unset, as in other tools. */
function variable(env: Environment, name: string): string | undefined {
  const value = env[name] || env[name.toUpperCase()];
  return value === '' ? undefined : value;
}

function isLeftOut(server: URL, list: string): boolean {
  const host = withoutBrackets(server.hostname).toLowerCase();
  const port = server.port || (server.protocol === 'https:' ? '443' : '80');
  return list
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry === '*' || (entry !== '' && fits(entry, host, port)));
}

function fits(entry: string, host: string, port: string): boolean {
  if (entry.includes('/')) return isInRange(entry, host);
  const [, name = entry, itsPort] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
  if (itsPort !== undefined && itsPort !== port) return false;
  const domain = withoutBrackets(name).replace(/^\*?\./, '');
  return host === domain || (isIP(host) === 0 && host.endsWith(`.${domain}`));
}

/** Returns whether a host is an address in a range such as `10.0.0.0/8`. */
function isInRange(entry: string, host: string): boolean {
  const [network = '', bits = ''] = entry.split('/');
  const family = isIP(network);
  const prefix = Number(bits);
  if (family === 0 || isIP(host) !== family || !(prefix >= 0 && prefix <= (family === 4 ? 32 : 128))) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const range = new BlockList();
  range.addSubnet(network, prefix, type);
  return range.check(host, type);
}

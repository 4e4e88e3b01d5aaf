import { getCACertificates } from 'node:tls';
import { buildConnector, EnvHttpProxyAgent, Pool, ProxyAgent, type Dispatcher } from 'undici';
import { CatalogError } from '#shared/errors.ts';
import { bare, isThisMachine } from '#processes/thisMachine.ts';

/** How the server is reached. */
export type Route = {
  url: URL;
  /** A Unix socket or named pipe instead of the network. */
  socketPath?: string | undefined;
  /** Connect there, as if it were the host of `url`. */
  endpoint?: { hostname: string; port: string } | undefined;
  /** Certificates to trust beside Node's own, PEM. */
  ca?: string | undefined;
  /** By this proxy, whatever the environment says. */
  proxy?: string | undefined;
  /** Milliseconds, 0 for none. */
  timeouts: { connect: number; headers: number; body: number };
};

/** A page of a panel and a few calls of a tree run beside each other; what is more waits. */
const connections = 16;

/**
 * Connections to one server, kept alive between requests. A socket and an endpoint are where to go, so no proxy stands
 * between; this machine itself is never reached by a proxy of the environment, which would look for it elsewhere.
 * @throws CatalogError InvalidInput (13) for a proxy in the environment that is no address
 */
export function openDispatcher(route: Route): Dispatcher {
  const { url, socketPath, endpoint, ca, proxy, timeouts } = route;
  const tls = ca === undefined ? {} : { ca: [...getCACertificates('default'), ca] };
  const common = {
    connections,
    // HTTP/2 would put a 10 GB scan and a click in the tree on one connection.
    allowH2: false,
    connectTimeout: timeouts.connect,
    headersTimeout: timeouts.headers,
    bodyTimeout: timeouts.body,
  };
  const connect = { ...tls, timeout: timeouts.connect, allowH2: false };
  if (socketPath !== undefined) return new Pool(url.origin, { ...common, socketPath });
  if (endpoint) return new Pool(url.origin, { ...common, connect: connectTo(endpoint, connect) });
  const proxied = { ...common, connect, requestTls: connect, proxyTls: connect };
  if (proxy !== undefined) return new ProxyAgent({ ...proxied, uri: proxy });
  if (!isThisMachine(url.hostname) && proxyInEnvironment()) {
    try {
      return new EnvHttpProxyAgent(proxied);
    } catch (cause) {
      // Not with the address: proxies' addresses hold passwords.
      throw new CatalogError(
        'InvalidInput',
        'The proxy in HTTPS_PROXY or HTTP_PROXY is no address.',
        'Correct the variable, or name the proxy for this catalog.',
        { cause: cause instanceof Error ? new Error(cause.name) : undefined },
      );
    }
  }
  return new Pool(url.origin, { ...common, connect });
}

/** Connects elsewhere. The name of the certificate and `Host` come of the request, which knows nothing of it. */
function connectTo(
  endpoint: { hostname: string; port: string },
  options: buildConnector.BuildOptions,
): buildConnector.connector {
  const connect = buildConnector(options);
  return (target, callback) => connect({ ...target, hostname: bare(endpoint.hostname), port: endpoint.port }, callback);
}

const proxyInEnvironment = (): boolean =>
  ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'].some((name) => (process.env[name] ?? '') !== '');

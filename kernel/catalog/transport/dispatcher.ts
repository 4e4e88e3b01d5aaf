import { getCACertificates } from 'node:tls';
import { buildConnector, EnvHttpProxyAgent, Pool, ProxyAgent, type Dispatcher } from 'undici';
import { CatalogError } from '#shared/errors.ts';
import { withoutBrackets, isThisMachine } from '#processes/thisMachine.ts';

/** How to reach the server. */
export type Route = {
  url: URL;
  /** A Unix socket or named pipe instead of the network. */
  socketPath?: string | undefined;
  /** Connect to this host instead of the host of `url`; TLS and `Host` still use `url`. */
  endpoint?: { hostname: string; port: string } | undefined;
  /** Certificates to trust in addition to Node's own, PEM. */
  ca?: string | undefined;
  /** Use this proxy instead of the proxies in the environment variables. */
  proxy?: string | undefined;
  /** Timeouts in milliseconds; 0 means no limit. */
  timeouts: { connect: number; headers: number; body: number };
};

/**
 * Maximum number of parallel connections: enough for a page of a panel and a few calls of the tree. Further requests
 * wait.
 */
const connections = 16;

/**
 * Opens connections to one server, kept alive between requests. A socket or an endpoint is used without a proxy. For a
 * server on this machine, proxies of the environment are never used, because a proxy would take "localhost" for its own
 * host.
 * @throws CatalogError InvalidInput (13) if a proxy in the environment is not a URL
 */
export function openDispatcher(route: Route): Dispatcher {
  const { url, socketPath, endpoint, ca, proxy, timeouts } = route;
  const tls = ca === undefined ? {} : { ca: [...getCACertificates('default'), ca] };
  const common = {
    connections,
    // HTTP/2 is off, because it would put a 10 GB scan and a click in the tree on the same connection.
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
      // The message omits the URL: proxy URLs contain passwords.
      throw new CatalogError(
        'InvalidInput',
        'The value of HTTPS_PROXY or HTTP_PROXY is not a URL.',
        'Correct the variable, or set a proxy for this catalog.',
        { cause: cause instanceof Error ? new Error(cause.name) : undefined },
      );
    }
  }
  return new Pool(url.origin, { ...common, connect });
}

/** Connects to `endpoint`. The certificate name and `Host` are still those of the request's URL. */
function connectTo(
  endpoint: { hostname: string; port: string },
  options: buildConnector.BuildOptions,
): buildConnector.connector {
  const connect = buildConnector(options);
  return (target, callback) =>
    connect({ ...target, hostname: withoutBrackets(endpoint.hostname), port: endpoint.port }, callback);
}

const proxyInEnvironment = (): boolean =>
  ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'].some((name) => (process.env[name] ?? '') !== '');

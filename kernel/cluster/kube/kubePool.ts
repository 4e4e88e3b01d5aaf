import { Socket } from 'node:net';
import { TLSSocket, type PeerCertificate } from 'node:tls';
import { buildConnector, Pool, ProxyAgent, type Dispatcher } from 'undici';
import { ClusterError } from '#cluster/errors.ts';
import type { KubeCredential } from './credential.ts';
import type { KubeTarget } from './kubeTarget.ts';
import { proxyOf } from './proxy.ts';

/** Milliseconds until a connection stands, and without a byte of a reply. */
const timeouts = { connect: 10_000, headers: 30_000, body: 30_000 } as const;

/** What connects: a certificate of the client belongs to a connection and not to a request. */
type ClientCertificate = Pick<KubeCredential, 'clientCertificate' | 'clientKey'>;

/**
 * The connections of one run to one API server. The client of Kubernetes would open a new one for every request: two
 * dozen handshakes where one does.
 */
export class KubePool {
  readonly #target: KubeTarget;
  readonly #open = new Map<string, Dispatcher>();
  /** What is in the middle of connecting, which a dispatcher that is destroyed leaves alone. */
  readonly #connecting = new Set<Socket>();
  #closed = false;
  /** What the server showed at the last handshake; not known through a proxy. */
  peer: PeerCertificate | undefined;

  constructor(target: KubeTarget) {
    this.#target = target;
  }

  /** Host and port of the proxy in between, for people; the rest of its address may be a password. */
  get proxy(): string | undefined {
    const { server, proxyUrl } = this.#target;
    const proxy = proxyOf(new URL(server), proxyUrl, process.env);
    return proxy !== undefined && URL.canParse(proxy) ? new URL(proxy).host : undefined;
  }

  /** @throws ClusterError ProfileInvalid for a proxy that is no address */
  dispatcherFor(credential: ClientCertificate): Dispatcher {
    if (this.#closed) throw new ClusterError('Aborted', 'The connection to the cluster was closed.', '');
    // A server looks at the certificate first, so a token of somebody else needs a connection without one.
    const key = `${credential.clientCertificate ?? ''}\n${credential.clientKey ?? ''}`;
    const open = this.#open.get(key);
    if (open) return open;
    const dispatcher = this.#openDispatcher(credential);
    this.#open.set(key, dispatcher);
    return dispatcher;
  }

  /** Cuts what is still open; whoever waits for a reply there is told. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const socket of this.#connecting) socket.destroy();
    await Promise.all([...this.#open.values()].map((dispatcher) => dispatcher.destroy()));
    this.#open.clear();
  }

  #openDispatcher({ clientCertificate: cert, clientKey: key }: ClientCertificate): Dispatcher {
    const { server, ca, tlsServerName: servername, skipTlsVerify, proxyUrl } = this.#target;
    const url = new URL(server);
    const tls = {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(servername === undefined ? {} : { servername }),
      rejectUnauthorized: !skipTlsVerify,
      timeout: timeouts.connect,
      allowH2: false,
    };
    // HTTP/2 is no faster for two dozen small replies, and is less often let through by what stands in between.
    const common = { headersTimeout: timeouts.headers, bodyTimeout: timeouts.body, connections: 4, allowH2: false };
    const proxy = proxyOf(url, proxyUrl, process.env);
    if (proxy === undefined) return new Pool(url.origin, { ...common, connect: this.#connector(tls) });
    try {
      return new ProxyAgent({ ...common, uri: proxy, requestTls: tls });
    } catch {
      // Not with the address: those of proxies hold passwords.
      throw new ClusterError(
        'ProfileInvalid',
        'The proxy for the cluster is no address.',
        'Correct proxy-url in the kubeconfig, or HTTPS_PROXY in the environment.',
      );
    }
  }

  /** Connects, and remembers the certificate that the server shows. */
  #connector(tls: buildConnector.BuildOptions): buildConnector.connector {
    const connect = buildConnector(tls);
    return (target, callback) => {
      // It gives the socket that it makes, whatever its type says.
      const making: unknown = connect(target, (...result) => {
        if (making instanceof Socket) this.#connecting.delete(making);
        const [, socket] = result;
        if (socket instanceof TLSSocket) this.peer = socket.getPeerCertificate();
        callback(...result);
      });
      if (making instanceof Socket) this.#connecting.add(making);
    };
  }
}

import { Socket } from 'node:net';
import { type PeerCertificate, TLSSocket } from 'node:tls';
import type { KubeConfig } from '@kubernetes/client-node';
import { buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { loadLazy } from '#shared/loadLazy.ts';
import type { CredentialSource, KubeCredential, KubeTarget } from './credential.ts';
import {
  abortedError,
  type Impersonation,
  type KubeAsk,
  type KubeReply,
  sendRequest,
  requestLabel,
} from './kubeRequest.ts';
import { proxyOf } from './proxy.ts';
import { unauthorizedError } from './refused.ts';

/** Time limits in milliseconds: to connect, until the headers of a reply arrive, and without new data of its body. */
const timeouts = { connect: 10_000, headers: 30_000, body: 30_000 } as const;

/** The credential that selects a connection. A client certificate belongs to a connection, not to a request. */
type ClientCertificate = Pick<KubeCredential, 'clientCertificate' | 'clientKey'>;

/**
 * The connections of one run to one API server.
 * The Kubernetes client would connect again for each request, with two dozen handshakes instead of one.
 */
class KubePool {
  readonly #target: KubeTarget;
  readonly #open = new Map<string, Dispatcher>();
  /** Sockets that are connecting. They are closed one by one, because destroying a dispatcher does not close them. */
  readonly #connecting = new Set<Socket>();
  #closed = false;
  /** The server's certificate from the last handshake; unknown through a proxy. */
  peer: PeerCertificate | undefined;

  constructor(target: KubeTarget) {
    this.#target = target;
  }

  /** Host and port of the proxy, for display; the rest of its URL may hold a password. */
  get proxy(): string | undefined {
    const { server, proxyUrl } = this.#target;
    const proxy = proxyOf(new URL(server), proxyUrl, process.env);
    return proxy !== undefined && URL.canParse(proxy) ? new URL(proxy).host : undefined;
  }

  /** @throws ClusterError ProfileInvalid if the proxy is not a valid URL */
  dispatcherFor(credential: ClientCertificate): Dispatcher {
    if (this.#closed) throw new ClusterError('Aborted', 'The connection to the cluster was closed.', '');
    // Servers prefer the certificate of a connection, so a token of another identity needs a connection without a
    // certificate.
    const key = `${credential.clientCertificate ?? ''}\n${credential.clientKey ?? ''}`;
    const open = this.#open.get(key);
    if (open) return open;
    const dispatcher = this.#openDispatcher(credential);
    this.#open.set(key, dispatcher);
    return dispatcher;
  }

  /** Closes all connections; requests that wait for a reply fail. */
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
    // No HTTP/2, because two dozen small replies gain nothing from it, and proxies and gateways support it less often.
    const common = { headersTimeout: timeouts.headers, bodyTimeout: timeouts.body, connections: 4, allowH2: false };
    const proxy = proxyOf(url, proxyUrl, process.env);
    if (proxy === undefined) return new Pool(url.origin, { ...common, connect: this.#connector(tls) });
    try {
      return new ProxyAgent({ ...common, uri: proxy, requestTls: tls });
    } catch {
      // The message must not contain the URL, because proxy URLs hold passwords.
      throw new ClusterError(
        'ProfileInvalid',
        'The proxy for the cluster is not a valid URL.',
        'Correct proxy-url in the kubeconfig, or HTTPS_PROXY in the environment.',
      );
    }
  }

  #connector(tls: buildConnector.BuildOptions): buildConnector.connector {
    const connect = buildConnector(tls);
    return (target, callback) => {
      // `connect` returns the socket that it creates, although its type does not declare this.
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

export type KubeAccess = {
  readonly target: KubeTarget;
  readonly credential: CredentialSource;
  /** Where the address and the sign-in come from, for display: `~/.kube/config, context production`. */
  readonly source: string;
  /** The sign-in, for display: `the client certificate of alice`. */
  readonly signIn: string;
  /** The namespace of the context, if set. */
  readonly namespace?: string | undefined;
  /** The user to act as in every request, if the kubeconfig has one. */
  readonly impersonation?: Impersonation | undefined;
  readonly plugin?: PluginUse | undefined;
};

type PluginUse = {
  /** `aws eks get-token` */
  readonly command: string;
  /** The path of the program, or `undefined` if it is missing. */
  readonly program: string | undefined;
  /** The credentials that replace a missing program. */
  readonly replacedBy: 'AWS' | 'Google Cloud' | undefined;
};

/** An API server with a sign-in. Sends nothing by itself; its creator closes it. */
export class KubeConnection {
  readonly access: KubeAccess;
  readonly #pool: KubePool;
  #clock: ClockReading | undefined;

  constructor(access: KubeAccess) {
    this.access = access;
    this.#pool = new KubePool(access.target);
  }

  get server(): string {
    return this.access.target.server;
  }

  get source(): string {
    return this.access.source;
  }

  /** The server's certificate, known after the first request; unknown through a proxy. */
  get peer(): PeerCertificate | undefined {
    return this.#pool.peer;
  }

  /** The clocks at the first reply, which may be an error. `undefined` before the first reply. */
  get clock(): ClockReading | undefined {
    return this.#clock;
  }

  /**
   * Sends one request.
   * @throws ClusterError for a status other than 2xx, with the server's message if it has one
   */
  async request(ask: KubeAsk, signal: AbortSignal): Promise<KubeReply> {
    const { target, credential: source, signIn, impersonation } = this.access;
    if (signal.aborted) throw abortedError(requestLabel(ask), signal);
    const person = ask.token === undefined ? { ...ask, as: ask.as ?? impersonation } : ask;
    const send = (credential: KubeCredential): Promise<KubeReply> => {
      const dispatcher = this.#pool.dispatcherFor(credential);
      const { proxy } = this.#pool;
      const sentAt = Date.now();
      const onHeaders = (headers: KubeReply['headers']): void => {
        this.#clock ??= readClock(headers['date'], sentAt);
      };
      return sendRequest(person, { server: target.server, proxy, dispatcher, credential, signal, onHeaders });
    };
    const credential: KubeCredential = ask.token === undefined ? await source(signal) : { token: ask.token };
    try {
      return await send(credential);
    } catch (error) {
      if (!isUnauthorized(error)) throw error;
      if (ask.token !== undefined) throw unauthorizedError(credential, 'the token');
    }
    // Reads the credential again: the user may have signed in again, or the token may have been revoked before its
    // expiry.
    const next = await source(signal, credential);
    if (isSameCredential(next, credential)) throw unauthorizedError(credential, signIn);
    try {
      return await send(next);
    } catch (error) {
      throw isUnauthorized(error) ? unauthorizedError(next, signIn) : error;
    }
  }

  /**
   * Returns a configuration for the Kubernetes client, with this server and sign-in.
   * Watches, forwarded ports and programs in pods need that client. It is large, so it is loaded on first use.
   * @param signal cancels reading the credential for requests with this configuration
   */
  async kubeConfig(signal: AbortSignal): Promise<KubeConfig> {
    const { kubeConfigOf } = await loadLazy(() => import('#cluster/kube/kubeClient.ts'));
    const dispatcherFor = this.#pool.dispatcherFor.bind(this.#pool);
    return kubeConfigOf({ access: this.access, dispatcherFor, signal });
  }

  /** Closes the connections. Requests that wait for a reply fail. */
  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** Whether the server does not accept the credential. */
const isUnauthorized = (error: unknown): boolean =>
  isClusterError(error) && error.status === 401 && error.kind !== 'WrongServer';

const isSameCredential = (a: KubeCredential, b: KubeCredential): boolean =>
  a.token === b.token && a.clientCertificate === b.clientCertificate && a.basic === b.basic;

/** Clocks of the server and this machine, in milliseconds since 1970. */
type ClockReading = {
  readonly theirs: number;
  /** The middle between sending the request and receiving the reply. */
  readonly ours: number;
};

function readClock(date: string | undefined, sentAt: number): ClockReading | undefined {
  // Half a second is added, because the header has whole seconds and half a second is the mean error.
  const theirs = Date.parse(date ?? '') + 500;
  return Number.isNaN(theirs) ? undefined : { theirs, ours: (sentAt + Date.now()) / 2 };
}

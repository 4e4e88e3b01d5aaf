import { Socket } from 'node:net';
import { type PeerCertificate, TLSSocket } from 'node:tls';
import type { KubeConfig } from '@kubernetes/client-node';
import { buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { loadPart } from '#shared/loadPart.ts';
import type { CredentialSource, KubeCredential, KubeTarget } from './credential.ts';
import { abortedError, type Impersonation, type KubeAsk, type KubeReply, sendRequest, wordsOf } from './kubeRequest.ts';
import { proxyOf } from './proxy.ts';
import { refusedError } from './refused.ts';

/** Milliseconds until a connection stands, and without a byte of a reply. */
const timeouts = { connect: 10_000, headers: 30_000, body: 30_000 } as const;

/** What connects: a certificate of the client belongs to a connection and not to a request. */
type ClientCertificate = Pick<KubeCredential, 'clientCertificate' | 'clientKey'>;

/**
 * The connections of one run to one API server. The client of Kubernetes would open a new one for every request: two
 * dozen handshakes where one does.
 */
class KubePool {
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
        'The proxy for the cluster is not a valid URL.',
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

/** What a connection is made of. */
export type KubeAccess = {
  readonly target: KubeTarget;
  readonly credential: CredentialSource;
  /** Where it comes from, for people: `~/.kube/config, context production`. */
  readonly source: string;
  /** What signs in, for people: `the client certificate of alice`. */
  readonly signIn: string;
  /** The namespace of the context, where it names one. */
  readonly namespace?: string | undefined;
  /** Who every request is made for, where the kubeconfig says so. */
  readonly impersonation?: Impersonation | undefined;
  /** The program that a kubeconfig has for its credentials. */
  readonly plugin?: PluginUse | undefined;
};

type PluginUse = {
  /** `aws eks get-token` */
  readonly command: string;
  /** Its file; `undefined` where it is not there. */
  readonly program: string | undefined;
  /** Whose credentials are used in its place where it is missing. */
  readonly replacedBy: 'AWS' | 'Google Cloud' | undefined;
};

/** An API server, and how to be somebody there. Asks nothing by itself; whoever connected closes it. */
export class KubeConnection {
  readonly access: KubeAccess;
  readonly #pool: KubePool;
  #clock: ClockReading | undefined;

  constructor(access: KubeAccess) {
    this.access = access;
    this.#pool = new KubePool(access.target);
  }

  /** Address of the API server. */
  get server(): string {
    return this.access.target.server;
  }

  get source(): string {
    return this.access.source;
  }

  /** The certificate that the server showed, once it was asked something; not known through a proxy. */
  get peer(): PeerCertificate | undefined {
    return this.#pool.peer;
  }

  /** What the server's clock said with the first reply, be it a refusal; `undefined` before one. */
  get clock(): ClockReading | undefined {
    return this.#clock;
  }

  /**
   * Sends one request.
   * @throws ClusterError unless it is answered with 2xx, in the server's own words where it has some
   */
  async request(ask: KubeAsk, signal: AbortSignal): Promise<KubeReply> {
    const { target, credential: source, signIn, impersonation } = this.access;
    if (signal.aborted) throw abortedError(wordsOf(ask), signal);
    const credential: KubeCredential = ask.token === undefined ? await source(signal) : { token: ask.token };
    const dispatcher = this.#pool.dispatcherFor(credential);
    const sentAt = Date.now();
    const person = ask.token === undefined ? { ...ask, as: ask.as ?? impersonation } : ask;
    const onHeaders = (headers: KubeReply['headers']): void => {
      this.#clock ??= readClock(headers['date'], sentAt);
    };
    try {
      const { proxy } = this.#pool;
      return await sendRequest(person, { server: target.server, proxy, dispatcher, credential, signal, onHeaders });
    } catch (error) {
      if (isClusterError(error) && error.status === 401 && error.kind !== 'WrongServer')
        throw refusedError(credential, ask.token === undefined ? signIn : 'the token');
      throw error;
    }
  }

  /**
   * The same server and sign-in for what only the Kubernetes client does: watches, forwarded ports, programs in pods. Loads
   * that client, which is large.
   * @param signal ends the reading of a credential for what is made of it
   */
  async kubeConfig(signal: AbortSignal): Promise<KubeConfig> {
    const { kubeConfigOf } = await loadPart(() => import('#cluster/kube/kubeClient.ts'));
    const dispatcherFor = this.#pool.dispatcherFor.bind(this.#pool);
    return kubeConfigOf({ access: this.access, dispatcherFor, signal });
  }

  /** Ends its connections, and with them what still waits for a reply. */
  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** A clock of a server beside ours, in milliseconds since 1970. */
type ClockReading = {
  readonly theirs: number;
  /** The middle of the time in which the reply was made. */
  readonly ours: number;
};

function readClock(date: string | undefined, sentAt: number): ClockReading | undefined {
  // It says whole seconds, of which half a one has gone by as a rule.
  const theirs = Date.parse(date ?? '') + 500;
  return Number.isNaN(theirs) ? undefined : { theirs, ours: (sentAt + Date.now()) / 2 };
}

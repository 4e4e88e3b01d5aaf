import type { KubeConfig } from '@kubernetes/client-node';
import type { PeerCertificate } from 'node:tls';
import { isClusterError } from '#cluster/errors.ts';
import { loadPart } from '#shared/loadPart.ts';
import type { CredentialSource, KubeCredential } from './credential.ts';
import { KubePool } from './kubePool.ts';
import { abortedError, sendRequest, wordsOf, type Impersonation, type KubeAsk, type KubeReply } from './kubeRequest.ts';
import type { KubeTarget } from './kubeTarget.ts';
import { refusedError } from './refused.ts';

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

export type PluginUse = {
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
export type ClockReading = {
  readonly theirs: number;
  /** The middle of the time in which the reply was made. */
  readonly ours: number;
};

function readClock(date: string | undefined, sentAt: number): ClockReading | undefined {
  // It says whole seconds, of which half a one has gone by as a rule.
  const theirs = Date.parse(date ?? '') + 500;
  return Number.isNaN(theirs) ? undefined : { theirs, ours: (sentAt + Date.now()) / 2 };
}

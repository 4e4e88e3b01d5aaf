import { KubeConfig, PortForward, Watch, type RequestContext, type User } from '@kubernetes/client-node';
import type { Dispatcher } from 'undici';
import { ClusterError } from '#cluster/errors.ts';
import type { KubeCredential } from './credential.ts';
import type { KubeAccess } from './kubeConnection.ts';
import { authorization, impersonation } from './kubeRequest.ts';
import { proxyOf } from './proxy.ts';

// A separate bundle (dist/kubeClient.cjs), loaded by `KubeConnection.kubeConfig()`. It is larger than the code for
// all clouds together, and checks need only plain requests.

const name = 'lance-catalog';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

export type KubeConfigOptions = {
  readonly access: KubeAccess;
  readonly dispatcherFor: (credential: KubeCredential) => Dispatcher;
  /** Cancels reading a credential. */
  readonly signal: AbortSignal;
};

/**
 * The Kubernetes client's configuration for a connection, with the connection's sign-in and pool.
 * The client's own code would run plugins without a time limit, and open an agent per request that is never closed.
 */
class ConnectionKubeConfig extends KubeConfig {
  readonly #options: KubeConfigOptions;

  constructor(options: KubeConfigOptions) {
    super();
    this.#options = options;
    const { target, namespace } = options.access;
    const { server, ca, tlsServerName, skipTlsVerify, proxyUrl } = target;
    const proxy = proxyOf(new URL(server), proxyUrl, process.env);
    this.loadFromClusterAndUser(
      {
        name,
        server,
        // The client refuses http:// unless verification is off. Such an address is always on this machine, because
        // `targetOfEntry` refuses others.
        skipTLSVerify: skipTlsVerify || server.startsWith('http:'),
        ...(ca === undefined ? {} : { caData: base64(ca) }),
        ...(tlsServerName === undefined ? {} : { tlsServerName }),
        ...(proxy === undefined ? {} : { proxyUrl: proxy }),
      },
      { name },
    );
    if (namespace !== undefined) this.contexts = this.contexts.map((context) => ({ ...context, namespace }));
  }

  /** Used for requests and watches. */
  override async applySecurityAuthentication(context: RequestContext): Promise<void> {
    const { access, dispatcherFor, signal } = this.#options;
    const credential = await access.credential(signal);
    const headers = { ...authorization(credential), ...impersonation(access.impersonation) };
    for (const [header, value] of Object.entries(headers)) {
      if (Array.isArray(value) && value.length > 1)
        throw new ClusterError(
          'InvalidRequest',
          `Can't create a watch: "as-groups" of the kubeconfig has more than one group.`,
          'Sign in as that user, or keep one group.',
        );
      context.setHeaderParam(header, String(value));
    }
    context.setDispatcher(dispatcherFor(credential));
  }

  /** Used for web sockets, which have their own connections. */
  override async applyToHTTPSOptions(options: Parameters<KubeConfig['applyToHTTPSOptions']>[0]): Promise<void> {
    const { access, signal } = this.#options;
    const credential = await access.credential(signal);
    this.users = [userOf(credential)];
    try {
      await super.applyToHTTPSOptions(options);
    } finally {
      this.users = [{ name }];
    }
    options.headers = { ...options.headers, ...authorization(credential), ...impersonation(access.impersonation) };
  }
}

/** The certificate for the handshake of a web socket. */
const userOf = ({ clientCertificate, clientKey }: KubeCredential): User => ({
  name,
  ...(clientCertificate === undefined ? {} : { certData: base64(clientCertificate) }),
  ...(clientKey === undefined ? {} : { keyData: base64(clientKey) }),
});

export const kubeConfigOf = (options: KubeConfigOptions): KubeConfig => new ConnectionKubeConfig(options);

export { PortForward, Watch };

import { KubeConfig } from '@kubernetes/client-node';
import { ClusterError } from '#cluster/errors.ts';
import type { HiddenTexts } from '#cluster/hiddenText.ts';
import type { ClusterAuth } from '#cluster/profile.ts';
import { fixed } from './credential.ts';
import { KubeConnection } from './kubeConnection.ts';

export type ConnectKubeOptions = {
  readonly hidden: HiddenTexts;
  readonly signal: AbortSignal;
};

/**
 * Finds out where the API server is and how to sign in, without asking it anything. The caller closes what it gets.
 * @throws ClusterError for each way in which a kubeconfig, a plugin or a cloud's credentials are of no use
 */
export async function connectKube(auth: ClusterAuth, options: ConnectKubeOptions): Promise<KubeConnection> {
  options.signal.throwIfAborted();
  if (auth.configMethod !== 'LOCAL')
    throw new ClusterError('ProfileInvalid', `${auth.configMethod} is not built yet.`, '');
  const config = new KubeConfig();
  if (auth.kubeconfig === undefined) config.loadFromDefault();
  else config.loadFromFile(auth.kubeconfig);
  if (auth.context !== undefined) config.setCurrentContext(auth.context);
  const cluster = config.getCurrentCluster();
  const user = config.getCurrentUser();
  return new KubeConnection({
    target: {
      server: cluster?.server ?? '',
      ca: text(cluster?.caData),
      skipTlsVerify: cluster?.skipTLSVerify ?? false,
    },
    credential: fixed({
      token: user?.token,
      clientCertificate: text(user?.certData),
      clientKey: text(user?.keyData),
    }),
    source: `${auth.kubeconfig ?? 'kubeconfig'}, context ${config.getCurrentContext()}`,
    signIn: 'your credentials',
  });
}

const text = (data: string | undefined): string | undefined =>
  data === undefined ? undefined : Buffer.from(data, 'base64').toString('utf8');

import { KubeConfig } from '@kubernetes/client-node';
import { ClusterError } from '#cluster/errors.ts';
import type { HiddenTexts } from '#cluster/hiddenText.ts';
import type { ClusterAuth } from '#cluster/profile.ts';

/** An API server, and how to be somebody there. */
export type KubeConnection = {
  /** With its current context set: what the API classes of the client are made by. */
  readonly config: KubeConfig;
  /** Address of the API server. */
  readonly server: string;
  /** Where it comes from, for people: `~/.kube/config, context production`. */
  readonly source: string;
};

export type ConnectKubeOptions = {
  readonly hidden: HiddenTexts;
  readonly signal: AbortSignal;
};

/**
 * Finds out where the API server is and how to sign in, without asking it anything.
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
  const server = config.getCurrentCluster()?.server ?? '';
  return { config, server, source: `${auth.kubeconfig ?? 'kubeconfig'}, context ${config.getCurrentContext()}` };
}

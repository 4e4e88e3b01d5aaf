import { ClusterError } from '#cluster/errors.ts';
import type { HiddenTexts } from '#cluster/hiddenText.ts';
import type { ClusterAuth } from '#cluster/profile.ts';
import { describeEksCluster, type EksCluster } from './eksCluster.ts';
import { eksCredential, loginToAws } from './eksCredential.ts';

export type EksAuth = Extract<ClusterAuth, { readonly configMethod: 'EKS_AUTH' }>;

/** Where a cluster is and how to sign in there. */
export type EksConnection = {
  readonly server: string;
  /** Base64 of PEM. */
  readonly caData: string;
  readonly credential: ReturnType<typeof eksCredential>;
  /** For people. */
  readonly source: string;
};

/**
 * Finds an EKS cluster by its name: assumes the client role, has EKS say where the cluster is, and signs tokens for it. Needs
 * neither a kubeconfig nor the AWS command line.
 * @throws ClusterError for each way in which that fails
 */
export async function connectEks(
  auth: EksAuth,
  options: { readonly hidden: HiddenTexts; readonly signal: AbortSignal },
): Promise<EksConnection> {
  const { clusterName, region, roleName, profile } = auth;
  const login = { clusterName, region, roleArn: roleName, profile };
  const identity = await loginToAws(login, options);
  try {
    const { server, caData } = addressOf(await describeEksCluster(identity, clusterName, options.signal));
    const source = `the EKS cluster ${clusterName} in ${region}, as ${roleName}`;
    return { server, caData, credential: eksCredential(login, options, identity.keys), source };
  } finally {
    identity.close();
  }
}

/** @throws ClusterError for a cluster that is not up yet */
export function addressOf(cluster: EksCluster): { readonly server: string; readonly caData: string } {
  const { name, region, status, endpoint, certificateAuthority } = cluster;
  if (endpoint === undefined || certificateAuthority === undefined)
    throw new ClusterError(
      'Unavailable',
      `The EKS cluster "${name}" in ${region} has no address yet: its status is ${status}.`,
      'Wait until it is ACTIVE.',
    );
  return { server: endpoint, caData: certificateAuthority };
}

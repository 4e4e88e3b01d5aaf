import { ClusterError } from '#cluster/errors.ts';
import type { HiddenTexts } from '#cluster/hiddenText.ts';
import type { KubeAccess } from '#cluster/kube/kubeConnection.ts';
import type { KubeTarget } from '#cluster/kube/kubeTarget.ts';
import type { ClusterAuth } from '#cluster/profile.ts';
import { describeEksCluster, type EksCluster } from './eksCluster.ts';
import { eksCredential, loginToAws } from './eksCredential.ts';

export type EksAuth = Extract<ClusterAuth, { readonly configMethod: 'EKS_AUTH' }>;

/**
 * Finds an EKS cluster by its name: assumes the client role, has EKS say where the cluster is, and signs tokens for it. Needs
 * neither a kubeconfig nor the AWS command line.
 * @throws ClusterError for each way in which that fails
 */
export async function connectEks(
  auth: EksAuth,
  options: { readonly hidden: HiddenTexts; readonly signal: AbortSignal },
): Promise<KubeAccess> {
  const { clusterName, region, roleName, profile } = auth;
  const login = { clusterName, region, roleArn: roleName, profile };
  const identity = await loginToAws(login, options);
  try {
    const cluster = await describeEksCluster(identity, clusterName, options.signal);
    return {
      target: targetOf(cluster),
      credential: eksCredential(login, options, identity.keys),
      source: `the EKS cluster ${clusterName} in ${region}`,
      signIn: `the token of ${identity.label}`,
    };
  } finally {
    identity.close();
  }
}

/** How to reach a cluster that EKS has described. @throws ClusterError for one that is not up yet */
export function targetOf(cluster: EksCluster): KubeTarget {
  const { name, region, status, endpoint, certificateAuthority } = cluster;
  if (endpoint === undefined || certificateAuthority === undefined)
    throw new ClusterError(
      'Unavailable',
      `The EKS cluster "${name}" in ${region} has no address yet: its status is ${status}.`,
      'Wait until it is ACTIVE.',
    );
  const ca = Buffer.from(certificateAuthority, 'base64').toString('utf8');
  if (!ca.includes('-----BEGIN CERTIFICATE-----'))
    throw new ClusterError('BadReply', `The certificate that EKS has for "${name}" in ${region} is none.`, '');
  return { server: endpoint.replace(/\/+$/, ''), ca, skipTlsVerify: false };
}

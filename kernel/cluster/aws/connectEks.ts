import { ClusterError } from '#cluster/errors.ts';
import type { SecretRedactor } from '#cluster/secretTexts.ts';
import type { KubeAccess } from '#cluster/kube/kubeConnection.ts';
import type { KubeTarget } from '#cluster/kube/credential.ts';
import type { ClusterAuth } from '#cluster/profile.ts';
import type { AwsIdentity } from './awsIdentity.ts';
import { describeEksCluster, type EksCluster } from './eksCluster.ts';
import { eksCredential, loginToAws, type EksLogin } from './eksCredential.ts';

export type EksAuth = Extract<ClusterAuth, { readonly configMethod: 'EKS_AUTH' }>;

/**
 * Finds an EKS cluster by name: assumes the client role, reads the endpoint from EKS, and signs tokens. Needs neither a
 * kubeconfig nor the AWS command line.
 * @throws ClusterError if a step fails
 */
export async function connectEks(
  auth: EksAuth,
  options: { readonly hidden: SecretRedactor; readonly signal: AbortSignal },
): Promise<KubeAccess> {
  const login = loginOf(auth);
  const identity = await loginToAws(login, options);
  try {
    return eksAccess(await describeEksCluster(identity, login.clusterName, options.signal), {
      login,
      identity,
      hidden: options.hidden,
    });
  } finally {
    identity.close();
  }
}

export const loginOf = ({ clusterName, region, roleName, profile, foundIn }: EksAuth): EksLogin => ({
  clusterName,
  region,
  roleArn: roleName,
  profile,
  foundIn,
});

/** Returns access to a cluster that EKS has described, for an identity that has signed in to AWS. */
export function eksAccess(
  cluster: EksCluster,
  {
    login,
    identity,
    hidden,
  }: { readonly login: EksLogin; readonly identity: AwsIdentity; readonly hidden: SecretRedactor },
): KubeAccess {
  return {
    target: targetOf(cluster),
    credential: eksCredential(login, { hidden }, identity.keys),
    source: `the EKS cluster ${login.clusterName} in ${login.region}`,
    signIn: `the token of ${identity.label}`,
  };
}

/**
 * Returns whether a target is the given cluster. Compares the certificate authorities and not the addresses: each EKS
 * cluster has its own authority, but may be reachable at several addresses.
 */
export function pointsToCluster({ ca }: KubeTarget, { certificateAuthority }: EksCluster): boolean {
  const own = Buffer.from(certificateAuthority ?? '', 'base64')
    .toString('utf8')
    .trim();
  return own !== '' && ca?.trim() === own;
}

/** Returns how to reach a cluster that EKS has described. @throws ClusterError Unavailable if it has no address yet */
function targetOf(cluster: EksCluster): KubeTarget {
  const { name, region, status, endpoint, certificateAuthority } = cluster;
  if (endpoint === undefined || certificateAuthority === undefined)
    throw new ClusterError(
      'Unavailable',
      `The EKS cluster "${name}" in ${region} has no address yet: its status is ${status}.`,
      'Wait until it is ACTIVE.',
    );
  const ca = Buffer.from(certificateAuthority, 'base64').toString('utf8');
  if (!ca.includes('-----BEGIN CERTIFICATE-----'))
    throw new ClusterError(
      'BadReply',
      `EKS returned an invalid certificate for the cluster "${name}" in ${region}.`,
      '',
    );
  return { server: endpoint.replace(/\/+$/, ''), ca, skipTlsVerify: false };
}

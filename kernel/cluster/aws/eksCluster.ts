import { DescribeClusterCommand } from '@aws-sdk/client-eks';
import { ClusterError } from '#cluster/errors.ts';
import { awsCall } from './awsErrors.ts';
import type { AwsIdentity } from './awsIdentity.ts';
import { type AwsTarget, readArn } from './awsNames.ts';

/** The fields of EKS's description of a cluster that the checks and the sign-in use. */
export type EksCluster = {
  readonly name: string;
  readonly arn: string;
  readonly account: string;
  readonly partition: string;
  readonly region: string;
  /** `ACTIVE`, `CREATING`, `UPDATING`, … */
  readonly status: string;
  /** Kubernetes version, such as `1.30`. */
  readonly version: string | undefined;
  readonly endpoint: string | undefined;
  /** Base64 of PEM, as in a kubeconfig. */
  readonly certificateAuthority: string | undefined;
  /** `CONFIG_MAP` for clusters older than this setting. */
  readonly authenticationMode: string;
  /** URL of the issuer of service account tokens. */
  readonly issuer: string | undefined;
};

/** @throws ClusterError NotFound or Forbidden, among others */
export async function describeEksCluster(
  identity: AwsIdentity,
  clusterName: string,
  signal: AbortSignal,
): Promise<EksCluster> {
  const thing = `the EKS cluster "${clusterName}" in ${identity.region}`;
  const { cluster } = await awsCall(identity.question('eks:DescribeCluster', thing), () =>
    identity.eks.send(new DescribeClusterCommand({ name: clusterName }), { abortSignal: signal }),
  );
  const arn = readArn(cluster?.arn ?? '');
  if (cluster?.arn === undefined || arn === undefined || cluster.status === undefined)
    throw new ClusterError('BadReply', `AWS returned no ARN or no status for ${thing}.`, '');
  return {
    name: clusterName,
    arn: cluster.arn,
    account: arn.account,
    partition: arn.partition,
    region: arn.region,
    status: cluster.status,
    version: cluster.version,
    endpoint: cluster.endpoint,
    certificateAuthority: cluster.certificateAuthority?.data,
    authenticationMode: cluster.accessConfig?.authenticationMode ?? 'CONFIG_MAP',
    issuer: cluster.identity?.oidc?.issuer,
  };
}

/**
 * Builds the ARN of a cluster that EKS has not described.
 * @param whose an ARN with the account and the partition of the cluster
 */
export function clusterArnOf({ region, clusterName = '' }: AwsTarget, whose: string): string {
  const { partition = 'aws', account = '' } = readArn(whose) ?? {};
  return `arn:${partition}:eks:${region}:${account}:cluster/${clusterName}`;
}

import { DescribeClusterCommand } from '@aws-sdk/client-eks';
import { ClusterError } from '#cluster/errors.ts';
import { awsCall } from './awsErrors.ts';
import type { AwsIdentity } from './awsIdentity.ts';
import { readArn } from './awsNames.ts';
import type { AwsPlace } from './awsNames.ts';

/** What EKS says of a cluster, as far as somebody needs it. */
export type EksCluster = {
  readonly name: string;
  readonly arn: string;
  readonly account: string;
  readonly partition: string;
  readonly region: string;
  /** `ACTIVE`, `CREATING`, `UPDATING`, … */
  readonly status: string;
  /** Of Kubernetes, such as `1.30`. */
  readonly version: string | undefined;
  readonly endpoint: string | undefined;
  /** Base64 of PEM, as a kubeconfig has it. */
  readonly certificateAuthority: string | undefined;
  /** `CONFIG_MAP` is what clusters have that were made before there was a choice. */
  readonly authenticationMode: string;
  /** Address of who signs the tokens of service accounts. */
  readonly issuer: string | undefined;
};

/** @throws ClusterError of kind NotFound or Forbidden, among others */
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

/** The ARN of a cluster that nobody has described, in the account of somebody's ARN. */
export function clusterArnOf({ region, clusterName = '' }: AwsPlace, whose: string): string {
  const { partition = 'aws', account = '' } = readArn(whose) ?? {};
  return `arn:${partition}:eks:${region}:${account}:cluster/${clusterName}`;
}

import { awsSaid } from '#cluster/aws/awsErrors.ts';
import { awsPlaceOf } from '#cluster/aws/awsNames.ts';
import { readArn } from '#cluster/aws/awsNames.ts';
import type { EksCluster } from '#cluster/aws/eksCluster.ts';
import type { AccountPlace, AwsRole } from '#cluster/aws/iamReads.ts';
import type { Check } from '#cluster/check.ts';
import type { CheckContext } from '#cluster/check.ts';
import { type ClusterError, type ClusterErrorKind, isClusterError } from '#cluster/errors.ts';
import type { Evidence, Finding } from '#cluster/result.ts';

// What the checks of AWS have in common.

/** All of them are of one category, and are asked of AWS over the network. */
export const awsCheck = (check: Omit<Check, 'category'>): Check => ({ category: 'aws', limit: 20_000, ...check });

type Skip = NonNullable<Check['skip']>;

export const unlessOnAws: Skip = ({ profile }) =>
  awsPlaceOf(profile) === undefined ? 'The profile is not on AWS.' : undefined;

export const unlessEksNamed: Skip = (context) =>
  unlessOnAws(context) ??
  (awsPlaceOf(context.profile)?.clusterName === undefined
    ? 'The profile does not name its EKS cluster (aws.clusterName).'
    : undefined);

export const unlessBucket: Skip = (context) =>
  unlessOnAws(context) ??
  (context.profile.storage?.scheme === 's3' ? undefined : 'The profile names no bucket in S3 (storage).');

/**
 * Asks, and makes a finding of the failures that are answers to the question. Others are left to the run, to which "you may
 * not ask" is no failure.
 */
export async function asking(
  ask: () => Promise<Finding>,
  answers: Partial<Record<ClusterErrorKind, (error: ClusterError) => Finding | Promise<Finding>>>,
): Promise<Finding> {
  try {
    return await ask();
  } catch (error) {
    const answer = isClusterError(error) ? answers[error.kind] : undefined;
    if (!answer || !isClusterError(error)) throw error;
    return answer(error);
  }
}

/** What was asked of AWS and what it said, good or bad. */
export const sawAws = (asked: string, saw: string): Evidence => ({ asked, saw });
export const awsRefused = (asked: string, error: ClusterError): Evidence => ({ asked, saw: awsSaid(error) });

/** The role of the service account, as its annotation has it. Checks that need it need `irsa-annotation`. */
export async function serviceRoleOf({ kube }: CheckContext): Promise<string> {
  const account = await kube.serviceAccount();
  return account?.annotations[roleAnnotation]?.trim() ?? '';
}

/** Where IAM must know the cluster's issuer: in the account of the service account's role, which may be another. */
export async function providerPlaceOf(context: CheckContext, cluster: EksCluster): Promise<AccountPlace> {
  const role = readArn(await serviceRoleOf(context).catch(() => ''));
  return { partition: cluster.partition, account: role?.account || cluster.account };
}

/**
 * The association by which EKS gives the service account its role in place of the annotation. Who may not ask for it is told
 * of the annotation, as if there were none.
 */
export async function podIdentityOf({ aws, kube }: CheckContext): Promise<string | undefined> {
  if (aws.place.clusterName === undefined) return undefined;
  try {
    if ((await kube.serviceAccount())?.annotations[roleAnnotation] !== undefined) return undefined;
    return await aws.podIdentity();
  } catch {
    return undefined;
  }
}

export const roleAnnotation = 'eks.amazonaws.com/role-arn';

/** The audience of tokens that are meant for AWS. */
export const awsAudience = 'sts.amazonaws.com';

/** What EKS says of the cluster, for whoever does without where it does not. */
export async function clusterIfReadable({ aws }: CheckContext): Promise<EksCluster | undefined> {
  if (aws.place.clusterName === undefined) return undefined;
  try {
    return await aws.cluster();
  } catch {
    return undefined;
  }
}

/** A role, for whoever does without its trust policy where that may not be read. */
export async function roleIfReadable({ aws }: CheckContext, roleArn: string): Promise<AwsRole | undefined> {
  try {
    return await aws.role(roleArn);
  } catch {
    return undefined;
  }
}

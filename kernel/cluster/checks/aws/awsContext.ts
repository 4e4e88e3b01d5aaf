import { formatAwsError } from '#cluster/aws/awsErrors.ts';
import { awsPlaceOf, readArn } from '#cluster/aws/awsNames.ts';
import type { EksCluster } from '#cluster/aws/eksCluster.ts';
import type { AccountPlace, AwsRole } from '#cluster/aws/iamReads.ts';
import type { Check, CheckContext } from '#cluster/check.ts';
import { type ClusterError, type ClusterErrorKind, isClusterError } from '#cluster/errors.ts';
import type { Evidence, Finding } from '#cluster/result.ts';

/** Creates an AWS check. Its time limit is longer than the default, because it may send several requests. */
export const awsCheck = (check: Omit<Check, 'category'>): Check => ({ category: 'aws', limit: 20_000, ...check });

type Skip = NonNullable<Check['skip']>;

export const unlessOnAws: Skip = ({ profile }) =>
  awsPlaceOf(profile) === undefined ? 'The profile is not on AWS.' : undefined;

export const unlessEksNamed: Skip = (context) =>
  unlessOnAws(context) ??
  (awsPlaceOf(context.profile)?.clusterName === undefined
    ? 'The profile has no EKS cluster (aws.clusterName).'
    : undefined);

export const unlessBucket: Skip = (context) =>
  unlessOnAws(context) ??
  (context.profile.storage?.scheme === 's3' ? undefined : 'The profile has no S3 bucket (storage).');

/**
 * Runs `ask`, and converts the failures listed in `answers` to findings. Other failures are thrown to the run, which
 * treats a missing permission of the user as skipped.
 */
export async function failureAsFinding(
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

export const awsEvidence = (asked: string, saw: string): Evidence => ({ asked, saw });
export const isAwsDenied = (asked: string, error: ClusterError): Evidence => ({ asked, saw: formatAwsError(error) });

/** Returns the service account's role from its annotation. Checks that use it need `irsa-annotation`. */
export async function serviceRoleOf({ kube }: CheckContext): Promise<string> {
  const account = await kube.serviceAccount();
  return account?.annotations[roleAnnotation]?.trim() ?? '';
}

/**
 * Returns the account whose IAM must know the cluster's issuer. It is the account of the service account's role, and
 * may differ from the account of the cluster.
 */
export async function providerPlaceOf(context: CheckContext, cluster: EksCluster): Promise<AccountPlace> {
  const role = readArn(await serviceRoleOf(context).catch(() => ''));
  return { partition: cluster.partition, account: role?.account || cluster.account };
}

/**
 * Returns the id of the EKS Pod Identity association that replaces the annotation.
 * Returns `undefined` if the association can't be read, so that the checks report on the annotation.
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

export const awsAudience = 'sts.amazonaws.com';

/** Returns the description of the cluster if it is readable, for checks that also work without it. */
export async function clusterIfReadable({ aws }: CheckContext): Promise<EksCluster | undefined> {
  if (aws.place.clusterName === undefined) return undefined;
  try {
    return await aws.cluster();
  } catch {
    return undefined;
  }
}

/** Returns a role with its trust policy if it is readable, for checks that also work without it. */
export async function roleIfReadable({ aws }: CheckContext, roleArn: string): Promise<AwsRole | undefined> {
  try {
    return await aws.role(roleArn);
  } catch {
    return undefined;
  }
}

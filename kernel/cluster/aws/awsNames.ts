import { ClusterError } from '#cluster/errors.ts';
import type { ClusterProfile } from '#cluster/profile.ts';

/** An AWS principal, as `GetCallerIdentity` reports it. */
export type AwsCaller = {
  readonly arn: string;
  readonly account: string;
  /** `aws`, or `aws-cn`, `aws-us-gov` and the like. */
  readonly partition: string;
};

/** The parts of an ARN: `arn:partition:service:region:account:resource`. */
type ArnParts = {
  readonly partition: string;
  readonly service: string;
  readonly region: string;
  readonly account: string;
  readonly resource: string;
};

export function readArn(text: string): ArnParts | undefined {
  const [arn, partition, service, region, account, ...resource] = text.split(':');
  if (arn !== 'arn' || !partition || !service || region === undefined || account === undefined) return undefined;
  return { partition, service, region, account, resource: resource.join(':') };
}

/**
 * Returns the ARN of a role.
 * A name, which may include a path, means a role in the caller's account. An ARN is returned unchanged.
 * @throws ClusterError ProfileInvalid if the ARN does not name a role
 */
export function roleArnOf(role: string, caller: AwsCaller): string {
  if (!role.startsWith('arn:')) return `arn:${caller.partition}:iam::${caller.account}:role/${role.replace(/^\//, '')}`;
  const parts = readArn(role);
  if (parts?.service !== 'iam' || !/^role\/./.test(parts.resource) || !/^\d{12}$/.test(parts.account))
    throw new ClusterError(
      'ProfileInvalid',
      `"${role}" is not the ARN of an IAM role.`,
      'Use arn:aws:iam::123456789012:role/NAME, or only the name of the role.',
    );
  return role;
}

/** `arn:aws:iam::1:role/team/geneva` → `geneva`, the form that IAM commands take. */
export const roleNameOf = (roleArn: string): string => roleArn.slice(roleArn.lastIndexOf('/') + 1);

/** Reads the role behind an assumed-role session. A session does not show the role's path. */
export function roleOfSession(callerArn: string): { readonly name: string; readonly account: string } | undefined {
  const parts = readArn(callerArn);
  const name = parts?.service === 'sts' ? /^assumed-role\/([^/]+)\//.exec(parts.resource)?.[1] : undefined;
  return parts && name !== undefined ? { name, account: parts.account } : undefined;
}

export function isSessionOf(callerArn: string, roleArn: string): boolean {
  const session = roleOfSession(callerArn);
  return session?.name === roleNameOf(roleArn) && session.account === readArn(roleArn)?.account;
}

/** The AWS settings of a profile, from `auth` or `aws`. */
export type AwsTarget = {
  readonly region: string;
  readonly clusterName: string | undefined;
  readonly clientRole: string | undefined;
  readonly serviceRole: string | undefined;
  readonly account: string | undefined;
  /** A profile of `~/.aws/config`. */
  readonly profile: string | undefined;
};

/** Returns the AWS settings of a profile, or `undefined` if its cluster is not on AWS. */
export function awsPlaceOf({ auth, aws }: ClusterProfile): AwsTarget | undefined {
  if (auth.configMethod !== 'EKS_AUTH') return aws && { ...aws, profile: aws.profile };
  return {
    region: auth.region,
    clusterName: auth.clusterName,
    clientRole: auth.roleName,
    serviceRole: aws?.serviceRole,
    account: aws?.account,
    profile: auth.profile ?? aws?.profile,
  };
}

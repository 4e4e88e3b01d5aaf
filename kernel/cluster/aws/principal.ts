import { isClusterError } from '#cluster/errors.ts';
import { readArn, roleOfSession } from './awsNames.ts';
import type { AwsRole } from './iamReads.ts';

/** Somebody as access entries and trust policies name them; not sure where only a path may be missing from it. */
export type AwsPrincipal = { readonly arn: string; readonly isSure: boolean };

/**
 * Who somebody is by their ARN: of a session the role that it is of. A session does not show the path of its role, and roles of
 * single sign-on have one, so IAM is asked for it.
 * @param readRole asks IAM; may throw ClusterError, after which the role is taken to have no path
 */
export async function readPrincipal(
  arn: string,
  readRole: (roleArn: string) => Promise<AwsRole>,
): Promise<AwsPrincipal> {
  const session = roleOfSession(arn);
  const { partition, resource } = readArn(arn) ?? {};
  if (!session && !resource?.startsWith('role/')) return { arn, isSure: true };
  const guess = session ? `arn:${partition}:iam::${session.account}:role/${session.name}` : arn;
  try {
    return { arn: (await readRole(guess)).arn, isSure: true };
  } catch (error) {
    if (!isClusterError(error)) throw error;
    return { arn: guess, isSure: false };
  }
}

import { readArn, roleOfSession } from '#cluster/aws/awsNames.ts';
import type { Mend } from '#cluster/mend.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { shellLine } from './commands.ts';

/**
 * On EKS a session of a role has another name each time, so that no binding can name it: its access entry is given a policy.
 * @param person as the API server calls whoever asks
 * @returns `undefined` where it is nobody of AWS
 */
export function grantByAccessEntry(profile: ClusterProfile, person: string): Mend | undefined {
  const session = roleOfSession(person);
  const cluster = profile.auth.configMethod === 'EKS_AUTH' ? profile.auth : profile.aws;
  if (!session || cluster?.clusterName === undefined) return undefined;
  const partition = readArn(person)?.partition ?? 'aws';
  return {
    kind: 'command',
    command: shellLine(
      ['aws', 'eks', 'associate-access-policy'],
      ['--region', cluster.region, '--cluster-name', cluster.clusterName],
      ['--principal-arn', `arn:${partition}:iam::${session.account}:role/${session.name}`],
      ['--policy-arn', `arn:${partition}:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy`],
      ['--access-scope', 'type=cluster'],
    ),
  };
}

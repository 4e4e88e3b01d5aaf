import type { ClusterProfile } from '#cluster/profile.ts';

/** What a profile says of AWS, in whichever of the two places it says so. */
export type AwsPlace = {
  readonly region: string;
  readonly clusterName: string | undefined;
  readonly clientRole: string | undefined;
  readonly serviceRole: string | undefined;
  readonly account: string | undefined;
  /** A profile of `~/.aws/config`. */
  readonly profile: string | undefined;
};

/** `undefined` where the cluster of the profile is not on AWS. */
export function awsPlaceOf({ auth, aws }: ClusterProfile): AwsPlace | undefined {
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

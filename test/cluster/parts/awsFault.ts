import type { CheckId } from '#cluster/checkIds.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { CheckStatus } from '#cluster/result.ts';
import type { SoundAws } from './soundAws.ts';

/** A fault in an account, the resulting messages of checks, and its fix. */
export type Fault = {
  readonly name: string;
  readonly plant: (sound: SoundAws) => Promise<void> | void;
  /** A change of the profile, if the fault is in the profile. */
  readonly profile?: (profile: ClusterProfile) => ClusterProfile;
  /** The statuses that differ from a sound account. All other checks pass. */
  readonly expect: Partial<Record<CheckId, CheckStatus>>;
  /** The message of the first check in `expect`. */
  readonly says: RegExp;
  /** The checks whose fixes repair the fault. If missing, only a user can repair the fault. */
  readonly mend?: readonly CheckId[];
};

export const blocked = (...ids: readonly CheckId[]): Partial<Record<CheckId, CheckStatus>> =>
  Object.fromEntries(ids.map((id) => [id, 'blocked']));

export const ofCluster = ['eks-auth-mode', 'eks-access-entry', 'eks-access-policy', 'eks-k8s-api'] as const;
export const ofIssuer = ['oidc-issuer', 'oidc-provider', 'irsa-trust'] as const;
const bucketOf = <Who extends 'aws-client' | 'irsa'>(who: Who) =>
  [
    `${who}-bucket-list`,
    `${who}-bucket-put`,
    `${who}-bucket-head`,
    `${who}-bucket-get`,
    `${who}-bucket-delete`,
  ] as const;
export const clientBucket = bucketOf('aws-client');
export const serviceBucket = bucketOf('irsa');
export const asService = ['irsa-describe', ...serviceBucket] as const;
export const asClient = ['eks-describe', ...ofCluster, ...ofIssuer, 'aws-region', ...clientBucket] as const;

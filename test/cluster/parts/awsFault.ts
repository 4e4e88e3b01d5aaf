import type { CheckId } from '#cluster/checkIds.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { CheckStatus } from '#cluster/result.ts';
import type { SoundAws } from './soundAws.ts';

/** A fault in an account, the resulting messages of checks, and its fix. */
export type Fault = {
  readonly name: string;
  readonly plant: (sound: SoundAws) => Promise<void> | void;
  /** A change of the profile, if that is the fault. */
  readonly profile?: (profile: ClusterProfile) => ClusterProfile;
  /** The statuses that differ from a sound account. All other checks pass. */
  readonly expect: Partial<Record<CheckId, CheckStatus>>;
  /** The message of the first of them. */
  readonly says: RegExp;
  /** The checks whose fixes repair it; if missing, only a user can repair it. */
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

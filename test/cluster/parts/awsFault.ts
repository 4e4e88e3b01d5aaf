import type { CheckId } from '#cluster/checkIds.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { CheckStatus } from '#cluster/result.ts';
import type { SoundAws } from './soundAws.ts';

/** Something that is wrong in an account, what checks say then, and what puts it right. */
export type Fault = {
  readonly name: string;
  readonly plant: (sound: SoundAws) => Promise<void> | void;
  /** A change of the profile, where that is the fault. */
  readonly profile?: (profile: ClusterProfile) => ClusterProfile;
  /** What is otherwise than in a sound account; all else passes. */
  readonly expect: Partial<Record<CheckId, CheckStatus>>;
  /** What the sentence of the first of them says. */
  readonly says: RegExp;
  /** Checks by whose mends it is put right; without any, it takes a person. */
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

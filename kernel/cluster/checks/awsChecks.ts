import type { Check } from '#cluster/check.ts';

/** EKS, its roles and the bucket, as the person and as the service account. */
export const awsChecks: readonly Check[] = [];

import type { Check } from '#cluster/check.ts';

/** GKE, workload identity and the bucket. */
export const gcpChecks: readonly Check[] = [];

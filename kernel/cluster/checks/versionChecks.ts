import type { Check } from '#cluster/check.ts';

/** Kubernetes, KubeRay and Ray, and how they go together. */
export const versionChecks: readonly Check[] = [];

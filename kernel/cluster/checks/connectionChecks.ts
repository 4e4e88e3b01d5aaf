import type { Check } from '#cluster/check.ts';

/** From the kubeconfig to an API server that says who we are. */
export const connectionChecks: readonly Check[] = [];

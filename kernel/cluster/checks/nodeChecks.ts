import type { Check } from '#cluster/check.ts';

/** Where head and workers can run. */
export const nodeChecks: readonly Check[] = [];

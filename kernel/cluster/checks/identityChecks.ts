import type { Check } from '#cluster/check.ts';

/** The service account and what it may do, and the person and what they may. */
export const identityChecks: readonly Check[] = [];

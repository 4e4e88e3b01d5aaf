import type { Check } from '#cluster/check.ts';

/** What can be said of a profile without asking anybody. */
export const profileChecks: readonly Check[] = [];

import type { Check } from '#cluster/check.ts';

/** The catalog that a backfill writes through. */
export const catalogChecks: readonly Check[] = [];

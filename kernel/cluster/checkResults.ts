import type { Fix } from '#cluster/fixes/fix.ts';
import type { Evidence, Finding } from './result.ts';

// Constructors of findings: one sentence with the evidence for it.

export const pass = (sentence: string, ...evidence: readonly Evidence[]): Finding => ({
  status: 'pass',
  sentence,
  evidence,
});

type Problem = { readonly evidence?: readonly Evidence[]; readonly mend?: Fix | undefined };

export const fail = (sentence: string, { evidence = [], mend }: Problem = {}): Finding => ({
  status: 'fail',
  sentence,
  evidence,
  ...(mend === undefined ? {} : { mend }),
});

export const warn = (sentence: string, { evidence = [], mend }: Problem = {}): Finding => ({
  status: 'warn',
  sentence,
  evidence,
  ...(mend === undefined ? {} : { mend }),
});

/** The check does not apply. */
export const skip = (sentence: string, ...evidence: readonly Evidence[]): Finding => ({
  status: 'skipped',
  sentence,
  evidence,
});

/** The check applies, but its result cannot be determined, so it may hide a failure. */
export const unknown = (sentence: string, ...evidence: readonly Evidence[]): Finding => ({
  status: 'skipped',
  cause: 'unknown',
  sentence,
  evidence,
});

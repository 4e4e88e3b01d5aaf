import type { Fix } from '#cluster/fixes/fix.ts';
import type { Evidence, Finding } from './result.ts';

// Constructors of findings: one sentence with the evidence for it.

export const pass = (sentence: string, ...evidence: readonly Evidence[]): Finding => ({
  status: 'pass',
  sentence,
  evidence,
});

/** A finding stores the fix as `mend`, because reports as JSON have this name. */
type Problem = { readonly evidence?: readonly Evidence[]; readonly fix?: Fix | undefined };

export const fail = (sentence: string, { evidence = [], fix }: Problem = {}): Finding => ({
  status: 'fail',
  sentence,
  evidence,
  ...(fix === undefined ? {} : { mend: fix }),
});

export const warn = (sentence: string, { evidence = [], fix }: Problem = {}): Finding => ({
  status: 'warn',
  sentence,
  evidence,
  ...(fix === undefined ? {} : { mend: fix }),
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

import type { Mend } from '#cluster/fixes/fix.ts';
import type { Evidence, Finding } from './result.ts';

// How checks say what they found, so that each reads as one sentence with what it rests on.

export const pass = (sentence: string, ...evidence: readonly Evidence[]): Finding => ({
  status: 'pass',
  sentence,
  evidence,
});

type Problem = { readonly evidence?: readonly Evidence[]; readonly mend?: Mend | undefined };

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

/** It does not apply. */
export const skip = (sentence: string, ...evidence: readonly Evidence[]): Finding => ({
  status: 'skipped',
  sentence,
  evidence,
});

/** It applies, and nobody here can tell: what is not known may be what is wrong. */
export const unknown = (sentence: string, ...evidence: readonly Evidence[]): Finding => ({
  status: 'skipped',
  cause: 'unknown',
  sentence,
  evidence,
});

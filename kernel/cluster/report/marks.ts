import type { CheckStatus } from '#cluster/check.ts';

/** How a status is written: a sign for the eye, a word for everybody else. Both are shown wherever there is room. */
export const statusMarks: Readonly<Record<CheckStatus, { readonly mark: string; readonly word: string }>> = {
  pass: { mark: '√', word: 'passed' },
  warn: { mark: '‼', word: 'warning' },
  fail: { mark: '×', word: 'failed' },
  skipped: { mark: '–', word: 'skipped' },
  blocked: { mark: '⊘', word: 'blocked' },
};

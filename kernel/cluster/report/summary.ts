import { categoryTitles, type CheckCategory, checkIdsByCategory, isCheckId } from '#cluster/checkIds.ts';
import type { CheckReport, CheckResult, CheckStatus } from '#cluster/result.ts';
import { pluralize } from '#shared/format/markup.ts';

/** Formats a report as one sentence: `38 checks passed, 2 warnings, 1 failed, 3 not known, 4 skipped, in 0.8 s.` */
export function summaryOf({ counts, milliseconds, stopped, results }: CheckReport): string {
  const unknown = results.filter(isUnknown).length;
  const skipped = counts.skipped - unknown;
  const parts = [
    `${pluralize(counts.pass, 'check')} passed`,
    ...(counts.warn > 0 ? [pluralize(counts.warn, 'warning')] : []),
    ...(counts.fail > 0 ? [`${counts.fail} failed`] : []),
    ...(counts.blocked > 0 ? [`${counts.blocked} blocked`] : []),
    ...(unknown > 0 ? [`${unknown} not known`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    `in ${(milliseconds / 1000).toFixed(1)} s`,
  ];
  return `${parts.join(', ')}.${stopped ? ' The run was stopped before it finished.' : ''}`;
}

export type CategoryResults = {
  readonly category: CheckCategory;
  readonly title: string;
  readonly results: readonly CheckResult[];
};

/** Groups results by category in the order of a report, without empty categories. */
export function byCategory(results: readonly CheckResult[]): readonly CategoryResults[] {
  return (Object.keys(checkIdsByCategory) as CheckCategory[])
    .map((category) => ({
      category,
      title: categoryTitles[category],
      results: results.filter((result) => result.category === category),
    }))
    .filter((each) => each.results.length > 0);
}

/** Whether the user must act on a result. Blocked checks will run once the problems are fixed. */
export const isProblem = ({ status }: CheckResult): boolean => status === 'fail' || status === 'warn';

/** Whether the result is unknown. Unlike a check that does not apply, such a result may hide a failure. */
export const isUnknown = (result: CheckResult): boolean => result.status === 'skipped' && result.cause === 'unknown';

/** The documentation of checks, relative to the root of the extension or the repository. */
export const docsPath = 'docs/cluster-checks.md';

export const docsOf = (id: string): string => (isCheckId(id) ? `${docsPath}#${id}` : docsPath);

/** Exit codes of the command line. CI depends on them, so their meanings never change. */
export const exitCodes = { passed: 0, failed: 1, notRun: 2, warnings: 3 } as const;

type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/**
 * Returns 0 if nothing failed, 1 if a check failed, 2 if the run was stopped or ran no check, and with `strict` 3 if
 * nothing failed but a check warned or its result is unknown.
 */
export function exitCodeOf({ counts, stopped, results }: CheckReport, options: { strict?: boolean } = {}): ExitCode {
  // An incomplete run proves nothing, because a check that did not run could have failed.
  if (stopped || results.length === 0) return exitCodes.notRun;
  if (counts.fail > 0) return exitCodes.failed;
  const isInDoubt = counts.warn > 0 || results.some(isUnknown);
  return options.strict === true && isInDoubt ? exitCodes.warnings : exitCodes.passed;
}

/** The mark and the word of each status. Reports show both if there is space. Screen readers read the word. */
export const statusSymbols: Readonly<Record<CheckStatus, { readonly mark: string; readonly word: string }>> = {
  pass: { mark: '√', word: 'passed' },
  warn: { mark: '‼', word: 'warning' },
  fail: { mark: '×', word: 'failed' },
  skipped: { mark: '–', word: 'skipped' },
  blocked: { mark: '⊘', word: 'blocked' },
};

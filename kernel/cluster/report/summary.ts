import { categoryTitles, type CheckCategory, checkIdsByCategory, isCheckId } from '#cluster/checkIds.ts';
import type { CheckReport, CheckResult, CheckStatus } from '#cluster/result.ts';
import { counted } from '#shared/format/markup.ts';

/** A report in one sentence: `38 checks passed, 2 warnings, 1 failed, 3 not known, 4 skipped, in 0.8 s.` */
export function summaryOf({ counts, milliseconds, stopped, results }: CheckReport): string {
  const unknown = results.filter(isUnknown).length;
  const skipped = counts.skipped - unknown;
  const parts = [
    `${counted(counts.pass, 'check')} passed`,
    ...(counts.warn > 0 ? [counted(counts.warn, 'warning')] : []),
    ...(counts.fail > 0 ? [`${counts.fail} failed`] : []),
    ...(counts.blocked > 0 ? [`${counts.blocked} blocked by those`] : []),
    ...(unknown > 0 ? [`${unknown} not known`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    `in ${(milliseconds / 1000).toFixed(1)} s`,
  ];
  return `${parts.join(', ')}.${stopped ? ' The run was stopped before its end.' : ''}`;
}

export type CategoryResults = {
  readonly category: CheckCategory;
  readonly title: string;
  readonly results: readonly CheckResult[];
};

/** The results by category, in the order of a report; categories without any are left out. */
export function byCategory(results: readonly CheckResult[]): readonly CategoryResults[] {
  return (Object.keys(checkIdsByCategory) as CheckCategory[])
    .map((category) => ({
      category,
      title: categoryTitles[category],
      results: results.filter((result) => result.category === category),
    }))
    .filter((each) => each.results.length > 0);
}

/** Whether a person has to look at it. What is blocked will be asked once that is done. */
export const isProblem = ({ status }: CheckResult): boolean => status === 'fail' || status === 'warn';

/** Whether nobody could tell, which may hide a failure: a check that was skipped because it does not apply hides none. */
export const isUnknown = (result: CheckResult): boolean => result.status === 'skipped' && result.cause === 'unknown';

/** Where a check is explained, from the root of the extension or the repository. */
export const docsPath = 'docs/cluster-checks.md';

export const docsOf = (id: string): string => (isCheckId(id) ? `${docsPath}#${id}` : docsPath);

/** What a run of the command line ends with. An interface of CI: none is ever given another meaning. */
export const exitCodes = { passed: 0, failed: 1, notRun: 2, warnings: 3 } as const;

type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/**
 * 0 when nothing failed, 1 when something did, 2 when the run was stopped or asked nothing, and with `strict` 3 when nothing
 * failed and something warned, or could not be found out.
 */
export function exitCodeOf({ counts, stopped, results }: CheckReport, options: { strict?: boolean } = {}): ExitCode {
  // What was not asked may be what fails: half a run says nothing of a cluster.
  if (stopped || results.length === 0) return exitCodes.notRun;
  if (counts.fail > 0) return exitCodes.failed;
  const isInDoubt = counts.warn > 0 || results.some(isUnknown);
  return options.strict === true && isInDoubt ? exitCodes.warnings : exitCodes.passed;
}

/** How a status is written: a sign for the eye, a word for everybody else. Both are shown wherever there is room. */
export const statusMarks: Readonly<Record<CheckStatus, { readonly mark: string; readonly word: string }>> = {
  pass: { mark: '√', word: 'passed' },
  warn: { mark: '‼', word: 'warning' },
  fail: { mark: '×', word: 'failed' },
  skipped: { mark: '–', word: 'skipped' },
  blocked: { mark: '⊘', word: 'blocked' },
};

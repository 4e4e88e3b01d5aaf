import type { CheckReport, CheckResult } from '#cluster/check.ts';
import { categoryTitles, checkIdsByCategory, isCheckId, type CheckCategory } from '#cluster/checkIds.ts';
import { counted } from '#shared/markup.ts';

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

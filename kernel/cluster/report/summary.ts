import type { CheckReport, CheckResult } from '#cluster/check.ts';
import { categoryTitles, checkIdsByCategory, isCheckId, type CheckCategory } from '#cluster/checkIds.ts';
import { counted } from '#shared/markup.ts';

/** A report in one sentence: `38 checks passed, 2 warnings, 1 failed, 4 skipped, in 0.8 s.` */
export function summaryOf({ counts, milliseconds, stopped }: CheckReport): string {
  const parts = [
    `${counted(counts.pass, 'check')} passed`,
    ...(counts.warn > 0 ? [counted(counts.warn, 'warning')] : []),
    ...(counts.fail > 0 ? [`${counts.fail} failed`] : []),
    ...(counts.blocked > 0 ? [`${counts.blocked} blocked by those`] : []),
    ...(counts.skipped > 0 ? [`${counts.skipped} skipped`] : []),
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

/** Where a check is explained, from the root of the extension or the repository. */
export const docsPath = 'docs/cluster-checks.md';

export const docsOf = (id: string): string => (isCheckId(id) ? `${docsPath}#${id}` : docsPath);

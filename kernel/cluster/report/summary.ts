import type { CheckReport, CheckResult } from '#cluster/check.ts';
import { categoryTitles, checkIdsByCategory, isCheckId, type CheckCategory } from '#cluster/checkIds.ts';
import { counted } from '#shared/markup.ts';

/** A report in one sentence: `38 of 45 checks passed, 2 warnings, 1 failed, 4 skipped, in 0.8 s.` */
export function summaryOf({ counts, results, milliseconds, stopped }: CheckReport): string {
  const parts = [
    `${counts.pass} of ${counted(results.length, 'check')} passed`,
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

/** A result, or several checks that were skipped for one and the same reason. */
export type ResultOrGroup = CheckResult | { readonly reason: string; readonly skipped: readonly CheckResult[] };

/** How many checks with the same reason are told in one line: two dozen times "The profile is not on AWS." hide the rest. */
const fewest = 3;

/** The results with those together that were skipped for the same reason, in the place of the first. */
export function withGroups(results: readonly CheckResult[]): readonly ResultOrGroup[] {
  return results.flatMap((result): ResultOrGroup[] => {
    const { status, sentence } = result;
    const alike = results.filter((other) => other.status === 'skipped' && other.sentence === sentence);
    if (status !== 'skipped' || alike.length < fewest) return [result];
    return alike[0] === result ? [{ reason: result.sentence, skipped: alike }] : [];
  });
}

/** Where a check is explained, from the root of the extension or the repository. */
export const docsPath = 'docs/cluster-checks.md';

export const docsOf = (id: string): string => (isCheckId(id) ? `${docsPath}#${id}` : docsPath);

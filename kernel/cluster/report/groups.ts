import type { CheckResult } from '#cluster/result.ts';

/** Checks with one and the same reason: they were skipped for it, or all hang on the same failure. */
export type Group = {
  readonly status: 'skipped' | 'blocked';
  /** `The profile is not on AWS.`, `They need rbac-binding-cluster.` */
  readonly reason: string;
  readonly alike: readonly CheckResult[];
};

/** How many checks with the same reason are told in one line: two dozen times "The profile is not on AWS." hide the rest. */
const fewest = 2;

/**
 * Results with those together that have the same reason, in the place of the first of them.
 * @param all of the run: what is blocked by something blocked hangs on what has failed
 */
export function withGroups(
  results: readonly CheckResult[],
  all: readonly CheckResult[],
): readonly (CheckResult | Group)[] {
  const reasonOf = reasons(all);
  return results.flatMap((result): (CheckResult | Group)[] => {
    const { status } = result;
    if (status !== 'skipped' && status !== 'blocked') return [result];
    const reason = reasonOf(result);
    const alike = results.filter((other) => other.status === status && reasonOf(other) === reason);
    if (alike.length < fewest) return [result];
    return alike[0] === result ? [{ status, reason, alike }] : [];
  });
}

export const isGroup = (row: CheckResult | Group): row is Group => 'alike' in row;

/** Why a check was not asked: in its own words, or by the names of what failed. */
function reasons(all: readonly CheckResult[]): (result: CheckResult) => string {
  const byId = new Map(all.map((result) => [result.id, result]));
  const roots = (result: CheckResult): readonly string[] =>
    result.status !== 'blocked'
      ? [result.id]
      : result.by.flatMap((id) => {
          const needed = byId.get(id);
          return needed ? roots(needed) : [id];
        });
  return (result) =>
    result.status === 'blocked' ? `They need ${[...new Set(roots(result))].join(' and ')}.` : result.sentence;
}

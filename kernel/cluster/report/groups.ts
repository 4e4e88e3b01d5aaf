import type { CheckResult } from '#cluster/result.ts';

/** Checks that did not run for the same reason: they were skipped for it, or depend on the same failed check. */
export type Group = {
  readonly status: 'skipped' | 'blocked';
  /** `The profile is not on AWS.`, `They need rbac-binding-cluster.` */
  readonly reason: string;
  readonly alike: readonly CheckResult[];
};

/** Minimum size of a group, because two dozen lines "The profile is not on AWS." would hide the rest. */
const fewest = 2;

/**
 * Groups results with the same reason, at the position of the first.
 * @param all results of the run, because a blocked check may refer to a failed one only through other blocked checks
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

/** Returns why a check did not run: its own sentence, or the ids of the failed checks. */
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

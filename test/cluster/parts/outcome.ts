import type { CheckId } from '#cluster/checkIds.ts';
import { allChecks } from '#cluster/checks/all.ts';
import type { Fix } from '#cluster/fixes/fix.ts';
import type { CheckReport, CheckStatus } from '#cluster/result.ts';

/** Returns the checks that failed or warned, with their statuses. */
export const problemsOf = ({ results }: CheckReport): Partial<Record<CheckId, CheckStatus>> =>
  Object.fromEntries(
    results.filter(({ status }) => status === 'fail' || status === 'warn').map(({ id, status }) => [id, status]),
  );

/**
 * Returns a message for each check that is blocked without a reason, or not blocked although there is a reason. A
 * correct report gives no messages.
 */
export function wronglyBlocked({ results }: CheckReport): string[] {
  const statusOf = new Map(results.map(({ id, status }) => [id, status]));
  const stops = (id: CheckId): boolean => ['fail', 'blocked', 'skipped'].includes(statusOf.get(id) ?? 'pass');
  return allChecks.flatMap(({ id, needs }) => {
    const status = statusOf.get(id);
    const missing = needs.filter(stops);
    if (status === 'blocked') return missing.length > 0 ? [] : [`${id} is blocked, and all it needs has passed`];
    const isAnswered = status === 'pass' || status === 'warn' || status === 'fail';
    return isAnswered && missing.length > 0 ? [`${id} was asked, though ${missing.join(', ')} did not pass`] : [];
  });
}

/** Returns the message of a check in a report. */
export function sentenceOf({ results }: CheckReport, id: CheckId): string {
  const found = results.find((result) => result.id === id);
  if (!found) throw new Error(`The report has no ${id}.`);
  return found.sentence;
}

/** Returns the fix of a check in a report. */
export function mendOf({ results }: CheckReport, id: CheckId): Fix | undefined {
  const result = results.find((one) => one.id === id);
  return result && 'mend' in result ? result.mend : undefined;
}

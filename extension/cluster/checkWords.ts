import type { Fix } from '#cluster/fixes/fix.ts';
import { isUnknown } from '#cluster/report/summary.ts';
import type { CheckReport, CheckResult, CheckStatus } from '#cluster/result.ts';
import type { Progress } from './checkBoard.ts';

/** How a status looks: a word and a product icon, with a theme color or without. Color alone shows no status. */
type Look = { readonly word: string; readonly icon: string; readonly color?: string };

export const statusIcons: Readonly<Record<CheckStatus | Progress, Look>> = {
  pass: { word: 'passed', icon: 'pass-filled', color: 'testing.iconPassed' },
  warn: { word: 'warning', icon: 'warning', color: 'problemsWarningIcon.foreground' },
  fail: { word: 'failed', icon: 'error', color: 'problemsErrorIcon.foreground' },
  blocked: { word: 'blocked', icon: 'circle-slash', color: 'testing.iconQueued' },
  skipped: { word: 'skipped', icon: 'debug-step-over', color: 'testing.iconSkipped' },
  waiting: { word: 'waiting', icon: 'circle-outline', color: 'disabledForeground' },
  asking: { word: 'running', icon: 'loading~spin' },
};

/** The look of a skipped check whose answer is unknown. A check that does not apply has another icon. */
const unknown: Look = { word: 'not known', icon: 'question', color: 'testing.iconSkipped' };

export const statusIcon = (result: CheckResult): Look => (isUnknown(result) ? unknown : statusIcons[result.status]);

/** The statuses, worst first. A group has the worst status of its checks. */
const worstFirst: readonly CheckStatus[] = ['fail', 'blocked', 'warn', 'pass', 'skipped'];

export const worstOf = (counts: CheckReport['counts']): CheckStatus =>
  worstFirst.find((status) => counts[status] > 0) ?? 'skipped';

const countWords: Readonly<Record<CheckStatus, readonly [one: string, more: string]>> = {
  fail: ['failed', 'failed'],
  warn: ['warning', 'warnings'],
  blocked: ['blocked', 'blocked'],
  pass: ['passed', 'passed'],
  skipped: ['skipped', 'skipped'],
};

/** Returns a summary such as `1 failed, 2 warnings, 38 passed`; omits zero counts. */
export function countsText(counts: CheckReport['counts']): string {
  const order = ['fail', 'warn', 'blocked', 'pass', 'skipped'] as const;
  const parts = order.filter((status) => counts[status] > 0);
  return parts.map((status) => `${counts[status]} ${countWords[status][counts[status] === 1 ? 0 : 1]}`).join(', ');
}

/** Returns the fix of a failed check or a warning, if one is known. */
export const fixOf = (result: CheckResult | undefined): Fix | undefined =>
  result && (result.status === 'fail' || result.status === 'warn') ? result.mend : undefined;

export const fixCommand = (mend: Fix): string => (mend.kind === 'advice' ? mend.text : mend.command);

import type { CheckId } from '#cluster/checkIds.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { CheckReport } from '#cluster/result.ts';
import { withProgress } from '../host/ask.ts';
import { askModal } from '../host/messages.ts';
import type { ChecksView } from './checksView.ts';
import type { ClusterChecks } from './clusterChecks.ts';

type GateDeps = { checks: ClusterChecks; checksView: Pick<ChecksView, 'focus'> };

/** The checks before a launch, and the label of the button that launches despite failures. */
type Launch = { readonly ids: readonly CheckId[]; readonly anyway: string };

/** Maximum number of failures in the dialog. */
const mostShown = 5;

/**
 * Runs the checks for a launch on a cluster. If a check fails, the user decides whether to launch. Warnings don't
 * prevent a launch.
 * @returns false if the user chooses to see the problems or cancels, or if the run was stopped
 * @throws AbortError if the signal aborts
 */
export async function runPreflightChecks(
  { checks, checksView }: GateDeps,
  profile: ClusterProfile,
  { ids, anyway }: Launch,
  signal: AbortSignal,
): Promise<boolean> {
  const report = await withProgress(`Checking "${profile.name}"…`, (left) =>
    checks.run(profile, { only: ids, signal: AbortSignal.any([signal, left]) }),
  );
  signal.throwIfAborted();
  if (report.stopped) return false;
  const failed = report.results.filter(({ status }) => status === 'fail');
  if (failed.length === 0) return true;
  const show = 'Show Problems';
  const question = `"${profile.name}" is not ready: ${failed.length === 1 ? 'a check' : `${failed.length} checks`} failed.`;
  const choice = await askModal(question, detailOf(failed), show, anyway);
  signal.throwIfAborted();
  if (choice === show) await checksView.focus();
  return choice === anyway;
}

function detailOf(failed: CheckReport['results']): string {
  // Don't show titles: a title states what should be true, which would contradict the finding beside it.
  const shown = failed.slice(0, mostShown).map(({ sentence }) => sentence);
  const omitted = failed.length - shown.length;
  return [...shown, ...(omitted > 0 ? [`… and ${omitted} more.`] : [])].join('\n\n');
}

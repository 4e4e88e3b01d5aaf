import * as vscode from 'vscode';
import type { CheckId } from '#cluster/checkIds.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { CheckReport } from '#cluster/result.ts';
import { withProgress } from '../host/ask.ts';
import type { ChecksView } from './checksView.ts';
import type { ClusterChecks } from './clusterChecks.ts';

type GateParts = { checks: ClusterChecks; checksView: Pick<ChecksView, 'focus'> };

/** What is to be launched, and the button that does it past a failure. */
type Launch = { readonly ids: readonly CheckId[]; readonly anyway: string };

/** A sentence a failure; a person who has to decide reads no more than these. */
const mostShown = 5;

/**
 * Whether something may be launched on a cluster: runs the checks that it needs, and where one fails lets the person
 * decide. Warnings hold nobody up.
 * @returns false when the person wants to see the problems first, or leaves, and for a run that was stopped
 * @throws AbortError when the signal aborts
 */
export async function gateOnChecks(
  { checks, checksView }: GateParts,
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
  const choice = await vscode.window.showWarningMessage(
    question,
    { modal: true, detail: detailOf(failed) },
    show,
    anyway,
  );
  signal.throwIfAborted();
  if (choice === show) await checksView.focus();
  return choice === anyway;
}

function detailOf(failed: CheckReport['results']): string {
  // Titles say what should be so, which beside a sentence of what is reads as its opposite.
  const shown = failed.slice(0, mostShown).map(({ sentence }) => sentence);
  const omitted = failed.length - shown.length;
  return [...shown, ...(omitted > 0 ? [`… and ${omitted} more.`] : [])].join('\n\n');
}

import * as vscode from 'vscode';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { CheckReport } from '#cluster/result.ts';
import { asRecord } from '#shared/records.ts';
import { confirm } from '../host/ask.ts';
import { registerCommand } from '../host/commands.ts';
import type { Log } from '../host/log.ts';
import { showInformation, showViewProgress } from '../host/messages.ts';
import { viewIds } from '../manifest.ts';
import { checksOf } from './checkBoard.ts';
import { checkIdsOf } from './checkNodes.ts';
import type { ChecksView } from './checksView.ts';
import { chooseProfile } from './chooseProfile.ts';
import type { ClusterChecks, RunChecks } from './clusterChecks.ts';
import type { ClusterProfiles } from './clusterProfiles.ts';

export type CheckCommandDeps = {
  log: Log;
  checks: ClusterChecks;
  profiles: ClusterProfiles;
  checksView: ChecksView;
};

/** Registers the commands that run checks. checkDocuments.ts registers the commands that show results. */
export function registerCheckCommands(parts: CheckCommandDeps): vscode.Disposable {
  const { log, checks, checksView } = parts;
  return vscode.Disposable.from(
    registerCommand(log, 'lanceCatalog.cluster.verify', async (given) => {
      const name = nameIn(given);
      const profile = await chooseProfile(parts, name);
      return profile && runInView(parts, profile, {});
    }),
    registerCommand(log, 'lanceCatalog.cluster.verifyWithProbe', async (given) => {
      const profile = await chooseProfile(parts, nameIn(given));
      if (!profile || !(await confirmProbe(profile))) return undefined;
      return runInView(parts, profile, { probe: true });
    }),
    registerCommand(log, 'lanceCatalog.cluster.rerun', async (node = checksView.selected) => {
      const { board } = checks;
      if (!board) return undefined;
      return runInView(parts, parts.profiles.get(board.profile), { only: checkIdsOf(board, node) });
    }),
    registerCommand(log, 'lanceCatalog.cluster.rerunFailed', async () => {
      const { board } = checks;
      if (!board) return undefined;
      // Blocked checks run again, too, because they depend on failed checks.
      const wanted = ['fail', 'warn', 'blocked'];
      const only = checksOf(board).filter(({ result }) => result && wanted.includes(result.status));
      if (only.length === 0) {
        void showInformation(`No check of "${board.profile}" failed.`);
        return undefined;
      }
      return runInView(parts, parts.profiles.get(board.profile), { only: only.map(({ id }) => id) });
    }),
    registerCommand(log, 'lanceCatalog.cluster.stop', () => checks.stop()),
    registerCommand(log, 'lanceCatalog.cluster.chooseProfile', async () => {
      const profile = await chooseProfile(parts, undefined, 'Select the cluster whose checks to show');
      if (!profile) return;
      await checks.show(profile.name);
      await checksView.focus();
      if (checks.board?.profile !== profile.name) await runInView(parts, profile, {});
    }),
    registerCommand(log, 'lanceCatalog.cluster.showProblems', () => void (checksView.onlyProblems = true)),
    registerCommand(log, 'lanceCatalog.cluster.showAll', () => void (checksView.onlyProblems = false)),
  );
}

/** Focuses the view, which shows the progress, and runs checks. */
async function runInView(
  { checks, checksView }: CheckCommandDeps,
  profile: ClusterProfile,
  options: RunChecks,
): Promise<CheckReport> {
  await checksView.focus();
  return showViewProgress(viewIds.checks, () => checks.run(profile, options));
}

/** Lists exactly what the probes would write, and asks for confirmation. Without confirmation, nothing is written. */
async function confirmProbe({ name, storage, namespace }: ClusterProfile): Promise<boolean> {
  const { listChecks } = await import('#cluster/entry.ts');
  const writes = [...new Set(listChecks().flatMap(({ writes: would }) => would ?? []))];
  const where = storage ? `${storage.scheme}://${storage.bucket}` : 'none (the profile sets no storage)';
  return confirm(
    `Verify "${name}" and write probes?`,
    [
      `Checks that apply to this profile would: ${writes.join('; ')}.`,
      `Bucket: ${where}. Namespace: ${namespace}. Each probe has a unique name and is removed at the end, even if you stop the run.`,
    ].join('\n\n'),
    'Verify and Write Probes',
  );
}

function nameIn(given: unknown): string | undefined {
  const { profile } = asRecord(given);
  return typeof profile === 'string' ? profile : undefined;
}

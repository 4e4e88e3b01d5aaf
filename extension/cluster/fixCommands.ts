import * as vscode from 'vscode';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import type { FixPreview } from '#cluster/fixes/applyFix.ts';
import type { KubernetesManifest } from '#cluster/fixes/fix.ts';
import type { KubeConnection } from '#cluster/kube/kubeConnection.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { CheckResult } from '#cluster/result.ts';
import { SecretRedactor } from '#cluster/secretTexts.ts';
import { confirm, withProgress } from '../host/ask.ts';
import { registerCommand } from '../host/commands.ts';
import { showDone, showInformation } from '../host/messages.ts';
import { type CheckDocumentDeps, requireReport } from './checkDocuments.ts';
import { resultOf } from './checkNodes.ts';
import { fixOf } from './checkWords.ts';
import { type FixPreviewProvider, fixScheme, type Proposal } from './fixPreviews.ts';

type MendCommandDeps = CheckDocumentDeps & { previews: FixPreviewProvider };

/** Registers the commands that show a fix and apply its objects. The user sees the changes before they are applied. */
export function registerFixCommands(parts: MendCommandDeps): vscode.Disposable {
  const { log, checks, checksView, previews } = parts;
  return vscode.Disposable.from(
    registerCommand(log, 'lanceCatalog.cluster.showMend', async (node = checksView.selected) => {
      const result = resultOf(checks.board, node);
      const objects = objectsOf(result);
      if (objects) await showObjects(parts, result, objects);
      else await showText(parts, result);
    }),
    registerCommand(log, 'lanceCatalog.cluster.applyMend', async (given) => {
      const uri = given instanceof vscode.Uri ? given : given === undefined ? activeUri() : undefined;
      if (uri?.scheme === fixScheme) return apply(parts, previews.proposalOf(uri));
      const result = resultOf(checks.board, given ?? checksView.selected);
      const objects = objectsOf(result);
      if (objects) {
        // `showObjects` returns nothing if it has shown the user why there is nothing to apply.
        const proposal = await showObjects(parts, result, objects);
        return proposal && apply(parts, proposal);
      }
      const what = `Can't apply the fix for "${result.title}": it is not a Kubernetes manifest.`;
      throw new ClusterError('InvalidRequest', what, 'Choose "Show Fix".');
    }),
  );
}

/**
 * Applies the objects in a dry run and shows the changes as a diff. If the user has no permission for the dry run,
 * shows the fix, which the user can send to an administrator.
 */
async function showObjects(
  parts: MendCommandDeps,
  result: CheckResult,
  objects: readonly KubernetesManifest[],
): Promise<Proposal | undefined> {
  const { id, title } = result;
  const { profile: name } = requireReport(parts);
  const profile = parts.profiles.get(name);
  let preview: FixPreview;
  try {
    preview = await withProgress(`Previewing the changes to "${name}"`, (signal) =>
      connected(profile, signal, async (connection) => {
        const { previewFix } = await import('#cluster/entry.ts');
        return previewFix(connection, objects, signal);
      }),
    );
  } catch (error) {
    if (!isClusterError(error) || error.kind !== 'Forbidden') throw error;
    parts.log.info(`the dry run was refused: ${error.message}`);
    await showText(parts, result);
    void showInformation(
      `Can't apply the fix to "${name}": you don't have permission. Send the fix shown here to a cluster administrator.`,
    );
    return undefined;
  }
  if (!preview.objects.some(({ changed }) => changed)) {
    void showInformation(
      `The fix would change nothing in "${name}": it is already applied. Run the check "${title}" again.`,
    );
    return undefined;
  }
  const proposal = { profile: name, id, preview };
  await parts.previews.show(`${name}: ${title} (dry run)`, proposal);
  return proposal;
}

/** Applies the shown objects after confirmation, and runs the check again. */
async function apply(parts: MendCommandDeps, proposal: Proposal | undefined): Promise<void> {
  if (!proposal) {
    const what = "Can't apply this preview: it was created in an earlier window.";
    throw new ClusterError('InvalidRequest', what, 'Choose "Show Fix" on the check again.');
  }
  const { log, profiles, checks } = parts;
  const { profile: name, id, preview } = proposal;
  const profile = profiles.get(name);
  const changed = preview.objects.filter((one) => one.changed);
  const conflicts = changed.flatMap(({ conflict }) => conflict ?? []);
  const isTakingOver = conflicts.length > 0;
  const detail = [
    ...changed.map((one) => `${one.before === '' ? 'Create' : 'Change'} ${one.name}`),
    ...(isTakingOver ? ['', 'Other clients manage fields that this fix changes:', ...conflicts] : []),
    '',
    'The editor shows the exact changes.',
  ].join('\n');
  const action = isTakingOver ? 'Take Over and Apply' : 'Apply';
  if (!(await confirm(`Apply to the cluster "${name}"?`, detail, action))) return;
  const applied = await withProgress(`Applying to "${name}"`, (signal) =>
    connected(profile, signal, async (connection) => {
      const { applyFix } = await import('#cluster/entry.ts');
      return applyFix(connection, preview, { signal, force: isTakingOver });
    }),
  );
  log.info(`applied to "${name}": ${applied.join(', ')}`);
  showDone(`Applied to "${name}": ${applied.join(', ')}`, 5000);
  await checks.run(profile, { only: [id] });
}

/** Shows a fix without objects: a script, a policy, or the check's page with advice. */
async function showText(parts: MendCommandDeps, result: CheckResult): Promise<void> {
  const mend = fixOf(result);
  const { profile } = requireReport(parts);
  if (!mend || mend.kind === 'advice') {
    await vscode.commands.executeCommand('lanceCatalog.cluster.showEvidence', { kind: 'check', ...result });
    return;
  }
  await vscode.window.showTextDocument(parts.documents.uri({ kind: 'mend', profile, id: result.id }), {
    preview: true,
  });
}

function objectsOf(result: CheckResult): readonly KubernetesManifest[] | undefined {
  const mend = fixOf(result);
  return mend?.kind === 'objects' ? mend.objects : undefined;
}

async function connected<T>(
  { auth }: ClusterProfile,
  signal: AbortSignal,
  run: (connection: KubeConnection) => Promise<T>,
): Promise<T> {
  const { connectKube } = await import('#cluster/entry.ts');
  const connection = await connectKube(auth, { hidden: new SecretRedactor(), signal });
  try {
    return await run(connection);
  } finally {
    await connection.close();
  }
}

const activeUri = (): vscode.Uri | undefined => vscode.window.activeTextEditor?.document.uri;

import * as vscode from 'vscode';
import type { CheckReport } from '#cluster/check.ts';
import { ClusterError } from '#cluster/errors.ts';
import { reportJson } from '#cluster/report/reportJson.ts';
import { registerCommand } from '../host/commands.ts';
import { checkIdOf, resultOf } from './checkNodes.ts';
import type { CheckCommandParts } from './commands.ts';
import { mendOf, mendToCopy } from './checkWords.ts';
import type { CheckDocuments } from './checkDocuments.ts';

export type CheckDocumentParts = CheckCommandParts & { documents: CheckDocuments };

/** The commands that show, copy and save what a run found. */
export function registerCheckDocuments(parts: CheckDocumentParts): vscode.Disposable {
  const { log, checks, checksView, documents } = parts;
  return vscode.Disposable.from(
    registerCommand(log, 'lanceCatalog.cluster.showEvidence', async (node = checksView.selected) => {
      const { id } = resultOf(checks.board, node);
      await showPage(documents.uri({ kind: 'evidence', profile: reportOf(parts).profile, id }));
    }),
    registerCommand(log, 'lanceCatalog.cluster.copyMend', async (node = checksView.selected) => {
      const result = resultOf(checks.board, node);
      const mend = mendOf(result);
      if (!mend) {
        const what = `Nothing is known that mends "${result.title}".`;
        throw new ClusterError('InvalidRequest', what, 'Read its documentation ("Open Documentation of Check").');
      }
      await vscode.env.clipboard.writeText(mendToCopy(mend));
      void vscode.window.setStatusBarMessage('$(check) Copied what mends it', 3000);
    }),
    registerCommand(log, 'lanceCatalog.cluster.openDocs', async (node = checksView.selected) => {
      await showPage(documents.docs(checkIdOf(node) ?? ''));
    }),
    registerCommand(log, 'lanceCatalog.cluster.showReport', async () => {
      await showPage(documents.uri({ kind: 'report', profile: reportOf(parts).profile }));
    }),
    registerCommand(log, 'lanceCatalog.cluster.saveReport', async (given) => {
      const report = reportOf(parts);
      const target = given instanceof vscode.Uri ? given : await askWhere(report);
      if (!target) return undefined;
      await save(target, reportJson(report));
      return target;
    }),
  );
}

/** The report that is shown. @throws ClusterError before a first run */
export function reportOf({ checks }: CheckCommandParts): CheckReport {
  const report = checks.board && checks.reportOf(checks.board.profile);
  if (report) return report;
  throw new ClusterError(
    'InvalidRequest',
    'No cluster was verified in this workspace yet.',
    'Run "Verify Cluster Identity".',
  );
}

/** A page of Markdown as it is meant to be read; its text where the editor's own preview is switched off. */
async function showPage(uri: vscode.Uri): Promise<void> {
  try {
    await vscode.commands.executeCommand('markdown.showPreview', uri);
  } catch {
    await vscode.window.showTextDocument(uri, { preview: true });
  }
}

/** @throws ClusterError where nothing can be written there, in place of the error of a system call */
async function save(target: vscode.Uri, text: string): Promise<void> {
  try {
    await vscode.workspace.fs.writeFile(target, new TextEncoder().encode(text));
  } catch (cause) {
    const what = `The report can't be saved as ${target.fsPath}.`;
    throw new ClusterError('InvalidRequest', what, 'Choose a folder that you may write to.', { cause });
  }
}

async function askWhere({ profile, startedAt }: CheckReport): Promise<vscode.Uri | undefined> {
  const name = `${profile.replaceAll(/[^\w.-]+/g, '-')}-${startedAt.slice(0, 10)}.json`;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  return vscode.window.showSaveDialog({
    title: 'Save Report as JSON',
    filters: { JSON: ['json'] },
    ...(folder && { defaultUri: vscode.Uri.joinPath(folder, name) }),
  });
}

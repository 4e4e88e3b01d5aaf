import * as vscode from 'vscode';
import { type CheckId, isCheckId } from '#cluster/checkIds.ts';
import { ClusterError } from '#cluster/errors.ts';
import { formatFix } from '#cluster/report/fixText.ts';
import { reportJson } from '#cluster/report/reportJson.ts';
import { reportMarkdown } from '#cluster/report/reportMarkdown.ts';
import { docsOf } from '#cluster/report/summary.ts';
import type { CheckReport, CheckResult } from '#cluster/result.ts';
import { registerCommand } from '../host/commands.ts';
import { codeBlock, codeSpan, type InertMarkdown, markdown, paragraphs, plainText } from '../host/inertMarkdown.ts';
import { showDone } from '../host/messages.ts';
import { checkIdOf, resultOf } from './checkNodes.ts';
import { statusIcons, fixOf, fixCommand } from './checkWords.ts';
import type { CheckCommandDeps } from './commands.ts';

function evidenceMarkdown(result: CheckResult, report: CheckReport): InertMarkdown {
  const { id, title, status, sentence, evidence, milliseconds, attempts } = result;
  const mend = fixOf(result);
  const { command, document, advice } = mend ? formatFix(mend) : {};
  const tries = attempts > 1 ? `, ${attempts} attempts` : '';
  const facts = `${milliseconds} ms${tries} · profile ${report.profile} · ${report.startedAt}`;
  const text = paragraphs([
    markdown`# ${plainText(title)}`,
    markdown`**${plainText(statusIcons[status].word)}** · ${codeSpan(id)} · ${plainText(facts)}`,
    plainText(sentence),
    markdown`
## Evidence
    `,
    ...(evidence.length === 0
      ? [
          markdown`
This check recorded no evidence.
          `,
        ]
      : []),
    ...evidence.map(({ asked, saw }) => codeBlock(`${asked}\n→ ${saw}`)),
    ...(mend
      ? [
          markdown`
## Fix
          `,
        ]
      : []),
    ...(advice === undefined ? [] : [plainText(advice)]),
    // Leave out the manifest of a fix of kind `objects`, because its command contains the whole manifest.
    ...(document && mend?.kind === 'document'
      ? [markdown`${plainText(document.title)}:`, codeBlock(document.text.trimEnd(), document.language)]
      : []),
    ...(command === undefined ? [] : [codeBlock(command, 'sh')]),
  ]);
  return markdown`${text}\n`;
}

/** URI scheme of read-only documents about reports. */
export const checkScheme = 'lance-check';

type CheckDocument =
  | { readonly kind: 'report'; readonly profile: string }
  | { readonly kind: 'evidence' | 'mend'; readonly profile: string; readonly id: CheckId };

/** Provides documents about reports. Generates each document on demand, so a reloaded window can show it again. */
export class CheckDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #reportOf: (profile: string) => CheckReport | undefined;
  readonly #extensionUri: vscode.Uri;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;

  constructor(reportOf: (profile: string) => CheckReport | undefined, extensionUri: vscode.Uri) {
    this.#reportOf = reportOf;
    this.#extensionUri = extensionUri;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const document = documentOf(uri);
    const report = document && this.#reportOf(document.profile);
    if (!document || !report) return 'This report no longer exists. Run "Lance Catalog: Verify Cluster Identity".\n';
    // Leave out links to the documentation, because VS Code's preview can't follow links from a document without a
    // file. The rows of the view have these links.
    if (document.kind === 'report') return reportMarkdown(report, { docs: () => undefined });
    const result = report.results.find(({ id }) => id === document.id);
    if (!result) return `The check ${document.id} is not in the report of "${document.profile}".\n`;
    return document.kind === 'mend' ? mendDocument(result).text : evidenceMarkdown(result, report);
  }

  docs(id: string): vscode.Uri {
    const [path = '', fragment = ''] = docsOf(id).split('#');
    return vscode.Uri.joinPath(this.#extensionUri, path).with({ fragment });
  }

  uri(document: CheckDocument): vscode.Uri {
    return vscode.Uri.from({ scheme: checkScheme, path: pathOf(document, this.#reportOf(document.profile)) });
  }

  refresh(): void {
    for (const { uri } of vscode.workspace.textDocuments) if (uri.scheme === checkScheme) this.#changed.fire(uri);
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

/**
 * Returns a path such as `/prod/report/Checks of prod.md`. Its last part is the title of the tab; the other parts
 * identify the document.
 */
function pathOf(document: CheckDocument, report: CheckReport | undefined): string {
  const { kind, profile } = document;
  const folder = `/${encodeURIComponent(profile)}/${kind}`;
  if (kind === 'report') return `${folder}/Checks of ${encodeURIComponent(profile)}.md`;
  const result = report?.results.find(({ id }) => id === document.id);
  const ending = kind === 'mend' && result ? mendDocument(result).ending : 'md';
  return `${folder}/${document.id}.${ending}`;
}

function documentOf({ path }: vscode.Uri): CheckDocument | undefined {
  const [, written = '', kind, name = ''] = path.split('/');
  const profile = decodeURIComponent(written);
  if (kind === 'report') return { kind, profile };
  const id = name.replace(/\.\w+$/, '');
  return (kind === 'evidence' || kind === 'mend') && isCheckId(id) ? { kind, profile, id } : undefined;
}

/** Returns the fix of a result as a file: a manifest, a policy, or a script with its purpose. */
function mendDocument(result: CheckResult): { text: string; ending: string } {
  const mend = fixOf(result);
  if (!mend) return { text: 'This check needs no fix.\n', ending: 'md' };
  const { command, document, advice } = formatFix(mend);
  if (document) return { text: document.text, ending: document.language === 'json' ? 'json' : 'yaml' };
  if (command === undefined) return { text: `${advice ?? ''}\n`, ending: 'md' };
  return { text: `# ${result.title}\n# ${result.sentence}\n\n${command}\n`, ending: 'sh' };
}

export type CheckDocumentDeps = CheckCommandDeps & { documents: CheckDocuments };

export function registerCheckDocuments(parts: CheckDocumentDeps): vscode.Disposable {
  const { log, checks, checksView, documents } = parts;
  return vscode.Disposable.from(
    registerCommand(log, 'lanceCatalog.cluster.showEvidence', async (node = checksView.selected) => {
      const { id } = resultOf(checks.board, node);
      await showPage(documents.uri({ kind: 'evidence', profile: requireReport(parts).profile, id }));
    }),
    registerCommand(log, 'lanceCatalog.cluster.copyMend', async (node = checksView.selected) => {
      const result = resultOf(checks.board, node);
      const mend = fixOf(result);
      if (!mend) {
        const what = `Can't copy a fix for "${result.title}": no fix is known.`;
        throw new ClusterError('InvalidRequest', what, 'Read its documentation ("Open Check Documentation").');
      }
      await vscode.env.clipboard.writeText(fixCommand(mend));
      showDone('Copied the fix', 3000);
    }),
    registerCommand(log, 'lanceCatalog.cluster.openDocs', async (node = checksView.selected) => {
      await showPage(documents.docs(checkIdOf(node) ?? ''));
    }),
    registerCommand(log, 'lanceCatalog.cluster.showReport', async () => {
      await showPage(documents.uri({ kind: 'report', profile: requireReport(parts).profile }));
    }),
    registerCommand(log, 'lanceCatalog.cluster.saveReport', async (given) => {
      const report = requireReport(parts);
      const target = given instanceof vscode.Uri ? given : await askWhere(report);
      if (!target) return undefined;
      await save(target, reportJson(report));
      return target;
    }),
  );
}

/** Returns the report of the current profile. @throws ClusterError if no check has run */
export function requireReport({ checks }: CheckCommandDeps): CheckReport {
  const report = checks.board && checks.reportOf(checks.board.profile);
  if (report) return report;
  throw new ClusterError(
    'InvalidRequest',
    'No cluster was verified in this workspace yet.',
    'Run "Verify Cluster Identity".',
  );
}

/** Shows a Markdown page as a preview, or as text if VS Code's Markdown preview is disabled. */
async function showPage(uri: vscode.Uri): Promise<void> {
  try {
    await vscode.commands.executeCommand('markdown.showPreview', uri);
  } catch {
    await vscode.window.showTextDocument(uri, { preview: true });
  }
}

/** @throws ClusterError if the file can't be written */
async function save(target: vscode.Uri, text: string): Promise<void> {
  try {
    await vscode.workspace.fs.writeFile(target, new TextEncoder().encode(text));
  } catch (cause) {
    const what = `Can't save the report as "${target.fsPath}".`;
    throw new ClusterError('InvalidRequest', what, 'Choose a folder with write permission.', { cause });
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

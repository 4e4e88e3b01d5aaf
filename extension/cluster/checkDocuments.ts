import * as vscode from 'vscode';
import { isCheckId, type CheckId } from '#cluster/checkIds.ts';
import type { CheckReport, CheckResult } from '#cluster/check.ts';
import { docsOf } from '#cluster/report/summary.ts';
import { reportMarkdown } from '#cluster/report/reportMarkdown.ts';
import { mendText } from '#cluster/report/mendText.ts';
import { evidenceMarkdown } from './evidence.ts';
import { mendOf } from './checkWords.ts';

/** Of documents that only show what is known; they have no file and cannot be written. */
export const checkScheme = 'lance-check';

export type CheckDocument =
  | { readonly kind: 'report'; readonly profile: string }
  | { readonly kind: 'evidence' | 'mend'; readonly profile: string; readonly id: CheckId };

/** Texts about reports, made anew from what is known when they are asked for: a window that reloads shows them again. */
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
    if (!document || !report) return 'Nothing is known here any more. Run "Lance Catalog: Verify Cluster Identity".\n';
    // The editor's preview follows no link out of a document without a file; the rows of the view lead there.
    if (document.kind === 'report') return reportMarkdown(report, { docs: () => undefined });
    const result = report.results.find(({ id }) => id === document.id);
    if (!result) return `The check ${document.id} is not in the report of "${document.profile}".\n`;
    return document.kind === 'mend' ? mendDocument(result).text : evidenceMarkdown(result, report);
  }

  /** Where a check is explained. */
  docs(id: string): vscode.Uri {
    const [path = '', fragment = ''] = docsOf(id).split('#');
    return vscode.Uri.joinPath(this.#extensionUri, path).with({ fragment });
  }

  uri(document: CheckDocument): vscode.Uri {
    return vscode.Uri.from({ scheme: checkScheme, path: pathOf(document, this.#reportOf(document.profile)) });
  }

  /** What is open is read again. */
  refresh(): void {
    for (const { uri } of vscode.workspace.textDocuments) if (uri.scheme === checkScheme) this.#changed.fire(uri);
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

/** `/prod/report/Checks of prod.md`: the last part is what the tab is called, the ones before say what it is. */
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

/** What mends a result, as a file of its language: a manifest, a policy, or a script with what it is for. */
function mendDocument(result: CheckResult): { text: string; ending: string } {
  const mend = mendOf(result);
  if (!mend) return { text: 'Nothing is to be mended here.\n', ending: 'md' };
  const { command, document, advice } = mendText(mend);
  if (document) return { text: document.text, ending: document.language === 'json' ? 'json' : 'yaml' };
  if (command === undefined) return { text: `${advice ?? ''}\n`, ending: 'md' };
  return { text: `# ${result.title}\n# ${result.sentence}\n\n${command}\n`, ending: 'sh' };
}

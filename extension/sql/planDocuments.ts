import * as vscode from 'vscode';

/** URI scheme of read-only documents with the plan of a query. */
export const planScheme = 'lance-sql-plan';

/** The plans of queries as read-only text, one document a file. */
export class PlanDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #plans = new Map<string, string>();
  readonly onDidChange = this.#changed.event;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#plans.get(uri.query) ?? 'This plan no longer exists. Run "Lance Catalog: Explain SQL" again.\n';
  }

  /** Shows the plan of a query beside its file, instead of the file's last plan. */
  async show(file: vscode.TextDocument, plan: string): Promise<void> {
    const key = file.uri.toString();
    const name = file.uri.path.split('/').at(-1) ?? 'query';
    const uri = vscode.Uri.from({ scheme: planScheme, path: `/Plan of ${name}.txt`, query: key });
    this.#plans.set(uri.query, plan);
    this.#changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    const options = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: true };
    await vscode.window.showTextDocument(document, options);
  }

  dispose(): void {
    this.#changed.dispose();
    this.#plans.clear();
  }
}

import * as vscode from 'vscode';
import { askModal } from '../../host/messages.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import type { ComputedColumn, ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { functionText } from './functionText.ts';

/** URI scheme of read-only documents with the code of a stored function. */
export const functionScheme = 'lance-function';

const endings: Readonly<Record<ComputedFunction['kind'], string>> = {
  sql: 'sql',
  typescript: 'ts',
  python: 'py',
  server: 'txt',
};
/** Provides the code of stored functions, for review by the user before it runs. */
export class FunctionDocuments implements vscode.TextDocumentContentProvider {
  readonly #texts = new Map<string, string>();

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.path) ?? 'This function is no longer available. Start the backfill again.\n';
  }

  /**
   * Shows a stored function and asks whether it may run on this machine from now on.
   * @returns whether the user accepts it
   */
  async askConsent(stored: ComputedColumn, { table }: BackfillRequest): Promise<boolean> {
    const { function: made, author } = stored;
    const path = `/${made.hash.slice(0, 16)}/${made.name}.${endings[made.kind]}`;
    const where = [...table.namespacePath, table.name].join('/');
    this.#texts.set(path, functionText(stored, where));
    const document = await vscode.workspace.openTextDocument(vscode.Uri.from({ scheme: functionScheme, path }));
    await vscode.window.showTextDocument(document, { preview: true });
    const accept = 'Accept and Continue';
    const choice = await askModal(
      `Run the function "${made.name}", stored with table "${where}", on this machine?`,
      `The editor shows its code. Author according to the table: "${author}" (not verified). After you accept, ` +
        `VS Code runs this exact code (${made.hash.slice(0, 16)}…) on this machine without asking again.`,
      accept,
    );
    return choice === accept;
  }
}

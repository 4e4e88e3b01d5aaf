import * as vscode from 'vscode';
import { showWarning } from '../../host/messages.ts';
import type { CommandId } from '../../manifest.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import type { ComputedColumn, ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { checkReviewable } from '#shared/jobs/functionReview.ts';
import { functionText } from './functionText.ts';

/** URI scheme of read-only documents with the code of a stored function. */
export const functionScheme = 'lance-function';

const endings: Readonly<Record<ComputedFunction['kind'], string>> = {
  sql: 'sql',
  typescript: 'ts',
  python: 'py',
  server: 'txt',
};

const acceptTitle = 'Accept and Continue';
const lenses: readonly (readonly [title: string, command: CommandId])[] = [
  [`$(check) ${acceptTitle}`, 'lanceCatalog.function.accept'],
  ['Decline', 'lanceCatalog.function.decline'],
];

/** Provides the code of stored functions, and asks the user whether the code may run. */
export class FunctionDocuments implements vscode.TextDocumentContentProvider, vscode.CodeLensProvider {
  readonly #texts = new Map<string, string>();
  /** A callback for the answer to each open question, by the path of the document that shows the code. */
  readonly #questions = new Map<string, (isAccepted: boolean) => void>();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;
  #count = 0;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.path) ?? 'This function is no longer available. Start the backfill again.\n';
  }

  /**
   * Shows the buttons at the first and at the last line, because VS Code may hide the notification while the user still
   * reads the code.
   */
  provideCodeLenses({ uri, lineCount }: vscode.TextDocument): vscode.CodeLens[] {
    if (!this.#questions.has(uri.path)) return [];
    return [0, lineCount - 1].flatMap((line) => {
      const range = new vscode.Range(line, 0, line, 0);
      return lenses.map(([title, command]) => new vscode.CodeLens(range, { title, command, arguments: [uri] }));
    });
  }

  /** Answers the question about a document; does nothing if it has been answered. */
  answer(uri: vscode.Uri | undefined, isAccepted: boolean): void {
    const asked = uri ?? vscode.window.activeTextEditor?.document.uri;
    if (asked?.scheme === functionScheme) this.#questions.get(asked.path)?.(isAccepted);
  }

  /**
   * Shows the whole code of a stored function and asks whether it may run on this machine from now on. The user can
   * scroll while the question is open. Dismissing the question or closing the document declines the function.
   * @returns whether the user accepts the function
   * @throws JobError FunctionNotAccepted if the code is too long to be shown
   */
  async askConsent(stored: ComputedColumn, { table }: BackfillRequest, signal: AbortSignal): Promise<boolean> {
    const { function: made } = stored;
    const where = [...table.namespacePath, table.name].join('/');
    const text = functionText(stored, where);
    checkReviewable(
      text,
      made,
      `To allow it by its hash, run lance-catalog backfill with --allow-stored-code ${made.hash}.`,
    );
    // Each document has a new path, because the editor would show the earlier text of a document that is still open.
    const path = `/${++this.#count}/${made.name}.${endings[made.kind]}`;
    this.#texts.set(path, text);
    const uri = vscode.Uri.from({ scheme: functionScheme, path });
    const document = await vscode.workspace.openTextDocument(uri);
    // Open a permanent tab, because the next opened file would replace a preview tab.
    await vscode.window.showTextDocument(document, { preview: false });
    signal.throwIfAborted();
    return this.#ask(uri, `Run the function "${made.name}", stored with table "${where}", on this machine?`, signal);
  }

  #ask(uri: vscode.Uri, question: string, signal: AbortSignal): Promise<boolean> {
    const { path } = uri;
    return new Promise((resolve) => {
      const answer = (isAccepted: boolean): void => {
        // Ignore a second answer: the user may click the notification after a code lens has already answered the
        // question.
        if (this.#questions.get(path) !== answer) return;
        closing.dispose();
        signal.removeEventListener('abort', decline);
        this.#questions.delete(path);
        this.#changed.fire();
        resolve(isAccepted);
      };
      const decline = (): void => answer(false);
      const closing = vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
        if (closed.some((tab) => isTabOf(tab, uri))) decline();
      });
      signal.addEventListener('abort', decline, { once: true });
      this.#questions.set(path, answer);
      this.#changed.fire();
      showWarning(`${question} Read its code in the editor to the end first.`, acceptTitle).then(
        (choice) => answer(choice === acceptTitle),
        decline,
      );
    });
  }
}

const isTabOf = ({ input }: vscode.Tab, uri: vscode.Uri): boolean =>
  input instanceof vscode.TabInputText && input.uri.toString() === uri.toString();

import * as vscode from 'vscode';
import type { CellPlace } from '#shared/protocol/languageMessages.ts';
import { notebookIds } from '../../manifest.ts';
import { hasJupyter } from '../jupyter/jupyterExtension.ts';
import { isForOurKernel } from '../notebookKernel.ts';
import type { NotebookTabs } from '../notebookTabs.ts';

/**
 * The open notebooks for the Lance kernel: notebooks that name this kernel, and notebooks for which the user selected
 * it.
 */
export class LanguageNotebooks implements vscode.Disposable {
  readonly #ours = new Set<vscode.NotebookDocument>();
  /** Notebooks that ever named or used the Lance kernel. */
  readonly #met = new WeakSet<vscode.NotebookDocument>();
  /** Notebooks that are no longer in the list because their last tab was closed. */
  readonly #withoutTab = new WeakSet<vscode.NotebookDocument>();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #subscriptions: vscode.Disposable[];
  readonly onDidChange = this.#changed.event;

  constructor(controller: vscode.NotebookController, tabs: NotebookTabs) {
    this.#subscriptions = [
      this.#changed,
      vscode.workspace.onDidOpenNotebookDocument((notebook) => this.#meet(notebook)),
      // VS Code reports a new notebook before it has its metadata. A notebook that already has another kernel keeps
      // that kernel.
      vscode.workspace.onDidChangeNotebookDocument(({ notebook, metadata }) => {
        if (metadata && !this.#met.has(notebook)) this.#meet(notebook);
      }),
      vscode.workspace.onDidCloseNotebookDocument((notebook) => this.#set(notebook, false)),
      // The document may stay open after its last tab was closed, and its errors would stay in the list of problems.
      tabs.onDidClose((notebook) => {
        if (this.#ours.has(notebook)) this.#withoutTab.add(notebook);
        this.#set(notebook, false);
      }),
      tabs.onDidReopen((notebook) => {
        if (this.#withoutTab.delete(notebook)) this.#set(notebook, true);
      }),
      controller.onDidChangeSelectedNotebooks(({ notebook, selected }) => this.#set(notebook, selected)),
    ];
    for (const notebook of vscode.workspace.notebookDocuments) this.#meet(notebook);
  }

  list(): vscode.NotebookDocument[] {
    return [...this.#ours];
  }

  of(document: vscode.TextDocument): vscode.NotebookDocument | undefined {
    if (document.uri.scheme !== 'vscode-notebook-cell') return undefined;
    return this.list().find((notebook) => notebook.getCells().some((cell) => cell.document === document));
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #meet(notebook: vscode.NotebookDocument): void {
    if (notebook.notebookType !== notebookIds.notebookType) return;
    if (isForOurKernel(notebook.metadata, hasJupyter())) this.#set(notebook, true);
  }

  #set(notebook: vscode.NotebookDocument, isOurs: boolean): void {
    this.#met.add(notebook);
    if (this.#ours.has(notebook) === isOurs) return;
    if (isOurs) this.#ours.add(notebook);
    else this.#ours.delete(notebook);
    this.#changed.fire();
  }
}

const languages: readonly string[] = ['typescript', 'javascript'];

/** Returns the TypeScript and JavaScript cells in the order of the notebook. */
export const codeCells = (notebook: vscode.NotebookDocument): vscode.TextDocument[] =>
  notebook
    .getCells()
    .filter(({ kind, document }) => kind === vscode.NotebookCellKind.Code && languages.includes(document.languageId))
    .map((cell) => cell.document);

export const documentKey = ({ uri }: { uri: vscode.Uri }): string => uri.toString();

export const cellPosition = (
  notebook: vscode.NotebookDocument,
  document: vscode.TextDocument,
  position: vscode.Position,
): CellPlace => ({ notebook: documentKey(notebook), cell: documentKey(document), offset: document.offsetAt(position) });

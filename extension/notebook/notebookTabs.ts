import * as vscode from 'vscode';

/** Milliseconds without a tab after which a notebook counts as closed. A moved tab is closed and opened again. */
const moveMilliseconds = 1000;

/**
 * Reports notebooks whose last tab was closed. VS Code may keep the document of a closed tab open, for minutes or
 * longer, so the time when the document closes does not show when the user closed the notebook.
 */
export class NotebookTabs implements vscode.Disposable {
  readonly #closed = new vscode.EventEmitter<vscode.NotebookDocument>();
  readonly #reopened = new vscode.EventEmitter<vscode.NotebookDocument>();
  /** Fires when the last tab of a notebook was closed and its document is still open. */
  readonly onDidClose = this.#closed.event;
  /** Fires when a notebook that was reported as closed has a tab again, with the same document. */
  readonly onDidReopen = this.#reopened.event;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #reported = new WeakSet<vscode.NotebookDocument>();
  readonly #subscription: vscode.Disposable;
  #shown = shownNotebooks();

  constructor() {
    this.#subscription = vscode.window.tabGroups.onDidChangeTabs(() => this.#update());
  }

  /** Whether the last tab of the notebook was closed. False for a notebook that never had a tab. */
  isClosed(notebook: vscode.NotebookDocument): boolean {
    return this.#reported.has(notebook);
  }

  dispose(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#subscription.dispose();
    this.#closed.dispose();
    this.#reopened.dispose();
  }

  #update(): void {
    const before = this.#shown;
    const shown = (this.#shown = shownNotebooks());
    for (const uri of before) if (!shown.has(uri) && !this.#timers.has(uri)) this.#checkLater(uri);
    for (const uri of shown) {
      const notebook = openNotebook(uri);
      if (notebook && this.#reported.delete(notebook)) this.#reopened.fire(notebook);
    }
  }

  #checkLater(uri: string): void {
    const check = (): void => {
      this.#timers.delete(uri);
      const notebook = this.#shown.has(uri) ? undefined : openNotebook(uri);
      if (!notebook) return;
      this.#reported.add(notebook);
      this.#closed.fire(notebook);
    };
    this.#timers.set(uri, setTimeout(check, moveMilliseconds));
  }
}

/** Returns the URIs of notebooks that have a tab, also in other windows of this extension host. */
function shownNotebooks(): ReadonlySet<string> {
  const inputs = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ input }) => input));
  return new Set(
    inputs.flatMap((input) => {
      if (input instanceof vscode.TabInputNotebook) return [input.uri.toString()];
      return input instanceof vscode.TabInputNotebookDiff ? [input.modified.toString()] : [];
    }),
  );
}

const openNotebook = (uri: string): vscode.NotebookDocument | undefined =>
  vscode.workspace.notebookDocuments.find((one) => one.uri.toString() === uri);

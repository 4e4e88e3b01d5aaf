import * as vscode from 'vscode';
import { mapAt } from '#shared/fields.ts';
import type { Connections } from '../connections/connections.ts';
import type { State } from '../host/state.ts';
import { type CatalogChoice, chooseCatalog, namedConnection } from './catalogChoice.ts';

/** Limit of the stored notebooks per folder. The oldest entries are removed first. */
const maxNotebooks = 1000;

/**
 * The catalog of each notebook. A notebook is bound to a connection when its first kernel starts. It keeps that
 * connection, so that its `db` does not change when other connections are added. The binding is stored in the state of
 * the workspace under the URI of the notebook, so the file does not change.
 */
export class NotebookCatalogs implements vscode.Disposable {
  readonly #connections: Connections;
  readonly #state: State;
  readonly #bound: Map<string, string>;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #subscription: vscode.Disposable;

  constructor(connections: Connections, state: State) {
    this.#connections = connections;
    this.#state = state;
    this.#bound = new Map(Object.entries(mapAt(state.notebookCatalogs())));
    this.#subscription = vscode.workspace.onDidRenameFiles(({ files }) => {
      for (const { oldUri, newUri } of files) this.move(oldUri, newUri);
    });
  }

  choice(notebook: Pick<vscode.NotebookDocument, 'metadata' | 'uri'>): CatalogChoice {
    const bound = this.#bound.get(notebook.uri.toString());
    return chooseCatalog(namedConnection(notebook.metadata), this.#connections.list(), bound);
  }

  bind(notebook: vscode.Uri, connection: string): void {
    const key = notebook.toString();
    if (this.#bound.get(key) === connection) return;
    this.#bound.delete(key);
    this.#bound.set(key, connection);
    this.#save();
  }

  /** Removes a binding. A new untitled notebook may have the URI of an earlier one, but must not get that catalog. */
  forget(notebook: vscode.Uri): void {
    if (this.#bound.delete(notebook.toString())) this.#save();
  }

  /**
   * Moves the entries of a renamed notebook, of an untitled one that was saved, or of all notebooks in a renamed
   * folder.
   */
  move(from: vscode.Uri, to: vscode.Uri): void {
    const [before, after] = [from.toString(), to.toString()];
    const moved = [...this.#bound].filter(([key]) => key === before || key.startsWith(`${before}/`));
    if (moved.length === 0) return;
    for (const [key, connection] of moved) {
      this.#bound.delete(key);
      this.#bound.set(after + key.slice(before.length), connection);
    }
    this.#save();
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
  }

  #save(): void {
    for (const key of [...this.#bound.keys()].slice(0, -maxNotebooks)) this.#bound.delete(key);
    void this.#state.setNotebookCatalogs(Object.fromEntries(this.#bound));
    this.#changed.fire();
  }
}

import * as vscode from 'vscode';
import { mapAt } from '#shared/fields.ts';

/** Limit of the stored documents per folder. The oldest entries are removed first. */
const maxDocuments = 1000;

/** Where bindings are stored: names of connections by the URI of a document. */
export type BindingStore = {
  read(): unknown;
  write(names: Readonly<Record<string, string>>): Promise<void>;
};

/**
 * The connection of each document. The binding is stored in the state of the workspace under the URI of the document,
 * so the file does not change. It moves when the file or its folder is renamed.
 */
export class ConnectionBindings implements vscode.Disposable {
  readonly #store: BindingStore;
  readonly #bound: Map<string, string>;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #subscription: vscode.Disposable;

  constructor(store: BindingStore) {
    this.#store = store;
    this.#bound = new Map(Object.entries(mapAt(store.read())));
    this.#subscription = vscode.workspace.onDidRenameFiles(({ files }) => {
      for (const { oldUri, newUri } of files) this.move(oldUri, newUri);
    });
  }

  get(document: vscode.Uri): string | undefined {
    return this.#bound.get(document.toString());
  }

  bind(document: vscode.Uri, connection: string): void {
    const key = document.toString();
    if (this.#bound.get(key) === connection) return;
    this.#bound.delete(key);
    this.#bound.set(key, connection);
    this.#save();
  }

  /** Removes a binding. A new untitled document may have the URI of an earlier one, but must not get its connection. */
  forget(document: vscode.Uri): void {
    if (this.#bound.delete(document.toString())) this.#save();
  }

  /**
   * Moves the entries of a renamed document, of an untitled one that was saved, or of all documents in a renamed
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
    for (const key of [...this.#bound.keys()].slice(0, -maxDocuments)) this.#bound.delete(key);
    void this.#store.write(Object.fromEntries(this.#bound));
    this.#changed.fire();
  }
}

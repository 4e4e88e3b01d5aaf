import type * as vscode from 'vscode';
import { ConnectionBindings } from '../connections/bindings.ts';
import type { Connections } from '../connections/connections.ts';
import type { State } from '../host/state.ts';
import { type CatalogChoice, chooseCatalog, namedConnection } from './catalogChoice.ts';

/**
 * The catalog of each notebook. A notebook is bound to a connection when its first kernel starts. It keeps that
 * connection, so that its `db` does not change when other connections are added.
 */
export class NotebookCatalogs extends ConnectionBindings {
  readonly #connections: Connections;

  constructor(connections: Connections, state: State) {
    super({ read: () => state.notebookCatalogs(), write: (names) => state.setNotebookCatalogs(names) });
    this.#connections = connections;
  }

  choice(notebook: Pick<vscode.NotebookDocument, 'metadata' | 'uri'>): CatalogChoice {
    return chooseCatalog(namedConnection(notebook.metadata), this.#connections.list(), this.get(notebook.uri));
  }
}

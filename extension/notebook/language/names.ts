import type * as vscode from 'vscode';
import type { FittingNames, NameRequest } from '#catalog/names/catalogNames.ts';
import type { Naming } from '#shared/catalogConfig.ts';
import type { Catalogs } from '../../connections/catalogs.ts';
import { ConnectionNames } from '../../connections/connectionNames.ts';
import type { Connections } from '../../connections/connections.ts';
import type { NotebookCatalogs } from '../notebookCatalogs.ts';

export type LanguageNamesDeps = { catalogs: Catalogs; connections: Connections; notebookCatalogs: NotebookCatalogs };

/** Names of tables, namespaces and columns for a notebook's cells, read from the catalog of its `db`. */
export class LanguageNames {
  readonly #notebookCatalogs: NotebookCatalogs;
  readonly #names: ConnectionNames;

  constructor({ catalogs, connections, notebookCatalogs }: LanguageNamesDeps) {
    this.#notebookCatalogs = notebookCatalogs;
    this.#names = new ConnectionNames(catalogs, connections);
  }

  async fitting(notebook: vscode.NotebookDocument, naming: Naming, request: NameRequest): Promise<FittingNames> {
    const choice = this.#notebookCatalogs.choice(notebook);
    if (!('connection' in choice)) return { names: [], isPartial: false };
    return this.#names.fitting(choice.connection.name, naming, request);
  }

  /** Drops all names: a connection may now have another catalog, or a catalog other tables. */
  clear(): void {
    this.#names.clear();
  }
}

import type * as vscode from 'vscode';
import { CatalogNames, limitMilliseconds, type FittingName } from '#catalog/catalogNames.ts';
import type { Naming } from '#shared/catalogConfig.ts';
import type { Catalogs } from '../../connections/catalogs.ts';
import type { NotebookCatalogs } from '../notebookCatalogs.ts';

export type LanguageNamesDeps = { catalogs: Catalogs; notebookCatalogs: NotebookCatalogs };

/** Names of tables, namespaces and columns for a notebook's cells, read from the catalog of its `db`. */
export class LanguageNames {
  readonly #parts: LanguageNamesDeps;
  readonly #byConnection = new Map<string, CatalogNames>();

  constructor(parts: LanguageNamesDeps) {
    this.#parts = parts;
  }

  async fitting(notebook: vscode.NotebookDocument, naming: Naming, signal: AbortSignal): Promise<FittingName[]> {
    const { catalogs, notebookCatalogs } = this.#parts;
    const choice = notebookCatalogs.choice(notebook);
    if (!('connection' in choice)) return [];
    const { name } = choice.connection;
    let names = this.#byConnection.get(name);
    if (!names) {
      // Complete only names of `db`, because only the kernel knows other catalogs, which cells connect to.
      names = new CatalogNames({
        catalog: async (variable) => (variable === 'db' ? catalogs.get(name) : undefined),
        // Wait for the first request, which starts the engine. VS Code would treat an empty result as final, suggest
        // words of the notebook and not request again at the next letter. The user's next key cancels the request.
        patienceMilliseconds: limitMilliseconds,
      });
      this.#byConnection.set(name, names);
    }
    return names.fitting(naming, signal);
  }

  /** Drops all names: a connection may now have another catalog. */
  clear(): void {
    this.#byConnection.clear();
  }
}

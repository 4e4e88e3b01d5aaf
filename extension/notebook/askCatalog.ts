import type * as vscode from 'vscode';
import { askConnection } from '../connections/askConnection.ts';
import type { Connections } from '../connections/connections.ts';
import type { NotebookCatalogs } from './notebookCatalogs.ts';
import type { NotebookSession } from './session.ts';

type CatalogQuestionDeps = {
  connections: Connections;
  notebookCatalogs: NotebookCatalogs;
  session: (notebook: vscode.NotebookDocument) => NotebookSession | undefined;
};

/**
 * Returns a function that prompts for the catalog of a notebook before its first run. The function prompts if the
 * notebook names no connection and there are several connections, or if the notebook's connection no longer exists. It
 * does not change the notebook's file. It returns whether the cells may run, which is false if the user dismisses the
 * prompt.
 */
export function requireCatalog({ connections, notebookCatalogs, session }: CatalogQuestionDeps) {
  /** Notebooks that the user has chosen to run without a catalog. */
  const without = new WeakSet<vscode.NotebookDocument>();
  /** Open questions. Cells that the user runs while a question is open wait for its answer. */
  const open = new WeakMap<vscode.NotebookDocument, Promise<boolean>>();
  const ask = async (notebook: vscode.NotebookDocument, missing: string | undefined): Promise<boolean> => {
    const title =
      missing === undefined
        ? 'Select the catalog for `db` before the first cell runs'
        : `The connection "${missing}" does not exist. Select another one for this notebook`;
    const answer = await askConnection(title, connections, [noCatalog]);
    if (answer === undefined) return false;
    if (answer.name === undefined) {
      without.add(notebook);
      return true;
    }
    notebookCatalogs.bind(notebook.uri, answer.name);
    session(notebook)?.renew();
    return true;
  };
  return async (notebook: vscode.NotebookDocument): Promise<boolean> => {
    const choice = notebookCatalogs.choice(notebook);
    if ('connection' in choice || without.has(notebook)) return true;
    // Without a catalog, `db` explains how to add one.
    if (choice.kind === 'none' && connections.list().length === 0) return true;
    const asking =
      open.get(notebook) ??
      ask(notebook, choice.kind === 'missing' ? choice.name : undefined).finally(() => open.delete(notebook));
    open.set(notebook, asking);
    return asking;
  };
}

const noCatalog = { label: 'Run Without a Catalog', icon: 'circle-slash', value: { name: undefined } };

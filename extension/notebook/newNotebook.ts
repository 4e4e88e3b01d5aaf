import * as vscode from 'vscode';
import { notebookIds } from '../manifest.ts';

/** The table that a notebook is for, or a namespace if there is no `table`. */
type FirstPlace = {
  path: readonly string[];
  table?: string;
  /** The code of the first cell, instead of that for the place. */
  code?: string;
};

/**
 * Returns code that opens a table and shows its first rows, or that lists a namespace. Names are data, so they are
 * written as JSON strings.
 */
function firstCell({ path, table }: FirstPlace): string {
  if (table === undefined)
    return path.length > 0 ? `await db.listTables(${JSON.stringify(path)})` : 'await db.listNamespaces()';
  const where = path.length > 0 ? `, { namespacePath: ${JSON.stringify(path)} }` : '';
  return `const table = await db.openTable(${JSON.stringify(table)}${where});\ntable.query().limit(20)`;
}

/** File metadata that assigns a notebook to the Lance kernel. */
export const kernelMetadata = {
  kernelspec: { name: notebookIds.kernelspec, display_name: 'Lance TypeScript', language: 'typescript' },
  language_info: { name: 'typescript', file_extension: '.ts', mimetype: 'text/typescript' },
};

/** Opens an untitled .ipynb for the Lance kernel, with `db` on a connection. */
export async function openNewNotebook(connection: string | undefined, first: FirstPlace = { path: [] }): Promise<void> {
  const cell = new vscode.NotebookCellData(vscode.NotebookCellKind.Code, first.code ?? firstCell(first), 'typescript');
  const data = new vscode.NotebookData([cell]);
  data.metadata = {
    metadata: {
      ...kernelMetadata,
      ...(connection !== undefined && { lanceCatalog: { connection } }),
    },
    nbformat: 4,
    nbformat_minor: 5,
  };
  const notebook = await vscode.workspace.openNotebookDocument(notebookIds.notebookType, data);
  await vscode.window.showNotebookDocument(notebook);
}

import * as vscode from 'vscode';
import { notebookIds } from '../manifest.ts';

type FirstTable = { path: readonly string[]; table: string };

/** Returns code that opens a table and shows its first rows. Names are data, so they are written as JSON strings. */
function firstCell({ path, table }: FirstTable): string {
  const where = path.length > 0 ? `, { namespacePath: ${JSON.stringify(path)} }` : '';
  return `const table = await db.openTable(${JSON.stringify(table)}${where});\ntable.query().limit(20)`;
}

/** File metadata that assigns a notebook to the Lance kernel. */
export const kernelMetadata = {
  kernelspec: { name: notebookIds.kernelspec, display_name: 'Lance TypeScript', language: 'typescript' },
  language_info: { name: 'typescript', file_extension: '.ts', mimetype: 'text/typescript' },
};

/** Opens an untitled .ipynb for the Lance kernel, with `db` on a connection. */
export async function openNewNotebook(connection: string | undefined, first?: FirstTable): Promise<void> {
  const code = first ? firstCell(first) : 'await db.listNamespaces()';
  const cell = new vscode.NotebookCellData(vscode.NotebookCellKind.Code, code, 'typescript');
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

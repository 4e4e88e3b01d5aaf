import * as vscode from 'vscode';
import { notebookIds } from '../manifest.ts';

/** The table that a new notebook begins with. */
type FirstTable = { path: readonly string[]; table: string };

/** The code that opens a table and shows its first rows. Names are data: they are written as JSON strings. */
function firstCell({ path, table }: FirstTable): string {
  const where = path.length > 0 ? `, { namespacePath: ${JSON.stringify(path)} }` : '';
  return `const table = await db.openTable(${JSON.stringify(table)}${where});\ntable.query().limit(20)`;
}

/** What the file of a notebook for our kernel says of that. */
export const kernelMetadata = {
  kernelspec: { name: notebookIds.kernelspec, display_name: 'Lance TypeScript', language: 'typescript' },
  language_info: { name: 'typescript', file_extension: '.ts', mimetype: 'text/typescript' },
};

/** Opens an untitled .ipynb for our kernel, with `db` on a connection. */
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

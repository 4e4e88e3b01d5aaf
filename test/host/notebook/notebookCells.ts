import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { eventually, extensionApi, temporaryFolder } from '../support.ts';

// How tests of notebooks run cells and read their outputs.

export const textOf = (data: Uint8Array): string => new TextDecoder().decode(data);

/** Starts cells without waiting for their end, unlike the command. VS Code chooses the kernel, as for a user. */
export function start(notebook: vscode.NotebookDocument, ...indexes: number[]): void {
  const ranges = indexes.map((index) => ({ start: index, end: index + 1 }));
  void vscode.commands.executeCommand('notebook.cell.execute', { ranges, document: notebook.uri });
}

export async function ended(notebook: vscode.NotebookDocument, index: number, before?: number): Promise<boolean> {
  const cell = notebook.cellAt(index);
  await eventually(`the end of cell ${index}`, () => {
    const timing = cell.executionSummary?.timing;
    return timing !== undefined && timing.endTime !== before && cell.executionSummary?.success !== undefined;
  });
  // Wait a moment, because the last outputs may arrive later.
  await new Promise((resolve) => setTimeout(resolve, 100));
  return cell.executionSummary?.success === true;
}

const saveTries = 5;

/** Saves, and tries again if the notebook has changed meanwhile, which VS Code reports with `false`. */
export async function isSaved(notebook: vscode.NotebookDocument): Promise<boolean> {
  for (let tries = 0; tries < saveTries; tries++) {
    if (await notebook.save()) return true;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return false;
}

export const items = (notebook: vscode.NotebookDocument, index: number): vscode.NotebookCellOutputItem[] =>
  notebook.cellAt(index).outputs.flatMap((output) => output.items);

export async function execute(notebook: vscode.NotebookDocument, index: number): Promise<boolean> {
  const before = notebook.cellAt(index).executionSummary?.timing?.endTime;
  start(notebook, index);
  return ended(notebook, index, before);
}

export const item = (notebook: vscode.NotebookDocument, index: number, mime: string): string | undefined => {
  const data = items(notebook, index).find((one) => one.mime === mime)?.data;
  return data && textOf(data);
};
export const printed = (notebook: vscode.NotebookDocument, index: number): string =>
  items(notebook, index)
    .filter((one) => /std(out|err)$/.test(one.mime))
    .map((one) => textOf(one.data))
    .join('');

/** Returns the text of an .ipynb file with these cells for our kernel. */
export const contentOf = (...cells: string[]): string => notebookText(cells);

/** Returns the text of an .ipynb file with these cells for a kernel, with more metadata. */
export const notebookText = (
  cells: readonly string[],
  kernel = { name: 'lance-typescript', display_name: 'Lance TypeScript' },
  metadata: object = {},
): string =>
  JSON.stringify({
    cells: cells.map((source, i) => ({
      cell_type: 'code',
      execution_count: null,
      id: `c${i}`,
      metadata: {},
      outputs: [],
      source,
    })),
    metadata: {
      kernelspec: { ...kernel, language: 'typescript' },
      language_info: { name: 'typescript' },
      ...metadata,
    },
    nbformat: 4,
    nbformat_minor: 5,
  });

/** Creates and opens an .ipynb file with these cells. */
export async function openCells(file: string, ...cells: string[]): Promise<vscode.NotebookDocument> {
  writeFileSync(file, contentOf(...cells));
  const notebook = await vscode.workspace.openNotebookDocument(vscode.Uri.file(file));
  await vscode.window.showNotebookDocument(notebook);
  return notebook;
}

/** Notebooks of a suite in a separate folder. No notebook is open before and after each test. */
export function notebooksOfSuite(): {
  readonly folder: string;
  readonly api: ExtensionApi;
  readonly open: (...cells: string[]) => Promise<vscode.NotebookDocument>;
  /** Returns the process id of a notebook's kernel. */
  readonly pidOf: (notebook: vscode.NotebookDocument) => Promise<number>;
} {
  const folder = temporaryFolder();
  let api: ExtensionApi;
  let count = 0;
  suiteSetup(async () => {
    api = await extensionApi();
  });
  teardown(() => closeNotebooks(api));
  suiteTeardown(() => folder.remove());
  return {
    folder: folder.path,
    get api() {
      return api;
    },
    open: (...cells) => openCells(join(folder.path, `k${count++}.ipynb`), ...cells),
    pidOf: async (notebook) => {
      const kernel = await api.kernels.session(notebook)?.kernel;
      assert.ok(kernel);
      return kernel.handshake.pid;
    },
  };
}

/** Closes all editors without saving, and ends the kernels of all notebooks. */
export async function closeNotebooks(api: ExtensionApi): Promise<void> {
  const sessions = vscode.workspace.notebookDocuments.map((notebook) => api.kernels.session(notebook));
  await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  // The kernel of a closed notebook waits a minute for the notebook to be opened again.
  for (const session of sessions) session?.dispose();
}

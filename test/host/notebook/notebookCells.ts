import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { eventually, extensionApi, temporaryFolder } from '../support.ts';

// What the tests of notebooks do with cells, and how they look at what cells show.

export const textOf = (data: Uint8Array): string => new TextDecoder().decode(data);

/**
 * Starts cells and does not wait for their end, as the command would. Which kernel runs them is the editor's choice, as
 * for a person.
 */
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
  // The last outputs may be on their way still.
  await new Promise((resolve) => setTimeout(resolve, 100));
  return cell.executionSummary?.success === true;
}

const saveTries = 5;

/** Saves, and again where something of the notebook has changed meanwhile, which VS Code tells by `false`. */
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

/** The text of an .ipynb file with these cells for our kernel. */
export const contentOf = (...cells: string[]): string => notebookText(cells);

/** The text of an .ipynb file with these cells, for a kernel, with more of metadata. */
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

/** An .ipynb file with these cells, open in front. */
export async function openCells(file: string, ...cells: string[]): Promise<vscode.NotebookDocument> {
  writeFileSync(file, contentOf(...cells));
  const notebook = await vscode.workspace.openNotebookDocument(vscode.Uri.file(file));
  await vscode.window.showNotebookDocument(notebook);
  return notebook;
}

/** Notebooks of a suite, in a folder of its own: each test begins with none open, and none stays. */
export function notebooksOfSuite(): {
  readonly folder: string;
  readonly api: ExtensionApi;
  readonly open: (...cells: string[]) => Promise<vscode.NotebookDocument>;
  /** The process of a notebook's kernel. */
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
  await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  // The editor keeps documents that an extension opened for minutes, and their kernels with them.
  for (const notebook of vscode.workspace.notebookDocuments) api.kernels.session(notebook)?.dispose();
}

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { eventually, extensionApi, run } from '../support.ts';
import { closeNotebooks, execute, item } from './notebookCells.ts';

const controller = { id: 'lance-typescript', extension: 'lance-catalog.lance-catalog' };
const { Code } = vscode.NotebookCellKind;

/** Creates the same notebook as VS Code's own command: one Python cell, without a kernel. */
async function openNew(...codes: string[]): Promise<vscode.NotebookDocument> {
  const data = new vscode.NotebookData(codes.map((code) => new vscode.NotebookCellData(Code, code, 'python')));
  data.metadata = { cells: [], metadata: {}, nbformat: 4, nbformat_minor: 5 };
  const notebook = await vscode.workspace.openNotebookDocument('jupyter-notebook', data);
  await vscode.window.showNotebookDocument(notebook);
  return notebook;
}

const languages = (notebook: vscode.NotebookDocument): string[] =>
  notebook.getCells().map((cell) => cell.document.languageId);

suite('a new notebook', () => {
  let api: ExtensionApi;

  suiteSetup(async () => {
    api = await extensionApi();
  });
  teardown(() => closeNotebooks(api));

  const isOurs = (notebook: vscode.NotebookDocument): boolean =>
    api.kernels.session(notebook) !== undefined && api.language.notebooks.list().includes(notebook);

  test('has its kernel and the language of its cells before a cell runs, also in a window that had one', async () => {
    for (const _ of ['first', 'second']) {
      await run('lanceCatalog.notebook.new');
      const notebook = vscode.window.activeNotebookEditor?.notebook;
      assert.ok(notebook?.isUntitled);
      await eventually('its kernel and its language', () => isOurs(notebook), 20_000);
      await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    }
  });

  test("made by the editor's own command is TypeScript where nothing runs Python", async () => {
    await vscode.commands.executeCommand('ipynb.newUntitledIpynb');
    const notebook = await eventually('the notebook', () => vscode.window.activeNotebookEditor?.notebook);
    await eventually('its language', () => languages(notebook).join(' ') === 'typescript', 20_000);
    await eventually('its kernel and its language', () => isOurs(notebook), 20_000);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(notebook.cellAt(0).document.uri, new vscode.Position(0, 0), 'const a = 41; a + 1');
    await vscode.workspace.applyEdit(edit);
    assert.ok(await execute(notebook, 0));
    assert.equal(item(notebook, 0, 'text/plain'), '42');
    // A language that the user sets later must stay.
    await vscode.languages.setTextDocumentLanguage(notebook.cellAt(0).document, 'python');
    const more = new vscode.WorkspaceEdit();
    const cell = new vscode.NotebookCellData(Code, '', 'python');
    more.set(notebook.uri, [vscode.NotebookEdit.insertCells(1, [cell])]);
    await vscode.workspace.applyEdit(more);
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.deepEqual(languages(notebook), ['python', 'python']);
  });

  test('with text in a cell keeps its languages, also when our kernel is chosen for it', async () => {
    const notebook = await openNew('print(1)', '');
    await vscode.commands.executeCommand('notebook.selectKernel', controller);
    await eventually('its kernel', () => isOurs(notebook), 20_000);
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.deepEqual(languages(notebook), ['python', 'python']);
  });
});

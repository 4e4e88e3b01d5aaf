import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../extension/extension.ts';
import { eventually, extensionApi, run } from './support.ts';

suite('a new notebook', () => {
  let api: ExtensionApi;

  suiteSetup(async () => {
    api = await extensionApi();
  });
  teardown(async () => {
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    for (const notebook of vscode.workspace.notebookDocuments) api.kernels.session(notebook)?.dispose();
  });

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
});

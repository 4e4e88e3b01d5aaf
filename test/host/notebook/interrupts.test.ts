import assert from 'node:assert/strict';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { endless } from '../../kernel/interrupt/endlessCells.ts';
import { eventually, extensionApi, temporaryFolder } from '../support.ts';
import { ended, execute, item, openCells, printed, start } from './notebookCells.ts';

suite('an interrupt in the editor', function () {
  this.timeout(120_000);
  const folder = temporaryFolder();
  const cases = Object.entries(endless);
  let api: ExtensionApi;
  let notebook: vscode.NotebookDocument;

  suiteSetup(async () => {
    api = await extensionApi();
    // Each endless cell is followed by a cell that shows the remaining state.
    const cells = cases.flatMap(([, code], index) => [`state = ${index + 1}; console.log('runs'); ${code}`, 'state']);
    notebook = await openCells(join(folder.path, 'endless.ipynb'), 'let state = 0', ...cells);
    assert.ok(await execute(notebook, 0));
  });
  suiteTeardown(async () => {
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    api.kernels.session(notebook)?.dispose();
    folder.remove();
  });

  for (const [index, [name]] of cases.entries())
    test(`ends ${name} and keeps the state`, async () => {
      const cell = 1 + 2 * index;
      start(notebook, cell);
      await eventually('the cell runs', () => printed(notebook, cell).includes('runs'));
      const ranges = [{ start: cell, end: cell + 1 }];
      await vscode.commands.executeCommand('notebook.cancelExecution', { ranges, document: notebook.uri });
      assert.equal(await ended(notebook, cell), false);
      assert.match(item(notebook, cell, 'application/vnd.code.notebook.error') ?? '', /The cell was interrupted/);
      assert.ok(await execute(notebook, cell + 1));
      assert.equal(item(notebook, cell + 1, 'text/plain'), String(index + 1));
    });
});

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { eventually } from '../support.ts';
import { execute, isSaved, item, notebooksOfSuite, notebookText, printed } from './notebookCells.ts';

const controller = { id: 'lance-typescript', extension: 'lance-catalog.lance-catalog' };

const errorsOf = (cell: vscode.NotebookCell): string[] =>
  vscode.languages.getDiagnostics(cell.document.uri).map(({ message }) => message);

suite('a notebook made for tslab', () => {
  const notebooks = notebooksOfSuite();

  async function open(name: string, language: string, ...cells: string[]): Promise<vscode.NotebookDocument> {
    const file = join(notebooks.folder, `${name}.ipynb`);
    writeFileSync(file, notebookText(cells, { name, display_name: name }, { language_info: { name: language } }));
    const notebook = await vscode.workspace.openNotebookDocument(vscode.Uri.file(file));
    await vscode.window.showNotebookDocument(notebook);
    return notebook;
  }

  const isOurs = (notebook: vscode.NotebookDocument): boolean =>
    notebooks.api.kernels.session(notebook) !== undefined && notebooks.api.language.notebooks.list().includes(notebook);

  // In these tests a stand-in for the Jupyter extension is installed.
  test('stays without our kernel until that is chosen, and keeps its kernelspec then', async () => {
    const notebook = await open(
      'tslab',
      'typescript',
      "import { display } from 'tslab';\ndisplay.html('<b>here</b>');",
    );
    await new Promise((resolve) => setTimeout(resolve, 1000));
    assert.equal(isOurs(notebook), false);
    await vscode.commands.executeCommand('notebook.selectKernel', controller);
    await eventually('its kernel', () => isOurs(notebook), 20_000);
    assert.ok(await execute(notebook, 0));
    assert.equal(item(notebook, 0, 'text/html'), '<b>here</b>');
    assert.ok(await isSaved(notebook));
    const saved = JSON.parse(readFileSync(notebook.uri.fsPath, 'utf8')) as { metadata: { kernelspec: object } };
    assert.deepEqual(saved.metadata.kernelspec, { name: 'tslab', display_name: 'tslab', language: 'typescript' });
  });

  test('in JavaScript runs unchecked, and has only its errors of syntax marked', async () => {
    const notebook = await open(
      'jslab',
      'javascript',
      'class Hello { constructor(name) { this.name = name; } }\nlet now = 5; now += new Hello("a").name; console.log(now);',
      'let typed: number = 5;',
    );
    await vscode.commands.executeCommand('notebook.selectKernel', controller);
    await eventually('its kernel', () => isOurs(notebook), 20_000);
    assert.ok(await execute(notebook, 0));
    assert.equal(printed(notebook, 0), '5a\n');
    assert.equal(await execute(notebook, 1), false);
    await eventually('the error of syntax', () => errorsOf(notebook.cellAt(1)).length > 0, 20_000);
    assert.deepEqual(errorsOf(notebook.cellAt(1)), ['Type annotations can only be used in TypeScript files.']);
    assert.deepEqual(errorsOf(notebook.cellAt(0)), []);
  });
});

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { type ExtensionApi } from '../../../extension/extension.ts';
import { eventually, extensionApi, makeCatalog, temporaryFolder } from '../support.ts';
import { closeNotebooks, execute, notebookText } from './notebookCells.ts';

const cells = [
  "const orders = await db.openTable('orders', { namespacePath: ['shop', 'eu'] });",
  'const rows = await orders.query().limit(2).toArray();',
  'rows[0].id;\nrows[0].wrong;',
  'rows[0].',
  "await orders.addColumns([{ name: 'doubled', expression: 'id * 2' }]);",
  'rows[0].',
];

suite('The types of rows in cells', () => {
  const folder = temporaryFolder();
  const catalog = temporaryFolder();
  let api: ExtensionApi;
  let notebook: vscode.NotebookDocument;

  suiteSetup(async () => {
    api = await extensionApi();
    await makeCatalog(api, catalog.path);
    await api.connections.add('rows', catalog.path);
    const file = join(folder.path, 'rows.ipynb');
    const kernel = { name: 'lance-typescript', display_name: 'Lance TypeScript' };
    writeFileSync(file, notebookText(cells.slice(0, 4), kernel, { lanceCatalog: { connection: 'rows' } }));
    notebook = await vscode.workspace.openNotebookDocument(vscode.Uri.file(file));
    await vscode.window.showNotebookDocument(notebook);
    await eventually('the language worker', () => api.language.mute.isAlone);
  });
  suiteTeardown(async () => {
    await closeNotebooks(api);
    await api.connections.remove('rows');
    folder.remove();
    catalog.remove();
  });

  const documentOf = (index: number): vscode.TextDocument => notebook.cellAt(index).document;
  const codes = (index: number) =>
    vscode.languages.getDiagnostics(documentOf(index).uri).map(({ code, severity }) => [code, severity]);

  /** Returns the columns that `rows[0].` is completed with, and their types. */
  async function columns(): Promise<[string, string | undefined][]> {
    const document = documentOf(3);
    const list = await vscode.commands.executeCommand<vscode.CompletionList>(
      'vscode.executeCompletionItemProvider',
      document.uri,
      document.lineAt(0).range.end,
      '.',
      20,
    );
    const found = list.items.filter(({ kind }) => kind === vscode.CompletionItemKind.Property);
    return found.map(({ label, detail }) => [typeof label === 'string' ? label : label.label, detail]);
  }

  /** Waits until a column is completed, and returns all. */
  async function columnsWith(name: string): Promise<[string, string | undefined][]> {
    for (const end = Date.now() + 50_000; ; await new Promise((resolve) => setTimeout(resolve, 200))) {
      const found = await columns();
      if (found.some(([each]) => each === name)) return found;
      assert.ok(Date.now() < end, `waited 50 s for the column ${name}`);
    }
  }

  test('cause no request while the notebook is only open', async () => {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    assert.deepEqual(codes(2), []);
  });

  test('complete `rows[0].` with the columns of the table and their types', async () => {
    assert.deepEqual(await columnsWith('id'), [
      ['embedding', '(property) embedding: Float32Array<ArrayBufferLike>'],
      ['id', '(property) id: number'],
      ['note', '(property) note: string'],
    ]);
  });

  test('are shown in hovers, and a wrong column is an error', async () => {
    const document = documentOf(2);
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
      'vscode.executeHoverProvider',
      document.uri,
      new vscode.Position(0, 'rows[0].i'.length),
    );
    const texts = hovers.flatMap(({ contents }) => contents.map((one) => (typeof one === 'string' ? one : one.value)));
    assert.ok(
      texts.some((text) => text.includes('(property) id: number')),
      texts.join('\n'),
    );
    await eventually('the error', () => codes(2).length > 0);
    assert.deepEqual(codes(2), [[2339, vscode.DiagnosticSeverity.Error]]);
  });

  test('have a column that a cell has added', async () => {
    const edit = new vscode.WorkspaceEdit();
    const cell = new vscode.NotebookCellData(vscode.NotebookCellKind.Code, cells[4] ?? '', 'typescript');
    edit.set(notebook.uri, [vscode.NotebookEdit.insertCells(4, [cell])]);
    await vscode.workspace.applyEdit(edit);
    const before = await columnsWith('doubled');
    assert.deepEqual(before.find(([name]) => name === 'doubled')?.[1], '(property) doubled: any');
    assert.ok(await execute(notebook, 0));
    assert.ok(await execute(notebook, 4));
    await eventually('the type of the column', async () =>
      (await columns()).some(([name, detail]) => name === 'doubled' && /number/.test(detail ?? '')),
    );
  });

  test('have a column that another program has added, after the catalog view was refreshed', async () => {
    const table = await (await api.engine.catalog(catalog.path)).openTable('orders', ['shop', 'eu']);
    await table.addColumns([{ name: 'tripled', expression: 'id * 3' }]);
    await vscode.commands.executeCommand('lanceCatalog.catalog.refreshAll');
    await columnsWith('tripled');
  });
});

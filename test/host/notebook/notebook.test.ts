import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { tableFromIPC } from '#arrow';
import { arrowStreamMime, decodeArrowOutput } from '#shared/mime.ts';
import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { eventually, extensionApi, failuresOf, makeCatalog, run, tableNode, temporaryFolder } from '../support.ts';
import {
  closeNotebooks,
  ended,
  execute,
  isSaved,
  item,
  items,
  openCells,
  printed,
  start,
  textOf,
} from './notebookCells.ts';

const acceptDialog = () => void vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');

/** Opens an unsaved notebook for our kernel with one cell; `file` is the path at which it will be saved. */
async function openUntitled(file: string, code: string): Promise<vscode.NotebookDocument> {
  const untitled = await vscode.workspace.openNotebookDocument(vscode.Uri.file(file).with({ scheme: 'untitled' }));
  await vscode.window.showNotebookDocument(untitled);
  const cell = new vscode.NotebookCellData(vscode.NotebookCellKind.Code, code, 'typescript');
  const edit = new vscode.WorkspaceEdit();
  const metadata = {
    metadata: { kernelspec: { name: 'lance-typescript', display_name: 'Lance', language: 'typescript' } },
  };
  edit.set(untitled.uri, [
    vscode.NotebookEdit.replaceCells(new vscode.NotebookRange(0, untitled.cellCount), [cell]),
    vscode.NotebookEdit.updateNotebookMetadata(metadata),
  ]);
  await vscode.workspace.applyEdit(edit);
  const kernel = { id: 'lance-typescript', extension: 'lance-catalog.lance-catalog' };
  await vscode.commands.executeCommand('notebook.selectKernel', kernel);
  return untitled;
}

/** Saves the active notebook at the path of its name. */
async function saveUntitled(file: string): Promise<vscode.NotebookDocument> {
  void vscode.commands.executeCommand('workbench.action.files.save');
  // VS Code prompts for the path, and the path is already filled in. No event reports when the prompt can be accepted,
  // so try repeatedly.
  const answering = setInterval(acceptDialog, 500);
  const find = () => vscode.workspace.notebookDocuments.find(({ uri }) => uri.scheme === 'file' && uri.fsPath === file);
  return eventually('the saved notebook', find).finally(() => clearInterval(answering));
}

suite('a notebook on our kernel', () => {
  const folder = temporaryFolder();
  const catalog = temporaryFolder();
  let api: ExtensionApi;
  let count = 0;

  suiteSetup(async () => {
    api = await extensionApi();
    await makeCatalog(api, catalog.path);
    await api.connections.add('notebook', catalog.path);
  });
  teardown(() => closeNotebooks(api));
  suiteTeardown(async () => {
    await api.connections.remove('notebook');
    folder.remove();
    catalog.remove();
  });

  /** Opens an .ipynb file with these cells. */
  const open = (...cells: string[]): Promise<vscode.NotebookDocument> =>
    openCells(join(folder.path, `n${count++}.ipynb`), ...cells);

  test('runs all its cells, is saved, and still has its tables when it is opened again', async () => {
    const notebook = await open(
      "const table = await db.openTable('orders', { namespacePath: ['shop', 'eu'] });",
      'table.query().limit(5)',
      "console.log('done')",
    );
    await vscode.commands.executeCommand('notebook.execute', notebook.uri);
    assert.ok(await ended(notebook, 2), JSON.stringify(items(notebook, 0)));
    const shown = item(notebook, 1, arrowStreamMime);
    assert.ok(shown);
    assert.match(printed(notebook, 2), /done/);
    assert.ok(await isSaved(notebook));
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');

    const file = JSON.parse(readFileSync(notebook.uri.fsPath, 'utf8')) as {
      cells: { outputs: { output_type: string; data: Record<string, string>; metadata: Record<string, unknown> }[] }[];
    };
    const saved = file.cells[1]?.outputs[0];
    assert.equal(saved?.output_type, 'execute_result');
    assert.equal(saved.data[arrowStreamMime], shown);
    assert.deepEqual(saved.metadata[arrowStreamMime], { total_rows: 5, included_rows: 5 });

    const again = await vscode.workspace.openNotebookDocument(notebook.uri);
    const data = items(again, 1).find((one) => one.mime === arrowStreamMime)?.data;
    assert.ok(data);
    const rows = tableFromIPC(decodeArrowOutput(data));
    assert.deepEqual(
      rows.toArray().map((row) => String(row['note'])),
      ['order 0', 'order 1', 'order 2', 'order 3', 'order 4'],
    );
  });

  test('shows an error of a cell with the lines of the cell, and keeps what it printed and what is known', async () => {
    const notebook = await open('let a = 41;', "console.log('before'); throw new RangeError('too far');", 'a + 1');
    assert.ok(await execute(notebook, 0));
    assert.equal(await execute(notebook, 1), false);
    const error = item(notebook, 1, 'application/vnd.code.notebook.error');
    assert.ok(error);
    assert.match(error, /RangeError/);
    assert.match(error, /too far/);
    assert.doesNotMatch(error, /extension\.cjs/);
    assert.match(printed(notebook, 1), /before/);
    assert.ok(await execute(notebook, 2));
    assert.equal(item(notebook, 2, 'text/plain'), '42');
  });

  test('stops at the first cell that fails', async () => {
    const notebook = await open("throw new Error('stop')", "console.log('not reached')");
    start(notebook, 0, 1);
    assert.equal(await ended(notebook, 0), false);
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(printed(notebook, 1), '');
  });

  test('can be interrupted in an endless loop, and keeps its variables', async () => {
    const notebook = await open('let kept = 7;', "console.log('in'); while (true) {}", 'kept');
    assert.ok(await execute(notebook, 0));
    start(notebook, 1);
    await eventually('the loop runs', () => printed(notebook, 1).includes('in'));
    await vscode.commands.executeCommand('notebook.cancelExecution', {
      ranges: [{ start: 1, end: 2 }],
      document: notebook.uri,
    });
    assert.equal(await ended(notebook, 1), false);
    assert.ok(await execute(notebook, 2));
    assert.equal(item(notebook, 2, 'text/plain'), '7');
  });

  test('says that its kernel died, keeps what was printed, and runs the next cell in a new kernel', async () => {
    const notebook = await open(
      "console.log('alive'); setTimeout(() => process.kill(process.pid, 'SIGKILL'), 300); await new Promise(() => {})",
      '6 * 7',
    );
    assert.equal(await execute(notebook, 0), false);
    assert.match(printed(notebook, 0), /alive/);
    assert.match(item(notebook, 0, 'application/vnd.code.notebook.error') ?? '', /SIGKILL/);
    assert.ok(await execute(notebook, 1));
    assert.equal(item(notebook, 1, 'text/plain'), '42');
  });

  test('puts what a timer prints later into the cell that set it', async () => {
    const notebook = await open("setTimeout(() => console.log('late'), 400); 'now'", "'other'");
    assert.ok(await execute(notebook, 0));
    assert.ok(await execute(notebook, 1));
    await eventually('the late line', () => printed(notebook, 0).includes('late'));
    assert.equal(printed(notebook, 1), '');
    assert.equal(notebook.cellAt(0).executionSummary?.success, true);
  });

  test('keeps what a timer prints as soon as its cell ends', async () => {
    // The reply and the line usually arrive in one chunk; none of the lines may be lost.
    const cells = Array.from({ length: 20 }, (_, i) => `setTimeout(() => display('late ${i}'), 0); ${i}`);
    const notebook = await open(...cells);
    await vscode.commands.executeCommand('notebook.execute', notebook.uri);
    assert.ok(await ended(notebook, cells.length - 1));
    const missing = (): number[] =>
      cells.flatMap((_, i) => (items(notebook, i).some((one) => textOf(one.data).includes(`late ${i}`)) ? [] : [i]));
    await eventually('every late line', () => missing().length === 0, 5000).catch(() => undefined);
    assert.deepEqual(missing(), []);
    assert.ok(cells.every((_, i) => item(notebook, i, 'text/plain') === String(i)));
  });

  test('changes an output of another cell by its id', async () => {
    const notebook = await open("await display('first', { id: 'x' });", "await display('second', { id: 'x' });");
    assert.ok(await execute(notebook, 0));
    assert.ok(await execute(notebook, 1));
    await eventually('the changed output', () => item(notebook, 0, 'text/plain')?.includes('second'));
    assert.deepEqual(items(notebook, 1), []);
  });

  test('shows an output with an id again when its cell runs again', async () => {
    const notebook = await open("await display('once more', { id: 'again' });");
    for (const time of ['first', 'second', 'third']) {
      assert.ok(await execute(notebook, 0));
      assert.match(item(notebook, 0, 'text/plain') ?? '', /once more/, time);
      assert.equal(notebook.cellAt(0).outputs.length, 1, time);
    }
  });

  test('keeps the beginning and the end of what a cell prints beyond a million characters', async () => {
    const notebook = await open(`for (let i = 0; i < 30_000; i++) console.log('line', i, 'x'.repeat(90));`);
    assert.ok(await execute(notebook, 0));
    await eventually('the cut', () => printed(notebook, 0).length < 1_001_000);
    const text = printed(notebook, 0);
    assert.match(text, /^line 0 x+\nline 1 x+\n/);
    assert.match(
      text,
      /\n… [\d,]+ characters of output are omitted from the notebook\. .*setting lanceCatalog\.notebook\.printedCharacters …\n/,
    );
    assert.match(text, /\nline 29999 x+\n$/);
  });

  test('restarts without its variables', async () => {
    const notebook = await open('let gone = 1;', 'gone');
    assert.ok(await execute(notebook, 0));
    await run('lanceCatalog.notebook.restartKernel');
    assert.equal(await execute(notebook, 1), false);
  });

  test('suggests what the kernel knows, and once what the editor knows as well', async () => {
    const notebook = await open('const word: string = "x";', 'db.', 'word.');
    assert.ok(await execute(notebook, 0));
    const suggested = async (index: number): Promise<string[]> => {
      const { document } = notebook.cellAt(index);
      const end = document.positionAt(document.getText().length);
      const list = await vscode.commands.executeCommand<vscode.CompletionList>(
        'vscode.executeCompletionItemProvider',
        document.uri,
        end,
        '.',
      );
      return list.items.map(({ label }) => (typeof label === 'string' ? label : label.label));
    };
    assert.ok((await suggested(1)).includes('openTable'));
    const members = await suggested(2);
    assert.deepEqual(
      members.filter((name) => name === 'toUpperCase'),
      ['toUpperCase'],
    );
  });

  test('is opened on a table, with a first cell that shows it', async () => {
    await run('lanceCatalog.table.newNotebook', tableNode('notebook', ['shop', 'eu'], 'orders'));
    const notebook = vscode.window.activeNotebookEditor?.notebook;
    assert.ok(notebook?.isUntitled);
    assert.ok(await execute(notebook, 0), textOf(items(notebook, 0)[0]?.data ?? new Uint8Array()));
    assert.ok(item(notebook, 0, arrowStreamMime));
  });

  test('keeps its kernel when it was untitled and is saved', async () => {
    const file = join(folder.path, 'saved.ipynb');
    const untitled = await openUntitled(file, 'globalThis.kept = process.pid');
    assert.ok(await execute(untitled, 0));
    const session = api.kernels.session(untitled);
    assert.ok(session?.hasRun);
    const saved = await saveUntitled(file);
    await eventually('its kernel', () => api.kernels.session(saved) === session);
    assert.equal(api.kernels.session(untitled), undefined);
    // Ask the kernel directly, because the command that runs cells does nothing right after VS Code has saved.
    const kernel = await session.kernel;
    const outputs: KernelOutput[] = [];
    await kernel?.execute('globalThis.kept', (output) => outputs.push(output));
    const [kept] = outputs.filter((output) => output.type === 'execute_result');
    assert.equal(kept?.content.data['text/plain'], item(saved, 0, 'text/plain'));
  });

  test('goes on with its first cell when it is saved for the first time meanwhile', async () => {
    const file = join(folder.path, 'going.ipynb');
    const goOn = join(folder.path, 'go-on');
    const waits = `while (!require('node:fs').existsSync(${JSON.stringify(goOn)})) await new Promise((done) => setTimeout(done, 20));`;
    const untitled = await openUntitled(file, `console.log('before'); ${waits} console.log('after'); process.pid`);
    start(untitled, 0);
    await eventually('the first line', () => printed(untitled, 0).includes('before'));
    const saved = await saveUntitled(file);
    await eventually('its kernel', () => api.kernels.session(saved)?.hasRun);
    writeFileSync(goOn, '');
    await eventually('its last line', () => printed(saved, 0) === 'before\nafter\n');
    const kernel = await api.kernels.session(saved)?.kernel;
    await eventually('its result', () => item(saved, 0, 'text/plain') === String(kernel?.handshake.pid));
    await eventually('its end', () => saved.cellAt(0).executionSummary?.success === true);
  });

  test('of another language has no kernel of ours to restart', async () => {
    // Use a file, because VS Code remembers the kernel by name, and untitled notebooks reuse earlier names.
    const file = join(folder.path, 'python.ipynb');
    const kernelspec = { name: 'python3', display_name: 'Python', language: 'python' };
    writeFileSync(file, JSON.stringify({ cells: [], metadata: { kernelspec }, nbformat: 4, nbformat_minor: 5 }));
    const notebook = await vscode.workspace.openNotebookDocument(vscode.Uri.file(file));
    await vscode.window.showNotebookDocument(notebook);
    const told = await failuresOf(() => run('lanceCatalog.notebook.restartKernel'));
    assert.equal(vscode.window.activeNotebookEditor?.notebook, notebook);
    assert.equal(told.length, 1);
    assert.match(told[0] ?? '', /does not run on the Lance TypeScript kernel/);
    assert.equal(api.kernels.session(notebook), undefined);
  });
});

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { isRunning } from '../../harness/running.ts';
import { eventually, replacing, run } from '../support.ts';
import { contentOf, ended, execute, isSaved, item, notebooksOfSuite, printed, start } from './notebookCells.ts';

const errorMime = 'application/vnd.code.notebook.error';

suite('kernels of notebooks', () => {
  const notebooks = notebooksOfSuite();
  const { open, pidOf } = notebooks;
  let count = 0;

  /** Returns code that waits for the test, and a function that lets it continue. */
  function gate(): { waits: string; open: () => void } {
    const file = join(notebooks.folder, `gate${count++}`);
    const waits = `{ const { existsSync } = require('node:fs') as typeof import('node:fs');
      while (!existsSync(${JSON.stringify(file)})) await new Promise((done) => setTimeout(done, 20)); }`;
    return { waits, open: () => writeFileSync(file, '') };
  }

  const variable = (name: string) => notebooks.api.variables.variables.find((one) => one.name === name);

  test('are one for each notebook, and end with it', async () => {
    // Open the first notebook as a user does. If an extension opened it, VS Code would keep it for minutes after it is
    // closed.
    const second = await open(`const mine = 'second'; mine`);
    const file = join(notebooks.folder, 'first.ipynb');
    writeFileSync(file, contentOf(`const mine = 'first'; mine`));
    await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(file));
    const first = await eventually('the notebook', () =>
      vscode.workspace.notebookDocuments.find(({ uri }) => uri.fsPath === file),
    );
    assert.ok(await execute(first, 0));
    assert.ok(await execute(second, 0));
    assert.match(item(first, 0, 'text/plain') ?? '', /first/);
    assert.match(item(second, 0, 'text/plain') ?? '', /second/);
    const [left, stays] = [await pidOf(first), await pidOf(second)];
    assert.notEqual(left, stays);
    await vscode.commands.executeCommand('vscode.open', first.uri);
    const settings = vscode.workspace.getConfiguration();
    await settings.update('lanceCatalog.notebook.keepKernelSeconds', 1, vscode.ConfigurationTarget.Global);
    try {
      await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
      await eventually('the end of its kernel', () => !isRunning(left), 20_000);
    } finally {
      await settings.update('lanceCatalog.notebook.keepKernelSeconds', undefined, vscode.ConfigurationTarget.Global);
    }
    assert.equal(isRunning(stays), true);
  });

  test('give a cell what the person types, and nothing when they leave the box', async () => {
    const notebook = await open(
      `const secret = await input('Key? ', { password: true }); secret.length`,
      `await input()`,
    );
    const asked: vscode.InputBoxOptions[] = [];
    const answers = ['12345', undefined];
    const standIn = (options: vscode.InputBoxOptions) => {
      asked.push(options);
      return Promise.resolve(answers.shift());
    };
    await replacing('showInputBox', standIn, async () => {
      assert.ok(await execute(notebook, 0));
      assert.equal(await execute(notebook, 1), false);
    });
    assert.equal(item(notebook, 0, 'text/plain'), '5');
    assert.deepEqual(
      asked.map(({ title, prompt, password }) => ({ title, prompt, password })),
      [
        { title: notebook.uri.path.split('/').at(-1), prompt: 'Key?', password: true },
        { title: notebook.uri.path.split('/').at(-1), prompt: 'A cell requests a line of input.', password: false },
      ],
    );
    assert.doesNotMatch(item(notebook, 1, errorMime) ?? '', /undefined/);
  });

  test('take their box away when the cell that asks is interrupted', async () => {
    const notebook = await open(`await input('Still there? ')`);
    let token: vscode.CancellationToken | undefined;
    const standIn = (_options: unknown, given: vscode.CancellationToken) => {
      token = given;
      return new Promise((resolve) => given.onCancellationRequested(() => resolve(undefined)));
    };
    await replacing('showInputBox', standIn, async () => {
      start(notebook, 0);
      await eventually('the box', () => token);
      await vscode.commands.executeCommand('notebook.cancelExecution', {
        ranges: [{ start: 0, end: 1 }],
        document: notebook.uri,
      });
      assert.equal(await ended(notebook, 0), false);
    });
    assert.equal(token?.isCancellationRequested, true);
  });

  test('say their variables, and show one that is a table', async () => {
    const notebook = await open(
      `const rows = arrow.tableFromArrays({ id: [1, 2, 3] }); let word = 'hello'; class Shape {}`,
      'rows.numRows',
    );
    await vscode.commands.executeCommand('lanceCatalog.variables.focus');
    assert.ok(await execute(notebook, 0));
    const table = await eventually('the variables', () => variable('rows'));
    assert.deepEqual(table, { name: 'rows', type: 'Table', size: '3 rows', preview: 'id', isTable: true });
    assert.deepEqual(variable('word'), {
      name: 'word',
      type: 'string',
      size: '5 characters',
      preview: '"hello"',
      isTable: false,
    });
    assert.equal(variable('Shape')?.type, 'class');
    assert.equal(variable('db'), undefined, 'what the kernel gives is no variable of the person');
    await run('lanceCatalog.notebook.openVariable', table);
    await eventually('the panel', () =>
      vscode.window.tabGroups.all.some(({ tabs }) => tabs.some(({ label }) => label.includes('rows'))),
    );
    // Wait until the panel is active. The notebook is still open.
    await eventually('the panel in front', () => vscode.window.activeNotebookEditor === undefined);
    assert.deepEqual(variable('rows'), table);
    await run('lanceCatalog.notebook.openVariable', table);
    assert.equal(notebooks.api.variables.session, notebooks.api.kernels.session(notebook));
    // Code that the extension runs for the panel must not change the execution count.
    await vscode.window.showNotebookDocument(notebook);
    assert.ok(await execute(notebook, 1));
    assert.equal(notebook.cellAt(1).executionSummary?.executionOrder, 2);
  });

  test('say while a cell runs of when the variables are that are listed', async () => {
    const { waits, open: goOn } = gate();
    const notebook = await open(`let word = 'before';`, `word = 'after'; ${waits}`);
    await vscode.commands.executeCommand('lanceCatalog.variables.focus');
    assert.ok(await execute(notebook, 0));
    await eventually('the variable', () => variable('word')?.preview === '"before"');
    start(notebook, 1);
    await eventually('what is said', () => notebooks.api.variables.message?.startsWith('A cell is running'));
    assert.equal(
      notebooks.api.variables.message,
      'A cell is running. These are the variables as they were before it started; the list is updated when it ends.',
    );
    assert.equal(variable('word')?.preview, '"before"');
    goOn();
    assert.ok(await ended(notebook, 1));
    await eventually(
      'the list of after',
      () => variable('word')?.preview === '"after"' && !notebooks.api.variables.message,
    );
  });

  test('take their variables away with the notebook that was in front last', async () => {
    const file = join(notebooks.folder, 'closed.ipynb');
    writeFileSync(file, contentOf(`let word = 'gone'`));
    await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(file));
    const notebook = await eventually('the notebook', () =>
      vscode.workspace.notebookDocuments.find(({ uri }) => uri.fsPath === file),
    );
    await vscode.commands.executeCommand('lanceCatalog.variables.focus');
    assert.ok(await execute(notebook, 0));
    await eventually('the variable', () => variable('word'));
    const text = await vscode.workspace.openTextDocument({ content: 'something else' });
    await vscode.window.showTextDocument(text);
    await eventually('the text in front', () => vscode.window.activeNotebookEditor === undefined);
    assert.ok(variable('word'));
    assert.ok(await isSaved(notebook));
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    await vscode.window.tabGroups.close(tabs.filter(({ label }) => label === 'closed.ipynb'));
    await eventually('an empty list', () => variable('word') === undefined);
    assert.equal(notebooks.api.variables.session, undefined);
  });

  test('go on in a notebook that is renamed while a cell runs, and show there what the cell prints', async function () {
    this.timeout(120_000);
    const { waits, open: goOn } = gate();
    const notebook = await open('let kept = 41;', `console.log('before'); ${waits} console.log('after'); kept + 1`);
    assert.ok(await execute(notebook, 0));
    assert.ok(await isSaved(notebook));
    start(notebook, 1);
    await eventually('the first line', () => printed(notebook, 1).includes('before'));
    const pid = await pidOf(notebook);
    const uri = vscode.Uri.file(join(notebooks.folder, `renamed${count++}.ipynb`));
    const edit = new vscode.WorkspaceEdit();
    edit.renameFile(notebook.uri, uri);
    await vscode.workspace.applyEdit(edit);
    const find = () => vscode.workspace.notebookDocuments.find((one) => one.uri.toString() === uri.toString());
    const renamed = await eventually('the renamed notebook', find);
    await eventually('its first line', () => printed(renamed, 1).includes('before'));
    goOn();
    await eventually('its result', () => item(renamed, 1, 'text/plain') === '42');
    assert.equal(printed(renamed, 1), 'before\nafter\n');
    assert.equal(await pidOf(renamed), pid);
  });

  test('keep what a cell prints within bounds while it prints', async () => {
    const { waits, open: goOn } = gate();
    const notebook = await open(
      `for (let i = 0; i < 20_000; i++) console.log('line ' + i + ' '.repeat(200)); console.log('last'); ${waits}`,
    );
    start(notebook, 0);
    await eventually('the end of the loop', () => printed(notebook, 0).endsWith('last\n'));
    const shown = printed(notebook, 0);
    assert.ok(shown.length < 1_100_000, `${shown.length} characters`);
    assert.match(shown, /^line 0 +\nline 1 +\n/);
    assert.match(shown, /characters of output are omitted from the notebook/);
    goOn();
    assert.ok(await ended(notebook, 0));
  });

  test('check types as the setting says', async () => {
    const configuration = vscode.workspace.getConfiguration('lanceCatalog');
    await configuration.update('notebook.typeCheck', 'off', vscode.ConfigurationTarget.Global);
    try {
      const notebook = await open(`const wrong: string = 3; wrong`);
      assert.ok(await execute(notebook, 0), item(notebook, 0, errorMime));
      assert.equal(item(notebook, 0, 'text/plain'), '3');
    } finally {
      await configuration.update('notebook.typeCheck', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  test('make places in a stack links to their cells', async () => {
    const notebook = await open(`function inner() {\n  throw new Error('deep');\n}\ninner();`);
    assert.equal(await execute(notebook, 0), false);
    const { stack } = JSON.parse(item(notebook, 0, errorMime) ?? '{}') as { stack: string };
    assert.match(stack, /<a href='vscode-notebook-cell:\?execution_count=1&line=2'>\[1\]:2:\d+<\/a>/);
  });
});

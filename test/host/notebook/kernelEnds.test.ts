import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { isRunning } from '../../harness/running.ts';
import { eventually, replacing, run } from '../support.ts';
import { ended, execute, item, notebooksOfSuite, printed, start } from './notebookCells.ts';

const errorMime = 'application/vnd.code.notebook.error';

suite('kernels that end', () => {
  const notebooks = notebooksOfSuite();
  const { open, pidOf } = notebooks;

  test('end the running cell with the reason when it is a restart, and mark what ran before', async () => {
    const notebook = await open('let gone = 1;', `console.log('runs'); await new Promise(() => {})`);
    assert.ok(await execute(notebook, 0));
    start(notebook, 1);
    await eventually('the cell runs', () => printed(notebook, 1).includes('runs'));
    const said: string[] = [];
    const tell = (message: string) => (said.push(message), Promise.resolve(undefined));
    await replacing('showInformationMessage', tell, async () => {
      await run('lanceCatalog.notebook.restartKernel');
      await pidOf(notebook);
    });
    assert.deepEqual(said, [], 'who restarts a kernel knows that its variables are gone');
    assert.equal(await ended(notebook, 1), false);
    assert.match(item(notebook, 1, errorMime) ?? '', /The kernel was stopped while this cell ran/);
    const session = notebooks.api.kernels.session(notebook);
    assert.deepEqual([session?.isStale(notebook.cellAt(0)), session?.isStale(notebook.cellAt(1))], [true, true]);
    assert.ok(await execute(notebook, 0));
    assert.equal(session?.isStale(notebook.cellAt(0)), false);
  });

  test('say why they ended while no cell ran', async () => {
    const notebook = await open('let gone = 1;');
    assert.ok(await execute(notebook, 0));
    const pid = await pidOf(notebook);
    const said: string[] = [];
    const standIn = (message: string) => (said.push(message), Promise.resolve(undefined));
    await replacing('showWarningMessage', standIn, async () => {
      process.kill(pid, 'SIGKILL');
      await eventually('a message', () => said.length > 0);
    });
    assert.match(said[0] ?? '', /^k\d+\.ipynb: The kernel has ended: .*SIGKILL.* The next cell starts a new kernel\.$/);
    assert.equal(notebooks.api.kernels.session(notebook)?.isStale(notebook.cellAt(0)), true);
  });

  test('offer a restart when a cell can not be interrupted', async () => {
    const mark = join(notebooks.folder, 'blocked');
    const notebook = await open(
      `import { execSync } from 'node:child_process'; execSync(${JSON.stringify(`touch ${mark}; sleep 60`)})`,
    );
    start(notebook, 0);
    await eventually('the cell blocks', () => existsSync(mark));
    const before = await pidOf(notebook);
    const said: string[] = [];
    const standIn = (message: string, ...choices: string[]) => {
      said.push(message);
      return Promise.resolve(choices[0]);
    };
    await replacing('showWarningMessage', standIn, async () => {
      await vscode.commands.executeCommand('notebook.cancelExecution', {
        ranges: [{ start: 0, end: 1 }],
        document: notebook.uri,
      });
      assert.equal(await ended(notebook, 0), false);
    });
    assert.match(said[0] ?? '', /Can't interrupt the cell/);
    await eventually('the end of the old kernel', () => !isRunning(before));
    assert.notEqual(await pidOf(notebook), before);
  });

  test('take the cells along that waited for them, also those that were started one by one', async () => {
    const notebook = await open(
      "let kept = 1; console.log('runs'); await new Promise(() => {})",
      'let first = 1;',
      'let second = 2;',
      '6 * 7',
    );
    start(notebook, 0);
    await eventually('the cell runs', () => printed(notebook, 0).includes('runs'));
    const before = await pidOf(notebook);
    start(notebook, 1);
    start(notebook, 2);
    // Wait a fixed time, because VS Code does not report which cells wait.
    await new Promise((resolve) => setTimeout(resolve, 500));
    process.kill(before, 'SIGKILL');
    assert.equal(await ended(notebook, 0), false);
    assert.match(item(notebook, 0, errorMime) ?? '', /SIGKILL/);
    // This cell was requested after the kernel ended, so it must run in the new kernel.
    assert.ok(await execute(notebook, 3));
    assert.equal(item(notebook, 3, 'text/plain'), '42');
    for (const waited of [1, 2]) assert.equal(notebook.cellAt(waited).executionSummary?.executionOrder, undefined);
  });
});

import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { eventually, extensionApi, temporaryFolder } from '../support.ts';
import { ended, item, openCells, start } from './notebookCells.ts';

const errorMime = 'application/vnd.code.notebook.error';

const configuration = () => vscode.workspace.getConfiguration('lanceCatalog');

suite('the start of a kernel', () => {
  const folder = temporaryFolder();
  let api: ExtensionApi;

  suiteSetup(async () => {
    api = await extensionApi();
  });
  teardown(async () => {
    await configuration().update('nodePath', undefined, vscode.ConfigurationTarget.Global);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    for (const notebook of vscode.workspace.notebookDocuments) api.kernels.session(notebook)?.dispose();
  });
  suiteTeardown(() => folder.remove());

  test('leaves a cell waiting when connections change meanwhile, and runs it on those that are there then', async function () {
    this.timeout(180_000);
    // A `node` that records each program it runs and waits until the test lets it continue.
    const node = join(folder.path, 'node.sh');
    const [gate, log] = [join(folder.path, 'gate'), join(folder.path, 'log')];
    const script = [
      '#!/bin/sh',
      'export ELECTRON_RUN_AS_NODE=1',
      `if [ "$1" != -p ]; then`,
      `  echo "$@" >> '${log}'`,
      `  while [ ! -e '${gate}' ]; do sleep 0.05; done`,
      'fi',
      `exec '${process.execPath}' "$@"`,
    ];
    writeFileSync(node, script.join('\n'));
    chmodSync(node, 0o700);
    await configuration().update('nodePath', node, vscode.ConfigurationTarget.Global);
    const notebook = await openCells(join(folder.path, 'waits.ipynb'), `'ran'`);
    const starts = (): number => (existsSync(log) ? readFileSync(log, 'utf8').split('kernel.cjs').length - 1 : 0);
    await eventually('the first start', () => starts() === 1, 90_000);
    const session = api.kernels.session(notebook);
    assert.ok(session);
    let isWaiting = false;
    const listening = session.onDidChange(() => (isWaiting = true));
    start(notebook, 0);
    await eventually('the cell waits for its kernel', () => isWaiting);
    listening.dispose();
    await api.connections.add('renewed', folder.path);
    try {
      writeFileSync(gate, '');
      assert.ok(await ended(notebook, 0), item(notebook, 0, errorMime));
      assert.equal(starts(), 2);
    } finally {
      await api.connections.remove('renewed');
    }
  });
});

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { counting, type MagicCase, magicCases, type MagicSeen } from '../../kernel/magics/magicCases.ts';
import { registryStandIn } from '../../kernel/magics/registryStandIn.ts';
import { extensionApi, temporaryFolder } from '../support.ts';
import { ended, items, notebookText, start, textOf } from './notebookCells.ts';

suite('magics in the editor', function () {
  this.timeout(240_000);
  const folder = temporaryFolder();
  const catalog = temporaryFolder();
  const cache = temporaryFolder();
  const { showInputBox, showQuickPick } = vscode.window;
  let api: ExtensionApi;
  let registry: Awaited<ReturnType<typeof registryStandIn>>;
  let notebook: vscode.NotebookDocument;

  suiteSetup(async () => {
    api = await extensionApi();
    registry = await registryStandIn([counting('1.0.0', 1), counting('2.0.0', 2)]);
    await api.engine.catalog(catalog.path);
    await api.connections.add('magics', catalog.path);
  });
  suiteTeardown(async () => {
    Object.assign(vscode.window, { showInputBox, showQuickPick });
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    api.kernels.session(notebook)?.dispose();
    await api.connections.remove('magics');
    registry.close();
    for (const each of [folder, catalog, cache]) each.remove();
  });

  test('do what they do in Jupyter', async () => {
    const cases = magicCases(registry.url, cache.path);
    const file = join(folder.path, 'magics.ipynb');
    const metadata = { lanceCatalog: { connection: 'magics' } };
    writeFileSync(
      file,
      notebookText(
        cases.map(({ cell }) => cell),
        undefined,
        metadata,
      ),
    );
    notebook = await vscode.workspace.openNotebookDocument(vscode.Uri.file(file));
    await vscode.window.showNotebookDocument(notebook);
    const asked: string[] = [];
    const answers = cases.flatMap(({ answers: given }) => (given ? [given[0]] : []));
    const answerTo = (question = '') => answers[asked.push(question) - 1];
    const boxStandIn = ({ prompt }: vscode.InputBoxOptions) => Promise.resolve(answerTo(prompt));
    // Yes-or-no questions are shown as a list.
    const listStandIn = (choices: readonly { value: string }[], { placeHolder }: vscode.QuickPickOptions) => {
      const answer = answerTo(placeHolder);
      return Promise.resolve(choices.find(({ value }) => value === answer));
    };
    Object.assign(vscode.window, { showInputBox: boxStandIn, showQuickPick: listStandIn });
    await runAll(cases);
    for (const [index, { cell, answers: given, ...expected }] of cases.entries()) {
      const seen = { ...shownBy(index), asked: given ? [asked.shift()] : [] };
      if (!expected.error) assert.equal(seen.error, null, cell);
      for (const [key, pattern] of Object.entries(expected))
        assert.match(String(seen[key as keyof MagicSeen]), pattern, cell);
    }
  });

  /** Runs the cells in rows; each row ends with a cell that is expected to fail. */
  async function runAll(cases: readonly MagicCase[]): Promise<void> {
    for (let first = 0; first < cases.length;) {
      const failing = cases.findIndex(({ error }, index) => index >= first && error !== undefined);
      const last = failing < 0 ? cases.length - 1 : failing;
      start(notebook, ...Array.from({ length: last - first + 1 }, (_, index) => first + index));
      await ended(notebook, last);
      first = last + 1;
    }
  }

  function shownBy(index: number): Omit<MagicSeen, 'asked'> {
    const of = (mime: RegExp): string | null => {
      const found = items(notebook, index).filter((one) => mime.test(one.mime));
      return found.length > 0 ? found.map(({ data }) => textOf(data)).join('') : null;
    };
    return {
      out: of(/stdout$/) ?? '',
      err: of(/stderr$/) ?? '',
      value: of(/^text\/plain$/),
      error: of(/notebook\.error$/),
    };
  }
});

import assert from 'node:assert/strict';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { closeNotebooks, execute, item, openCells } from '../notebook/notebookCells.ts';
import { PersonStandIn } from '../person.ts';
import { extensionApi, makeCatalog, replacing, run, temporaryFolder } from '../support.ts';

suite('choosing the catalog of a notebook', () => {
  const folder = temporaryFolder();
  const catalog = temporaryFolder();
  let api: ExtensionApi;

  suiteSetup(async () => {
    api = await extensionApi();
    await makeCatalog(api, catalog.path);
  });
  teardown(() => closeNotebooks(api));
  suiteTeardown(async () => {
    await api.connections.remove('new one');
    folder.remove();
    catalog.remove();
  });

  test('takes one that is added in the same step, and db is that', async () => {
    const notebook = await openCells(join(folder.path, 'chooses.ipynb'), 'db.location');
    const person = new PersonStandIn({ picks: ['Add Directory…', 'Type a Path…'] });
    const typed = [catalog.path, 'new one'];
    await person.during(() =>
      replacing(
        'showInputBox',
        () => Promise.resolve(typed.shift()),
        () => run('lanceCatalog.notebook.chooseCatalog'),
      ),
    );
    const [list] = person.lists;
    assert.equal(list?.title, 'Select the catalog for `db` in this notebook');
    assert.deepEqual(list?.labels.slice(-2), ['$(add) Add Directory…', '$(plug) Add REST Connection…']);
    assert.ok(await execute(notebook, 0));
    assert.equal(item(notebook, 0, 'text/plain'), `'${catalog.path}'`);
  });

  test('leaves the notebook as it is when the person leaves the list', async () => {
    const notebook = await openCells(join(folder.path, 'leaves.ipynb'), '1');
    await new PersonStandIn({ picks: [undefined] }).during(() => run('lanceCatalog.notebook.chooseCatalog'));
    assert.equal(notebook.isDirty, false);
    assert.equal(vscode.window.activeNotebookEditor?.notebook, notebook);
  });
});

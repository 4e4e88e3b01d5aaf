import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { closeNotebooks, ended, execute, item, openCells, start } from '../notebook/notebookCells.ts';
import { PersonStandIn } from '../person.ts';
import {
  eventually,
  extensionApi,
  makeCatalog,
  nameOf,
  replacing,
  run,
  tableNode,
  temporaryFolder,
} from '../support.ts';

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
    const missing = join(catalog.path, 'misspelled');
    const table = join(catalog.path, 'people.lance');
    mkdirSync(join(table, '_versions'), { recursive: true });
    const paths = [missing, table, `"${catalog.path}"`];
    const person = new PersonStandIn({ picks: ['Add Directory…'], paths });
    const typed = ['new one'];
    await person.during(() =>
      replacing(
        'showInputBox',
        () => Promise.resolve(typed.shift()),
        () => run('lanceCatalog.notebook.chooseCatalog'),
      ),
    );
    const [list] = person.lists;
    assert.equal(list?.title, 'Select the catalog for `db` in this notebook');
    assert.deepEqual(person.paths, [
      [`Use ${missing}`, `No folder at ${missing}. Check the spelling.`],
      [
        `Use ${table}`,
        `people.lance is a Lance table, not a folder of tables. Add the folder above it: ${catalog.path}`,
      ],
      [`Use "${catalog.path}"`],
    ]);
    rmSync(table, { recursive: true });
    await eventually('the new row', () => api.view.selection.some((row) => nameOf(row) === 'new one'));
    assert.equal(api.view.visible, true);
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

const locationIn = (notebook: vscode.NotebookDocument, index = 0) => item(notebook, index, 'text/plain');

suite('the catalog that a notebook keeps', () => {
  const folder = temporaryFolder();
  const mine = temporaryFolder();
  const production = temporaryFolder();
  let api: ExtensionApi;

  suiteSetup(async () => {
    api = await extensionApi();
    for (const { path } of [mine, production]) await makeCatalog(api, path);
    for (const { name } of api.connections.list()) await api.connections.remove(name);
  });
  setup(() => api.connections.add('mine', mine.path));
  teardown(async () => {
    await closeNotebooks(api);
    api.panels.dispose();
    for (const { name } of api.connections.list()) await api.connections.remove(name);
  });
  suiteTeardown(() => {
    for (const one of [folder, mine, production]) one.remove();
  });

  test('is not that of a table previewed meanwhile, also after the notebook was closed and opened again', async () => {
    const file = join(folder.path, 'tour.ipynb');
    const notebook = await openCells(file, 'db.location');
    assert.ok(await execute(notebook, 0));
    assert.equal(locationIn(notebook), `'${mine.path}'`);
    assert.equal(await notebook.save(), true);
    await closeNotebooks(api);
    await api.connections.add('production', production.path);
    await run('lanceCatalog.table.preview', tableNode('production', ['shop', 'eu'], 'orders'));
    const again = await vscode.workspace.openNotebookDocument(vscode.Uri.file(file));
    await vscode.window.showNotebookDocument(again);
    assert.ok(await execute(again, 0));
    assert.equal(locationIn(again), `'${mine.path}'`);
    assert.doesNotMatch(JSON.stringify(again.metadata), /"connection"/, 'the file names no connection');
  });

  test('follows the file to another name', async () => {
    const file = vscode.Uri.file(join(folder.path, 'old.ipynb'));
    const notebook = await openCells(file.fsPath, 'db.location');
    assert.ok(await execute(notebook, 0));
    assert.equal(await notebook.save(), true);
    await closeNotebooks(api);
    await api.connections.add('production', production.path);
    const renamed = vscode.Uri.file(join(folder.path, 'new.ipynb'));
    const edit = new vscode.WorkspaceEdit();
    edit.renameFile(file, renamed);
    assert.ok(await vscode.workspace.applyEdit(edit));
    const again = await vscode.workspace.openNotebookDocument(renamed);
    await vscode.window.showNotebookDocument(again);
    assert.ok(await execute(again, 0));
    assert.equal(locationIn(again), `'${mine.path}'`);
  });

  test('is asked for before the first run where there are several, and only then', async () => {
    await api.connections.add('production', production.path);
    const notebook = await openCells(join(folder.path, 'asks.ipynb'), 'db.location', 'db.location.length > 0');
    const person = new PersonStandIn({ picks: ['production'] });
    await person.during(async () => {
      assert.ok(await execute(notebook, 0));
      assert.ok(await execute(notebook, 1));
    });
    assert.equal(locationIn(notebook), `'${production.path}'`);
    assert.deepEqual(person.lists, [
      {
        title: 'Select the catalog for `db` before the first cell runs',
        labels: [
          '$(database) mine',
          '$(database) production',
          '$(add) Add Directory…',
          '$(plug) Add REST Connection…',
          '$(circle-slash) Run Without a Catalog',
        ],
      },
    ]);
    assert.doesNotMatch(JSON.stringify(notebook.metadata), /production/, 'the answer does not change the file');
  });

  test('is asked for again where the question was left, and nothing ran', async () => {
    await api.connections.add('production', production.path);
    const notebook = await openCells(join(folder.path, 'left.ipynb'), 'db.location');
    const person = new PersonStandIn({ picks: [undefined, 'mine'] });
    await person.during(async () => {
      start(notebook, 0);
      await eventually('the question was left', () => person.lists.length === 1);
      assert.equal(notebook.cellAt(0).executionSummary?.timing, undefined);
      assert.ok(await execute(notebook, 0));
    });
    assert.equal(locationIn(notebook), `'${mine.path}'`);
  });

  test('is none where it is gone, though one other is left', async () => {
    await api.connections.add('production', production.path);
    const file = join(folder.path, 'gone.ipynb');
    const notebook = await openCells(file, 'await db.tableNames()', '1 + 1');
    await new PersonStandIn({ picks: ['mine'] }).during(() => execute(notebook, 0));
    assert.equal(await notebook.save(), true);
    await closeNotebooks(api);
    await api.connections.remove('mine');
    const again = await vscode.workspace.openNotebookDocument(vscode.Uri.file(file));
    await vscode.window.showNotebookDocument(again);
    const person = new PersonStandIn({ picks: ['Run Without a Catalog'] });
    await person.during(async () => {
      start(again, 1);
      await ended(again, 1);
    });
    assert.equal(person.lists[0]?.title, 'The connection "mine" does not exist. Select another one for this notebook');
    assert.equal(await execute(again, 0), false, 'db says that there is no catalog');
  });
});

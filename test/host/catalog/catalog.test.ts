import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { connectionLabel } from '../../../extension/connections/connectionRules.ts';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { commands } from '../../../extension/contributions/commands.ts';
import { eventually, extensionApi, makeCatalog, nameOf, rowsAt, run, temporaryFolder } from '../support.ts';

const collapse = () => vscode.commands.executeCommand('workbench.actions.treeView.lanceCatalog.catalog.collapseAll');

/** Waits until VS Code's own requests after a change have ended. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 700));

function openedFolder(): string {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  assert.ok(folder, 'the tests run in a window with a folder');
  return folder.uri.fsPath;
}

suite('the catalog tree', () => {
  const folder = temporaryFolder();
  let api: ExtensionApi;

  suiteSetup(async () => {
    api = await extensionApi();
    await makeCatalog(api, folder.path);
    await run('lanceCatalog.connection.add', { name: 'tree', root: folder.path });
  });
  suiteTeardown(async () => {
    for (const { name } of api.connections.list()) await api.connections.remove(name);
    folder.remove();
  });

  test('leads from a connection over nested namespaces to a table and its columns', async () => {
    assert.deepEqual((await rowsAt(api, 'tree')).map(nameOf), ['lab', 'shop']);
    assert.deepEqual((await rowsAt(api, 'tree', 'shop', 'eu')).map(nameOf), ['orders']);
    const columns = await rowsAt(api, 'tree', 'shop', 'eu', 'orders');
    assert.deepEqual(columns.map(nameOf), ['id', 'note', 'embedding']);
    const last = columns[2];
    assert.ok(last?.kind === 'column');
    assert.match(last.column.type, /^fixed_size_list/);
  });

  test('says that an empty namespace is empty', async () => {
    assert.deepEqual(
      (await rowsAt(api, 'tree', 'lab')).map((row) => row.kind),
      ['empty'],
    );
  });

  test('lists in pages, and the next one when it is asked for', async () => {
    const catalog = await api.engine.catalog(folder.path);
    await catalog.createNamespace(['many']);
    for (let i = 0; i < 105; i++) await catalog.createNamespace(['many', `n${String(i).padStart(3, '0')}`]);
    await run('lanceCatalog.catalog.refresh');
    const first = await rowsAt(api, 'tree', 'many');
    assert.equal(first.length, 101);
    assert.equal(first.at(-1)?.kind, 'more');
    await run('lanceCatalog.catalog.loadMore', first.at(-1));
    const all = await rowsAt(api, 'tree', 'many');
    assert.equal(all.length, 105);
    assert.equal(nameOf(all[104]!), 'n104');
  });

  test('lists a directory that another window has added when the user returns, and only then', async () => {
    const stored = api.state.connections();
    let changes = 0;
    const listening = api.connections.onDidChange(() => changes++);
    try {
      assert.ok(Array.isArray(stored));
      await api.state.setConnections([...stored, { name: 'elsewhere', root: folder.path }]);
      api.connections.readAgain();
      api.connections.readAgain();
      assert.equal(changes, 1);
      assert.deepEqual((await rowsAt(api)).map(nameOf), ['tree', 'elsewhere']);
    } finally {
      listening.dispose();
      await api.connections.remove('elsewhere');
    }
  });

  test('asks again under an empty namespace, which may have something by now', async () => {
    const catalog = await api.engine.catalog(folder.path);
    assert.deepEqual((await rowsAt(api, 'tree', 'lab')).map(nameOf), ['No tables yet']);
    await catalog.createTable('first', [{ id: 1 }], { namespacePath: ['lab'] });
    assert.deepEqual((await rowsAt(api, 'tree', 'lab')).map(nameOf), ['first']);
    await catalog.dropTable('first', { namespacePath: ['lab'] });
    await run('lanceCatalog.catalog.refresh');
  });

  test('shows a table that was made meanwhile after a refresh', async () => {
    await rowsAt(api, 'tree', 'lab');
    const catalog = await api.engine.catalog(folder.path);
    await catalog.createTable('notes', [{ id: 1 }], { namespacePath: ['lab'] });
    await run('lanceCatalog.catalog.refresh', { kind: 'namespace', connection: 'tree', path: ['lab'] });
    assert.deepEqual((await rowsAt(api, 'tree', 'lab')).map(nameOf), ['notes']);
    await catalog.dropTable('notes', { namespacePath: ['lab'] });
  });

  test('copies where a table is', async () => {
    const node = { kind: 'table', connection: 'tree', path: ['shop', 'eu'], table: 'orders' } as const;
    await run('lanceCatalog.catalog.copyIdentifier', node);
    assert.equal(await vscode.env.clipboard.readText(), 'shop/eu/orders');
    await run('lanceCatalog.catalog.copyPath', node);
    assert.equal(await vscode.env.clipboard.readText(), '["shop","eu","orders"]');
  });

  test('refuses two connections with one name', async () => {
    await run('lanceCatalog.connection.add', { name: 'tree', root: folder.path });
    assert.equal(api.connections.list().filter(({ name }) => name === 'tree').length, 1);
  });

  test('forgets a removed connection and leaves its tables', async () => {
    await run('lanceCatalog.connection.add', { name: 'gone', root: folder.path });
    const node = (await api.tree.getChildren()).find((one) => nameOf(one) === 'gone');
    assert.ok(node);
    await run('lanceCatalog.connection.remove', node);
    assert.ok(!(await api.tree.getChildren()).some((one) => nameOf(one) === 'gone'));
    assert.ok(readdirSync(folder.path).length > 0);
  });

  test('lists the connections of the setting, which can not be removed', async () => {
    const settings = vscode.workspace.getConfiguration('lanceCatalog');
    const value = [{ name: 'shared', root: folder.path }];
    await settings.update('defaultConnections', value, vscode.ConfigurationTarget.Global);
    try {
      await eventually('the shared connection', () => api.connections.list().some(({ name }) => name === 'shared'));
      assert.deepEqual((await rowsAt(api, 'shared')).map(nameOf).slice(0, 1), ['lab']);
      const [node] = await api.tree.getChildren();
      assert.ok(node);
      await run('lanceCatalog.connection.remove', node);
      assert.ok(api.connections.list().some(({ name }) => name === 'shared'));
    } finally {
      await settings.update('defaultConnections', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  test('lists a relative root of the setting under the folder of the window', async () => {
    const settings = vscode.workspace.getConfiguration('lanceCatalog');
    const value = [{ name: 'relative', root: 'some/tables' }];
    await settings.update('defaultConnections', value, vscode.ConfigurationTarget.Global);
    try {
      const found = () => api.connections.list().find(({ name }) => name === 'relative');
      const connection = await eventually('the relative connection', found);
      assert.equal(connectionLabel(connection), join(openedFolder(), 'some', 'tables'));
    } finally {
      await settings.update('defaultConnections', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  test('adds a relative root as the absolute path that it is in this window', async () => {
    const inFolder = join(openedFolder(), 'tables here');
    mkdirSync(inFolder);
    try {
      await run('lanceCatalog.connection.add', { name: 'here', root: './tables here' });
      assert.equal(connectionLabel(api.connections.get('here')), inFolder);
    } finally {
      rmSync(inFolder, { recursive: true });
    }
  });

  test('has every command of the manifest registered', async () => {
    const registered = new Set(await vscode.commands.getCommands(true));
    assert.deepEqual(
      Object.keys(commands).filter((id) => !registered.has(id)),
      [],
    );
  });
});

suite('a root that can not be read', () => {
  const folder = temporaryFolder();
  let api: ExtensionApi;

  suiteSetup(async () => {
    api = await extensionApi();
    writeFileSync(join(folder.path, 'file'), 'no directory');
    // Use a link to itself, because no user can read it. The user root can read a directory with any mode.
    symlinkSync('unreadable', join(folder.path, 'unreadable'));
  });
  suiteTeardown(async () => {
    for (const { name } of api.connections.list()) await api.connections.remove(name);
    folder.remove();
  });

  const cases = [
    { name: 'missing', says: /no directory ".*missing"/, next: /mkdir/ },
    { name: 'file', says: /got a file: ".*file"/, next: /directory/ },
    { name: 'unreadable', says: /read ".*unreadable"/, next: /chmod/ },
  ];
  for (const { name, says, next } of cases) {
    test(`is shown where its tables would be, with the next step: ${name}`, async () => {
      await api.connections.add(name, join(folder.path, name));
      const [error, ...rest] = await rowsAt(api, name);
      assert.ok(error?.kind === 'error', JSON.stringify(error));
      assert.deepEqual(rest, []);
      assert.match(error.what, says);
      assert.match(error.hint, next);
    });

    test(`is not added as a connection and not made: ${name}`, async () => {
      await run('lanceCatalog.connection.add', { name: `${name} again`, root: join(folder.path, name) });
      assert.ok(!api.connections.list().some((one) => one.name === `${name} again`));
      assert.deepEqual(readdirSync(folder.path).toSorted(), ['file', 'unreadable']);
    });
  }

  test('is read once it is there, since an error is never kept', async () => {
    const later = temporaryFolder();
    later.remove();
    await api.connections.add('later', later.path);
    assert.equal((await rowsAt(api, 'later'))[0]?.kind, 'error');
    mkdirSync(later.path);
    assert.equal((await rowsAt(api, 'later'))[0]?.kind, 'empty');
    later.remove();
  });
});

suite('a row that may be otherwise by now', () => {
  const folder = temporaryFolder();
  const root = join(folder.path, 'root');
  let api: ExtensionApi;

  suiteSetup(async () => {
    api = await extensionApi();
    await api.connections.add('changing', root);
    await vscode.commands.executeCommand('lanceCatalog.catalog.focus');
  });
  suiteTeardown(async () => {
    await api.connections.remove('changing');
    folder.remove();
  });

  test('is asked for again when the person collapses and expands its node, and only then', async () => {
    const [node] = (await api.tree.getChildren()).filter((one) => nameOf(one) === 'changing');
    assert.ok(node);
    const asked: unknown[] = [];
    const listening = api.tree.onDidChangeTreeData((changed) => asked.push(changed));
    try {
      await api.view.reveal(node, { expand: true });
      await settle();
      assert.deepEqual(asked, [], 'the first time the editor asks by itself');
      await collapse();
      await settle();
      mkdirSync(root);
      await api.view.reveal(node, { expand: true });
      await eventually('the tree asks again', () => asked.length > 0, 10_000);
      await settle();
      assert.deepEqual(asked, [node], 'asked again once, and not over and over');
      assert.deepEqual((await api.tree.getChildren(node)).map(nameOf), ['No tables yet']);
    } finally {
      listening.dispose();
    }
  });
});

suite('a table with a broken manifest', () => {
  const folder = temporaryFolder();
  let api: ExtensionApi;

  suiteSetup(async () => {
    api = await extensionApi();
    const catalog = await api.engine.catalog(folder.path);
    await catalog.createTable('good', [{ id: 1 }]);
    await catalog.createTable('broken', [{ id: 1 }]);
    const versions = join(folder.path, 'broken.lance', '_versions');
    for (const file of readdirSync(versions)) writeFileSync(join(versions, file), 'not a manifest');
    await api.connections.add('broken', folder.path);
  });
  suiteTeardown(async () => {
    await api.connections.remove('broken');
    folder.remove();
  });

  test('is an error under that table, and the one beside it is read', async () => {
    assert.deepEqual((await rowsAt(api, 'broken')).map(nameOf), ['broken', 'good']);
    const [error] = await rowsAt(api, 'broken', 'broken');
    assert.ok(error?.kind === 'error');
    assert.match(error.what, /broken/);
    assert.notEqual(error.hint, '');
    assert.deepEqual((await rowsAt(api, 'broken', 'good')).map(nameOf), ['id']);
  });
});

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../../extension/extension.ts';
import type { ViewFileEditor } from '../../../extension/viewFiles/viewFileEditor.ts';
import { eventually, extensionApi, makeCatalog, run, tableNode, temporaryFolder } from '../support.ts';

const write = (uri: vscode.Uri, value: unknown): void => writeFileSync(uri.fsPath, JSON.stringify(value));

const described = (path: string, change: object = {}): object => ({
  lanceView: 1,
  connection: { kind: 'dir', path },
  table: 'shop/eu/orders',
  where: 'id >= 1000',
  orderBy: [{ column: 'id', descending: true }],
  columns: { hidden: ['note'] },
  ...change,
});

suite('view files', () => {
  const folder = temporaryFolder();
  const file = vscode.Uri.file(join(folder.path, 'project/views/last.lance-view.json'));
  let api: ExtensionApi;

  suiteSetup(async () => {
    api = await extensionApi();
    mkdirSync(join(folder.path, 'project/views'), { recursive: true });
    mkdirSync(join(folder.path, 'project/catalog'));
    await makeCatalog(api, join(folder.path, 'project/catalog'));
    await api.connections.add('viewed', join(folder.path, 'project/catalog'));
  });
  teardown(async () => {
    api.panels.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });
  suiteTeardown(async () => {
    for (const name of ['viewed', 'teammate'])
      if (api.connections.list().some((one) => one.name === name)) await api.connections.remove(name);
    folder.remove();
  });

  async function open(uri: vscode.Uri): Promise<ViewFileEditor> {
    await vscode.commands.executeCommand('vscode.open', uri);
    const find = () => api.viewFiles.editors.all.find((one) => one.uri.toString() === uri.toString());
    const editor = await eventually('the editor of the view file is open', find);
    await eventually('the editor shows the file', () => editor.review ?? editor.table);
    return editor;
  }

  test('show nothing but what they name, until the user chooses the rows', async () => {
    write(file, described('../catalog'));
    const editor = await open(file);
    assert.equal(editor.table, undefined);
    assert.deepEqual(editor.review?.actions, ['showRows', 'alwaysShowRows', 'openText']);
    assert.match(editor.review.sql ?? '', /where id >= 1000/);
    await editor.act('showRows');
    const table = await eventually('the rows are shown', () => editor.table);
    await eventually('the page has asked for the filter', async () => (await table.table).view !== undefined);
    await eventually('the webview asked for its first rows', () => table.rowsSent > 0);
    assert.equal((await table.table).numRows, 200);
    assert.deepEqual(table.shownView.columns?.hidden, ['note']);
    assert.deepEqual(await table.shownView.state(), { name: 'last', isChanged: false });
    assert.equal(editor.panel.title, 'last.lance-view.json');
    // The table itself opens in its own panel, with its own columns.
    await run('lanceCatalog.table.preview', tableNode('viewed', ['shop', 'eu'], 'orders'));
    const plain = api.panels.all.find((one) => one !== table);
    assert.equal((await plain?.table)?.numRows, 1200);
    assert.equal(plain?.panel.title, 'orders (viewed)');
    assert.equal(editor.panel.title, 'last.lance-view.json');
    assert.equal(plain?.shownView.columns, undefined);
  });

  test('are asked about again after another content, and not after it was accepted for good', async () => {
    write(file, described('../catalog', { where: 'id = 1' }));
    const editor = await open(file);
    await editor.act('alwaysShowRows');
    assert.ok(editor.table);
    write(file, described('../catalog', { where: 'id = 2' }));
    await editor.draw();
    assert.equal(editor.table, undefined);
    assert.match(editor.review?.sql ?? '', /id = 2/);
    write(file, described('../catalog', { where: 'id = 1' }));
    await editor.draw();
    assert.ok(editor.table, 'accepted for good');
  });

  test('mean the catalog of a teammate who has the folder elsewhere', async () => {
    write(file, described('../catalog'));
    const there = join(folder.path, 'teammate/code');
    cpSync(join(folder.path, 'project'), there, { recursive: true });
    const copy = vscode.Uri.file(join(there, 'views/last.lance-view.json'));
    const editor = await open(copy);
    assert.deepEqual(editor.review?.actions, ['connect', 'openText']);
    await editor.act('showRows');
    assert.equal(editor.table, undefined, 'an action that is not offered does nothing');
    await editor.act('connect');
    await eventually('the connection was added', () => editor.review?.actions.includes('showRows'));
    const added = api.connections.list().find((one) => one.kind === 'dir' && one.root === join(there, 'catalog'));
    assert.ok(added);
    await editor.act('showRows');
    const table = await eventually('the rows are shown', () => editor.table);
    assert.equal(table.place?.connection, added.name);
    await api.connections.remove(added.name);
  });

  test('are written from a panel, without secrets, and read as the same view', async () => {
    await run('lanceCatalog.table.preview', tableNode('viewed', ['shop', 'eu'], 'orders'));
    const panel = api.panels.all[0]!;
    panel.panel.reveal();
    await eventually('the webview asked for its first rows', () => panel.rowsSent > 0);
    await eventually('the panel is active', () => panel.panel.active);
    const view = { where: 'id < 5', orderBy: [{ column: 'id', descending: true }] };
    await panel.shownView.show({ name: 'x', view });
    await run('lanceCatalog.table.saveViewFile', file);
    const text = readFileSync(file.fsPath, 'utf8');
    const path = join(folder.path, 'project/catalog');
    assert.deepEqual(JSON.parse(text), {
      lanceView: 1,
      connection: { kind: 'dir', path, name: 'viewed' },
      table: 'shop/eu/orders',
      ...view,
    });
    // The user has seen these rows, so the file shows them at once.
    const editor = await open(file);
    const table = await eventually('the rows are shown', () => editor.table);
    await eventually('the webview asked for its first rows', () => table.rowsSent > 0);
    // What the panel shows is written to its file, without a new page.
    await table.shownView.show({ name: 'x', view: { where: 'id < 4', orderBy: [] } });
    await run('lanceCatalog.table.saveViewFile', file);
    await editor.draw();
    assert.equal(editor.table, table);
    assert.deepEqual(await table.shownView.state(), { name: 'last', isChanged: false });
    assert.equal(JSON.parse(readFileSync(file.fsPath, 'utf8')).where, 'id < 4');
    // Another table with the same view is another page.
    writeFileSync(file.fsPath, readFileSync(file.fsPath, 'utf8').replace('shop/eu/orders', 'shop/eu/others'));
    await editor.draw();
    assert.equal(editor.table, undefined);
  });

  test('that are not valid say what is wrong and where', async () => {
    writeFileSync(file.fsPath, '{\n  "lanceView": 1,\n  "tabel": "x"\n}');
    const editor = await open(file);
    assert.match(editor.review?.note ?? '', /^Line 3, column 3: tabel is not a field\. Did you mean "table"\?/);
    writeFileSync(file.fsPath, ' '.repeat(1024 * 1024 + 1));
    await editor.draw();
    assert.match(editor.review?.note ?? '', /The file has more than 1048576 bytes/);
    writeFileSync(file.fsPath, Buffer.from([0xff, 0xfe, 0x00]));
    await editor.draw();
    assert.match(editor.review?.note ?? '', /Line 1, column 1/);
  });
});

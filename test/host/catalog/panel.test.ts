import assert from 'node:assert/strict';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { tableFromIPC } from '#arrow';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { PanelFailures } from '../../../extension/panels/panelFailure.ts';
import type { TablePanel } from '../../../extension/panels/tablePanel.ts';
import { trialKey } from '../../../extension/panels/tableSource.ts';
import { eventually, extensionApi, makeCatalog, run, tableNode, temporaryFolder } from '../support.ts';

suite('the table panel', () => {
  const folder = temporaryFolder();
  const signal = new AbortController().signal;
  let api: ExtensionApi;
  const only = (): TablePanel => {
    assert.equal(api.panels.all.length, 1);
    return api.panels.all[0]!;
  };

  suiteSetup(async () => {
    api = await extensionApi();
    await makeCatalog(api, folder.path);
    const catalog = await api.engine.catalog(folder.path);
    await catalog.createTable('returns', [{ reason: 'broken' }], { namespacePath: ['shop', 'eu'] });
    await api.connections.add('panel', folder.path);
  });
  teardown(() => api.panels.dispose());
  suiteTeardown(async () => {
    await api.connections.remove('panel');
    folder.remove();
  });

  test('shows the rows of a table in pages', async () => {
    await run('lanceCatalog.table.preview', tableNode('panel', ['shop', 'eu'], 'orders'));
    const panel = only();
    const table = await panel.table;
    assert.equal(table.title, 'panel/shop/eu/orders');
    assert.equal(table.numRows, 1200);
    const bytes = await panel.rows(1000, 1200, signal);
    // The bytes must fill their buffer, because VS Code sends the whole buffer of a view.
    assert.equal(bytes.buffer.byteLength, bytes.byteLength);
    const rows = tableFromIPC(bytes);
    assert.equal(rows.numRows, 200);
    assert.equal(rows.getChild('note')?.get(199), 'order 1199');
  });

  test('is asked for rows by its webview', async () => {
    await run('lanceCatalog.table.preview', tableNode('panel', ['shop', 'eu'], 'orders'));
    const panel = only();
    await eventually('the webview asked for its first rows', () => panel.rowsSent > 0);
  });

  test('is used again for the next table, until it is kept', async () => {
    await run('lanceCatalog.table.preview', tableNode('panel', ['shop', 'eu'], 'orders'));
    const first = only();
    await run('lanceCatalog.table.preview', tableNode('panel', ['shop', 'eu'], 'returns'));
    assert.equal(only(), first);
    assert.equal((await first.table).numRows, 1);
    assert.equal(first.panel.title, 'returns (panel)');
    await run('lanceCatalog.table.keepOpen');
    assert.ok(first.isPinned);
    await run('lanceCatalog.table.preview', tableNode('panel', ['shop', 'eu'], 'orders'));
    assert.equal(api.panels.all.length, 2);
    // A table with a kept tab opens in this tab.
    await run('lanceCatalog.table.preview', tableNode('panel', ['shop', 'eu'], 'returns'));
    assert.equal(api.panels.all.length, 2);
    assert.equal(first.panel.visible, true);
  });

  test('is kept by a double click', async () => {
    const node = tableNode('panel', ['shop', 'eu'], 'orders');
    // Wait, because the last click of the previous test and the first click of this one would count as a double click.
    await new Promise((resolve) => setTimeout(resolve, 500));
    await Promise.all([run('lanceCatalog.table.preview', node), run('lanceCatalog.table.preview', node)]);
    assert.ok(only().isPinned);
  });

  test('reads further pages from the version that it opened, whatever is written meanwhile', async () => {
    await run('lanceCatalog.table.preview', tableNode('panel', ['shop', 'eu'], 'returns'));
    const panel = only();
    await panel.table;
    const catalog = await api.engine.catalog(folder.path);
    const table = await catalog.openTable('returns', { namespacePath: ['shop', 'eu'] });
    await table.add([{ reason: 'late' }]);
    assert.equal(tableFromIPC(await panel.rows(0, 500, signal)).numRows, 1);
  });

  test('goes on after the engine was restarted', async () => {
    await run('lanceCatalog.table.preview', tableNode('panel', ['shop', 'eu'], 'orders'));
    const panel = only();
    await panel.table;
    await run('lanceCatalog.engine.restart');
    assert.equal(tableFromIPC(await panel.rows(0, 500, signal)).numRows, 500);
  });

  test('names the table that it can not open', async () => {
    await run('lanceCatalog.table.preview', tableNode('panel', ['shop', 'eu'], 'nowhere'));
    await assert.rejects(only().table, /shop\/eu\/nowhere/);
  });

  test('comes back with its table after a reload', async () => {
    await run('lanceCatalog.table.preview', tableNode('panel', ['shop', 'eu'], 'orders'));
    const { key } = await only().table;
    api.panels.dispose();
    // After a reload, VS Code passes a panel and its stored state to the serializer, as this test does.
    const panel = vscode.window.createWebviewPanel('lanceCatalog.table', '', vscode.ViewColumn.One);
    await api.panels.deserializeWebviewPanel(panel, { key });
    assert.equal((await only().table).title, 'panel/shop/eu/orders');
  });

  test('names what is missing if the saved state is not a table', async () => {
    const panel = vscode.window.createWebviewPanel('lanceCatalog.table', '', vscode.ViewColumn.One);
    await api.panels.deserializeWebviewPanel(panel, { key: 'something else' });
    await assert.rejects(only().table, /location of its table is not known/);
  });

  test('says that the rows of a trial were not kept', async () => {
    const panel = vscode.window.createWebviewPanel('lanceCatalog.table', '', vscode.ViewColumn.One);
    await api.panels.deserializeWebviewPanel(panel, { key: trialKey('words 1'), title: 'Trial: words' });
    assert.equal(panel.title, 'Trial: words');
    await assert.rejects(only().table, /The rows of this trial were not kept .* Try the backfill again\./);
  });

  test('offers another folder or the end of the connection if its folder is missing', async () => {
    const [away, back] = [join(folder.path, 'away'), temporaryFolder()];
    await api.connections.add('moved', away);
    const failures = new PanelFailures(api.connections);
    const place = { connection: 'moved', path: [], table: 'orders' };
    assert.equal(await failures.missingFolder({ ...place, connection: 'panel' }), undefined);
    const failure = await failures.missingFolder(place);
    assert.equal(failure?.title, `The folder is missing: ${away}`);
    assert.deepEqual(failure.actions, ['retry', 'chooseFolder', 'removeConnection']);
    const { showOpenDialog } = vscode.window;
    Object.assign(vscode.window, { showOpenDialog: () => Promise.resolve([vscode.Uri.file(back.path)]) });
    try {
      assert.equal(await failures.act('chooseFolder', place), 'open');
    } finally {
      Object.assign(vscode.window, { showOpenDialog });
      back.remove();
    }
    const moved = api.connections.get('moved');
    assert.equal(moved.kind === 'dir' && moved.root, back.path);
    assert.equal(await failures.act('removeConnection', place), 'close');
    assert.equal(
      api.connections.list().some(({ name }) => name === 'moved'),
      false,
    );
  });

  test('names the namespaces of two panels whose tables have the same name', async () => {
    const catalog = await api.engine.catalog(folder.path);
    await catalog.createTable('orders', [{ id: 1 }], { namespacePath: ['lab'] });
    await run('lanceCatalog.table.preview', tableNode('panel', ['shop', 'eu'], 'orders'));
    const first = only();
    await run('lanceCatalog.table.keepOpen');
    await run('lanceCatalog.table.preview', tableNode('panel', ['lab'], 'orders'));
    const titles = () => api.panels.all.map(({ panel }) => panel.title);
    assert.deepEqual(titles(), ['shop/eu/orders (panel)', 'lab/orders (panel)']);
    first.panel.dispose();
    assert.deepEqual(titles(), ['orders (panel)']);
  });
});

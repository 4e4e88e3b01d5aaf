import assert from 'node:assert/strict';
import type { ExtensionApi } from '../../../extension/extension.ts';
import type { TablePanel } from '../../../extension/panels/tablePanel.ts';
import { PersonStandIn } from '../person.ts';
import { eventually, extensionApi, makeCatalog, run, tableNode, temporaryFolder } from '../support.ts';

suite('saved views of a table', () => {
  const folder = temporaryFolder();
  let api: ExtensionApi;
  const orders = tableNode('views', ['shop', 'eu'], 'orders');
  const place = { connection: 'views', path: ['shop', 'eu'], table: 'orders' };

  suiteSetup(async () => {
    api = await extensionApi();
    await makeCatalog(api, folder.path);
    await api.connections.add('views', folder.path);
  });
  teardown(() => api.panels.dispose());
  suiteTeardown(async () => {
    await api.connections.remove('views');
    folder.remove();
  });

  async function opened(): Promise<TablePanel> {
    await run('lanceCatalog.table.preview', orders);
    const panel = api.panels.all[0]!;
    panel.panel.reveal();
    await eventually('the webview asked for its first rows', () => panel.rowsSent > 0);
    await eventually('the panel is active', () => panel.panel.active);
    return panel;
  }

  test('are saved, shown in another panel, renamed and deleted', async () => {
    const first = await opened();
    const view = { where: 'id >= 1000', orderBy: [{ column: 'id', descending: true }] };
    const columns = { order: [], pinned: [], hidden: ['note'], widths: [], rowHeight: 'small' };
    await first.shownView.show({ name: 'not saved', view, columns });
    assert.equal((await first.table).numRows, 200);
    await run('lanceCatalog.table.saveView', 'last orders');
    assert.deepEqual(api.panels.saved.list(place), [{ name: 'last orders', view, columns }]);
    await first.shownView.show(undefined);
    assert.equal((await first.table).numRows, 1200);
    api.panels.dispose();

    const second = await opened();
    assert.equal((await second.table).numRows, 1200);
    await run('lanceCatalog.table.showView', 'last orders');
    assert.equal((await second.table).numRows, 200);
    assert.deepEqual(second.shownView.columns?.hidden, ['note']);
    assert.deepEqual(await second.shownView.state(), { name: 'last orders', isChanged: false });
    await second.shownView.keepColumns({ ...columns, hidden: [] });
    assert.deepEqual(await second.shownView.state(), { name: 'last orders', isChanged: true });
    api.panels.dispose();
    const third = await opened();
    assert.equal(third.shownView.columns?.hidden.length ?? 0, 0, 'the columns of the view are not those of the table');
    await run('lanceCatalog.table.showView', 'last orders');

    await new PersonStandIn({ chooses: ['Delete View'] }).during(() => third.shownView.delete('last orders'));
    assert.deepEqual(api.panels.saved.list(place), []);
    assert.deepEqual(await third.shownView.state(), { name: null, isChanged: false });
  });

  test('of another version are shown in the place of a filter', async () => {
    const catalog = await api.engine.catalog(folder.path);
    const table = await catalog.openTable('orders', { namespacePath: ['shop', 'eu'] });
    await table.delete('id >= 1100');
    const panel = await opened();
    await panel.shownView.show({ name: 'few', view: { where: 'id < 10', orderBy: [] } });
    const view = { where: 'id >= 1000', orderBy: [] };
    await panel.shownView.show({ name: 'last of the first version', view, version: 1 });
    const shown = await panel.table;
    assert.deepEqual([shown.version, shown.view?.where, shown.numRows], [1, 'id >= 1000', 200]);
  });

  test('follow a table that is renamed, as its columns do', async () => {
    const panel = await opened();
    const columns = { order: [], pinned: ['id'], hidden: [], widths: [], rowHeight: 'small' };
    await panel.shownView.keepColumns(columns);
    await run('lanceCatalog.table.saveView', 'all');
    await new PersonStandIn({ types: ['sales'] }).during(() => run('lanceCatalog.table.rename', orders));
    await eventually('the panel shows the renamed table', () => panel.place?.table === 'sales');
    assert.deepEqual(panel.shownView.columns, columns);
    assert.deepEqual(
      api.panels.saved.list({ ...place, table: 'sales' }).map(({ name }) => name),
      ['all'],
    );
    assert.deepEqual(api.panels.saved.list(place), []);
  });

  test('with a filter that fails leave the panel as it is', async () => {
    await run('lanceCatalog.table.preview', { ...orders, table: 'sales' });
    const panel = api.panels.all[0]!;
    await eventually('the webview asked for its first rows', () => panel.rowsSent > 0);
    await panel.shownView.show({ name: 'wrong', view: { where: 'nothing_like_it > 1', orderBy: [] } });
    assert.equal((await panel.table).numRows, 1100);
    assert.deepEqual(await panel.shownView.state(), { name: null, isChanged: false });
  });
});

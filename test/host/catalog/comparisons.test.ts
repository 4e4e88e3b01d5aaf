import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { tableFromIPC } from '#arrow';
import type { ExtensionApi } from '../../../extension/extension.ts';
import type { TablePanel } from '../../../extension/panels/tablePanel.ts';
import type { ChangeKind } from '#shared/protocol/changes.ts';
import type { PanelTable } from '#shared/protocol/webviewMessages.ts';
import { eventually, extensionApi, failuresOf, makeCatalog, run, tableNode, temporaryFolder } from '../support.ts';

suite('a comparison in the table panel', () => {
  const folder = temporaryFolder();
  const signal = new AbortController().signal;
  const path = ['shop', 'eu', 'orders'];
  let api: ExtensionApi;
  let panel: TablePanel;

  suiteSetup(async () => {
    api = await extensionApi();
    await makeCatalog(api, folder.path);
    await api.connections.add('compared', folder.path);
    const catalog = await api.engine.catalog(folder.path);
    const table = await catalog.openTable('orders', { namespacePath: ['shop', 'eu'] });
    await table.update({ where: 'id < 600', values: { note: 'new' } });
    await table.delete('id >= 1190');
    await run('lanceCatalog.table.preview', tableNode('compared', ['shop', 'eu'], 'orders'));
    panel = api.panels.all[0]!;
    panel.panel.reveal();
    await eventually('the webview asked for its first rows', () => panel.rowsSent > 0);
    await eventually('the panel is active', () => panel.panel.active);
  });
  suiteTeardown(async () => {
    api.panels.dispose();
    await api.connections.remove('compared');
    folder.remove();
  });

  /** Shows the differences of a kind, and waits for the end of the comparison. */
  async function compare(kind: ChangeKind | null, version = 1): Promise<PanelTable> {
    const changes = { path, version, isBefore: true, key: ['id'], kind };
    await panel.shownView.show({ name: 'not saved', view: { where: '', orderBy: [], changes } });
    return eventually('the end of the comparison', async () => {
      const table = await panel.table;
      return table.changes?.state.end === 'complete' ? table : undefined;
    });
  }

  const file = (name: string): vscode.Uri => vscode.Uri.file(join(folder.path, name));
  const linesIn = (name: string): string[] => readFileSync(file(name).fsPath, 'utf8').trimEnd().split('\n');

  const idsOf = async (start: number, end: number): Promise<number[]> =>
    Array.from(tableFromIPC(await panel.rows(start, end, signal)).getChild('id')!, Number);

  test('shows all differences in pages, then those of a kind', async () => {
    const all = await compare(null);
    assert.deepEqual(all.changes?.state.counts, { added: 0, removed: 10, changed: 600 });
    assert.equal(all.numRows, 610);
    const ids = [...(await idsOf(0, 500)), ...(await idsOf(500, 610))];
    assert.deepEqual(ids, [...Array(600).keys(), ...Array.from({ length: 10 }, (_, at) => 1190 + at)]);
    assert.equal((await compare('removed')).numRows, 10);
    assert.deepEqual(await idsOf(8, 10), [1198, 1199]);
    assert.equal((await compare('added')).numRows, 0);
  });

  test('is written to a file, as the shown kind and as the selected rows', async () => {
    await compare('removed');
    await run('lanceCatalog.table.exportRows', file('removed.jsonl'));
    assert.equal(linesIn('removed.jsonl').length, 10);
    const { change, id, note, changed } = JSON.parse(linesIn('removed.jsonl')[0]!) as Record<string, unknown>;
    assert.deepEqual({ change, id, note, changed }, { change: 'removed', id: 1190, note: 'order 1190', changed: null });
    await compare('changed');
    await eventually('the page has selected its first row', async () => {
      const told = await failuresOf(() => run('lanceCatalog.table.exportSelectedRows', file('selected.jsonl')));
      return told.length === 0 || undefined;
    });
    assert.match(linesIn('selected.jsonl').join(), /^\{"change":"changed","id":0,/);
  });

  test('is copied as code that finds the same kind', async () => {
    await compare('changed');
    await run('lanceCatalog.table.copyCode', 'typescript');
    const code = await vscode.env.clipboard.readText();
    assert.match(code, /^const \{ rows \} = await db\.compare\(/);
    assert.match(code, /\{ path: \["shop", "eu", "orders"\], version: 1 \},\n {2}\{ path: .*, version: 3 \},/);
    assert.match(code, /\{ key: \["id"\], kind: "changed", limit: 1000 \}/);
    await run('lanceCatalog.table.copyCode', 'sql');
    assert.match(
      await vscode.env.clipboard.readText(),
      /full join \(select \*, true as side from version\('"shop\/eu"\.orders', 3\)\)/,
    );
  });

  test('is left for the rows of the table', async () => {
    await compare(null);
    await panel.shownView.show(undefined);
    const table = await panel.table;
    assert.deepEqual([table.changes, table.numRows], [undefined, 1190]);
    assert.equal((await idsOf(0, 500)).length, 500);
  });
});

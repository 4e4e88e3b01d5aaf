import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../../extension/extension.ts';
import {
  eventually,
  extensionApi,
  failuresOf,
  makeCatalog,
  replacing,
  run,
  tableNode,
  temporaryFolder,
} from '../support.ts';
import { type CompanyServer, key, startServer } from './server.ts';

const folder = temporaryFolder();
const target = (name: string): vscode.Uri => vscode.Uri.file(join(folder.path, name));

suite('a table that is exported from the tree', () => {
  let api: ExtensionApi;
  let server: CompanyServer;

  suiteSetup(async () => {
    api = await extensionApi();
    await makeCatalog(api, folder.path);
    server = await startServer(folder.path);
    await api.connections.add('local', folder.path);
    await api.connections.addServer({ name: 'company', uri: server.address, secrets: { apiKey: key } });
  });
  suiteTeardown(async () => {
    for (const { name } of api.connections.list()) await api.connections.remove(name);
    await server.stop();
    folder.remove();
  });

  test('is the same file from a directory and from a server, and replaces the chosen one', async () => {
    const [local, company] = [target('local.jsonl'), target('company.jsonl')];
    await run('lanceCatalog.table.export', tableNode('local', ['shop', 'eu'], 'orders'), local);
    await run('lanceCatalog.table.export', tableNode('company', ['shop', 'eu'], 'orders'), company);
    const lines = readFileSync(local.fsPath, 'utf8');
    assert.ok(lines.split('\n').length > 2, lines);
    assert.equal(readFileSync(company.fsPath, 'utf8'), lines);
    await run('lanceCatalog.table.export', tableNode('local', ['shop', 'eu'], 'orders'), company);
    assert.equal(readFileSync(company.fsPath, 'utf8'), lines);
  });

  test('is asked for with the endings that choose a format, because a remote window lists no file types', async () => {
    const titles: string[] = [];
    const dialog = async ({ title }: vscode.SaveDialogOptions = {}): Promise<undefined> =>
      void titles.push(title ?? '');
    await replacing('showSaveDialog', dialog, async () =>
      run('lanceCatalog.table.export', tableNode('local', ['shop', 'eu'], 'orders')),
    );
    assert.deepEqual(titles, ['Export "orders" as .parquet, .csv, .jsonl, .json or .arrow']);
  });

  test('is written from the panel that shows it, at the version of the panel', async () => {
    await run('lanceCatalog.table.preview', tableNode('local', ['shop', 'eu'], 'orders'));
    const [panel] = api.panels.all;
    const { numRows } = (await panel?.table) ?? { numRows: 0 };
    panel?.panel.reveal();
    await eventually('the panel has the focus', () => api.panels.active !== undefined);
    const catalog = await api.engine.catalog(folder.path);
    const table = await catalog.openTable('orders', { namespacePath: ['shop', 'eu'] });
    await table.delete('true');
    await run('lanceCatalog.table.exportRows', target('shown.jsonl'));
    const lines = readFileSync(target('shown.jsonl').fsPath, 'utf8').trimEnd().split('\n');
    assert.equal(lines.length, numRows);
    api.panels.dispose();
  });

  test('is written in part: the selected rows of the panel that shows it', async () => {
    const catalog = await api.engine.catalog(folder.path);
    await catalog.createTable('words', [{ word: 'first' }, { word: 'second' }]);
    await run('lanceCatalog.table.preview', tableNode('company', [], 'words'));
    const [panel] = api.panels.all;
    panel?.panel.reveal();
    await eventually('the panel has the focus', () => api.panels.active !== undefined);
    await eventually('the page shows rows', () => (panel?.rowsSent ?? 0) > 0);
    await run('lanceCatalog.table.exportSelectedRows', target('selected.jsonl'));
    assert.equal(readFileSync(target('selected.jsonl').fsPath, 'utf8'), '{"word":"first"}\n');
    await catalog.dropTable('words');
    const told = await failuresOf(() => run('lanceCatalog.table.exportSelectedRows', target('gone.jsonl')));
    assert.match(told.join(), /"words" does not exist/);
    assert.equal(existsSync(target('gone.jsonl').fsPath), false);
    api.panels.dispose();
  });

  test('says why it can not be written', async () => {
    const node = tableNode('local', ['shop', 'eu'], 'orders');
    const told = await failuresOf(() => run('lanceCatalog.table.export', node, target('rows.txt')));
    assert.match(told.join(), /ending of a known format/);
    assert.equal(existsSync(target('rows.txt').fsPath), false);
    const elsewhere = vscode.Uri.parse('untitled:rows.csv');
    assert.match(
      (await failuresOf(() => run('lanceCatalog.table.export', node, elsewhere))).join(),
      /not a file of this/,
    );
  });
});

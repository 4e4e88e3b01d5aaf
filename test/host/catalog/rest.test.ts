import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { tableFromIPC } from '#arrow';
import { connectionLabel } from '../../../extension/connections/connectionRules.ts';
import type { RestConnection } from '../../../extension/explorer/node.ts';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { execute, isSaved, items, printed, textOf } from '../notebook/notebookCells.ts';
import { PersonStandIn } from '../person.ts';
import {
  eventually,
  extensionApi,
  failuresOf,
  makeCatalog,
  nameOf,
  replacing,
  rowsAt,
  run,
  tableNode,
  temporaryFolder,
} from '../support.ts';
import { type CompanyServer, key, startServer } from './server.ts';

const signal = new AbortController().signal;

function restConnection(api: ExtensionApi, name: string): RestConnection {
  const connection = api.connections.get(name);
  assert.ok(connection.kind === 'rest');
  return connection;
}

suite('a catalog on a server', () => {
  const folder = temporaryFolder();
  const notebooks = temporaryFolder();
  let api: ExtensionApi;
  let server: CompanyServer;

  suiteSetup(async () => {
    api = await extensionApi();
    await makeCatalog(api, folder.path);
    server = await startServer(folder.path);
    await run('lanceCatalog.connection.addRest', { name: 'company', uri: server.address, apiKey: key });
  });
  teardown(() => api.panels.dispose());
  suiteTeardown(async () => {
    for (const { name } of api.connections.list()) await api.connections.remove(name);
    await server.stop();
    folder.remove();
    notebooks.remove();
  });

  test('is browsed as a directory is', async () => {
    assert.deepEqual((await rowsAt(api, 'company')).map(nameOf), ['lab', 'shop']);
    assert.deepEqual((await rowsAt(api, 'company', 'shop', 'eu')).map(nameOf), ['orders']);
    const columns = await rowsAt(api, 'company', 'shop', 'eu', 'orders');
    assert.deepEqual(columns.map(nameOf), ['id', 'note', 'embedding']);
    assert.deepEqual((await rowsAt(api, 'company', 'lab')).map(nameOf), ['No tables yet']);
  });

  test('shows the rows of a table in the panel', async () => {
    await run('lanceCatalog.table.preview', tableNode('company', ['shop', 'eu'], 'orders'));
    const [panel] = api.panels.all;
    assert.ok(panel);
    const table = await panel.table;
    assert.equal(table.title, 'company/shop/eu/orders');
    assert.equal(table.numRows, 1200);
    const rows = tableFromIPC(await panel.rows(1000, 1200, signal));
    assert.equal(rows.numRows, 200);
    assert.equal(rows.getChild('note')?.get(199), 'order 1199');
    await eventually('the webview asked for its first rows', () => panel.rowsSent > 0);
  });

  test('is db of a notebook', async () => {
    const file = join(notebooks.path, 'company.ipynb');
    const source = [
      "const table = await db.openTable('orders', { namespacePath: ['shop', 'eu'] });",
      "console.log(db.implementation, await table.countRows(), await table.query().where('id = 7').select(['note']).toArray());",
    ];
    const metadata = {
      kernelspec: { name: 'lance-typescript', display_name: 'Lance TypeScript', language: 'typescript' },
      lanceCatalog: { connection: 'company' },
    };
    const cells = [{ cell_type: 'code', source, metadata: {}, outputs: [], execution_count: null }];
    writeFileSync(file, JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 5 }));
    const notebook = await vscode.workspace.openNotebookDocument(vscode.Uri.file(file));
    await vscode.window.showNotebookDocument(notebook);
    // Use `execute` instead of VS Code's command, because the command would not report a cell that does not end.
    assert.ok(await execute(notebook, 0), JSON.stringify(items(notebook, 0).map(({ data }) => textOf(data))));
    await eventually('what the cell printed', () => printed(notebook, 0) !== '');
    assert.match(printed(notebook, 0), /^rest 1200/);
    assert.match(printed(notebook, 0), /order 7/);
    assert.ok(await isSaved(notebook));
    const saved = new TextDecoder().decode(await vscode.workspace.fs.readFile(notebook.uri));
    assert.ok(!saved.includes(key), 'the key is not in the notebook');
    api.kernels.session(notebook)?.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  test('keeps what lets the person in neither in stored state nor in settings', async () => {
    const headers = { 'X-Team': 'sesame-header' };
    await run('lanceCatalog.connection.addRest', { name: 'kept', uri: server.address, apiKey: key, headers });
    const connection = restConnection(api, 'kept');
    const state = JSON.stringify(api.state.connections());
    const settings = JSON.stringify(vscode.workspace.getConfiguration('lanceCatalog'));
    for (const secret of ['sesame']) {
      assert.ok(!state.includes(secret), state);
      assert.ok(!settings.includes(secret), settings);
      assert.ok(!JSON.stringify(connection).includes(secret));
    }
    assert.match(state, /X-Team/, 'the name of a header is no secret');
    assert.deepEqual(await api.secrets.get(connection), { apiKey: key, headers });
    await api.connections.remove('kept');
  });

  test('takes its secrets along when it is removed', async () => {
    await run('lanceCatalog.connection.addRest', { name: 'gone', uri: server.address, apiKey: key });
    const connection = restConnection(api, 'gone');
    const node = (await api.tree.getChildren()).find((one) => nameOf(one) === 'gone');
    await replacing(
      'showWarningMessage',
      () => Promise.resolve(),
      () => run('lanceCatalog.connection.remove', node),
    );
    assert.deepEqual(await api.secrets.get(connection), { apiKey: key }, 'nothing is removed without a yes');
    await replacing(
      'showWarningMessage',
      (question: string) => Promise.resolve(question.includes('"gone"') ? 'Remove' : undefined),
      () => run('lanceCatalog.connection.remove', node),
    );
    assert.deepEqual(await api.secrets.get(connection), {});
    assert.ok(!api.connections.list().some(({ name }) => name === 'gone'));
  });

  test('has other secrets than a connection of the same name at another address', async () => {
    const connection = restConnection(api, 'company');
    assert.deepEqual(await api.secrets.get({ name: connection.name, uri: 'https://other.example' }), {});
  });

  test('is not added with a wrong key, and the reason is shown', async () => {
    const told = await failuresOf(() =>
      run('lanceCatalog.connection.addRest', { name: 'wrong', uri: server.address, apiKey: 'open-please-open-please' }),
    );
    assert.equal(told.length, 1);
    assert.match(told[0] ?? '', /key/i);
    assert.doesNotMatch(told[0] ?? '', /open-please/);
    assert.ok(!api.connections.list().some(({ name }) => name === 'wrong'));
  });

  test('prompts for the key if the server no longer accepts it, and works with the right one', async () => {
    const connection = restConnection(api, 'company');
    await api.connections.setApiKey(connection, 'an-old-key-an-old-key');
    const [error, ...rest] = await rowsAt(api, 'company');
    assert.ok(error?.kind === 'error', JSON.stringify(error));
    assert.deepEqual(rest, []);
    assert.equal(error.remedy, 'key');
    assert.equal(error.hint, 'Correct the API key.');
    await run('lanceCatalog.table.preview', tableNode('company', ['shop', 'eu'], 'orders'));
    await assert.rejects(api.panels.all[0]!.table, /Choose "Update API Key…" on "company"/);
    const person = new PersonStandIn({ types: ['still-not-the-right-one', key] });
    await person.during(() => run('lanceCatalog.connection.updateKey', error));
    assert.equal(person.boxes.length, 1);
    assert.ok(person.boxes[0]?.isSecret);
    assert.deepEqual(person.boxes[0].said, ['This server does not know the API key. Correct the API key.']);
    assert.deepEqual((await rowsAt(api, 'company')).map(nameOf), ['lab', 'shop']);
  });

  test('is added by its address and its key, step by step, and a wrong key is corrected with nothing lost', async () => {
    const name = 'by hand';
    const person = new PersonStandIn({
      types: ['ftp://nonsense', server.address, 'not-the-key-not-the-key', '', '', name, key, '', '', name],
      chooses: ['Edit…'],
    });
    await person.during(() => run('lanceCatalog.connection.addRest'));
    assert.match(person.boxes[0]?.said.join('') ?? '', /not the URL/);
    assert.equal(person.questions.length, 1);
    assert.match(person.questions[0]?.message ?? '', /connection test failed/);
    assert.deepEqual(person.questions[0]?.choices, ['Edit…'], 'a server that refuses the key is there');
    assert.equal(connectionLabel(api.connections.get(name)), server.address);
    assert.deepEqual((await rowsAt(api, name)).map(nameOf), ['lab', 'shop']);
    await api.connections.remove(name);
  });

  test('is reached by a private endpoint, with a token that only the secret storage has', async () => {
    const { host } = new URL(server.address);
    const given = { name: 'private', uri: 'http://localhost:9', endpoint: host, apiKey: key, token: 'sesame-token' };
    await run('lanceCatalog.connection.addRest', given);
    const connection = restConnection(api, 'private');
    assert.equal(connection.endpoint, host);
    assert.deepEqual((await rowsAt(api, 'private')).map(nameOf), ['lab', 'shop']);
    assert.deepEqual(await api.secrets.get(connection), { apiKey: key, token: 'sesame-token' });
    assert.doesNotMatch(JSON.stringify(api.state.connections()), /sesame/);
    await api.connections.setApiKey(connection, key);
    assert.equal((await api.secrets.get(connection)).token, 'sesame-token', 'another key leaves the token alone');
    await api.connections.remove('private');
  });

  test('says which file of certificates it can not read', async () => {
    const given = { name: 'odd', uri: 'https://localhost:9', ca: join(folder.path, 'none.pem') };
    const told = await failuresOf(() => run('lanceCatalog.connection.addRest', given));
    assert.match(told[0] ?? '', /certificate file ".*none\.pem"/);
  });

  test('can be saved although no server responds, and the tree offers to try again', async () => {
    const uri = 'http://127.0.0.1:9';
    const person = new PersonStandIn({ types: [uri, '', '', '', 'off'], chooses: ['Save Anyway'] });
    await person.during(() => run('lanceCatalog.connection.addRest'));
    const [error] = await rowsAt(api, 'off');
    assert.ok(error?.kind === 'error');
    assert.equal(error.remedy, 'retry');
    assert.match(error.what, /127\.0\.0\.1:9/);
    await api.connections.remove('off');
  });

  test('is edited with all that it was, and its old secrets go', async () => {
    const headers = { 'X-Team': 'data' };
    await run('lanceCatalog.connection.addRest', { name: 'before', uri: server.address, apiKey: key, headers });
    const before = restConnection(api, 'before');
    const person = new PersonStandIn({ types: [server.address, key, '', 'X-Other: web', '', 'after'] });
    await person.during(() => run('lanceCatalog.connection.edit', { kind: 'connection', connection: before }));
    assert.equal(person.boxes[1]?.value, key);
    assert.deepEqual(await api.secrets.get(before), {});
    const after = restConnection(api, 'after');
    assert.deepEqual(await api.secrets.get(after), { apiKey: key, headers: { 'X-Team': 'data', 'X-Other': 'web' } });
    await api.connections.remove('after');
  });

  test('is listed from a setting without a key, and lets the person in with their own', async () => {
    const settings = vscode.workspace.getConfiguration('lanceCatalog');
    const value = [{ name: 'team', uri: server.address, apiKey: 'never read' }];
    await settings.update('defaultConnections', value, vscode.ConfigurationTarget.Global);
    try {
      await eventually('the shared connection', () => api.connections.list().some(({ name }) => name === 'team'));
      const [error] = await rowsAt(api, 'team');
      assert.ok(error?.kind === 'error');
      assert.equal(error.remedy, 'key');
      const person = new PersonStandIn({ types: [key] });
      await person.during(() => run('lanceCatalog.connection.updateKey', error));
      assert.deepEqual((await rowsAt(api, 'team')).map(nameOf), ['lab', 'shop']);
      await api.connections.setApiKey(restConnection(api, 'team'), '');
    } finally {
      await settings.update('defaultConnections', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  test('is an error with another try while the server is away, and there again after it', async () => {
    const port = Number(new URL(server.address).port);
    await server.stop();
    await run('lanceCatalog.catalog.refreshAll');
    const [error] = await rowsAt(api, 'company');
    assert.ok(error?.kind === 'error');
    assert.equal(error.remedy, 'retry');
    server = await startServer(folder.path, port);
    // "Try Again" loads all rows again. Otherwise the view may contain a part of the earlier response.
    await run('lanceCatalog.catalog.refresh', error);
    assert.deepEqual((await rowsAt(api, 'company')).map(nameOf), ['lab', 'shop']);
  });
});

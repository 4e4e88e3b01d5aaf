import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { Field, Int64, Schema, tableFromIPC, Utf8 } from '#arrow';
import type { PanelFailure } from '#shared/protocol/webviewMessages.ts';
import type { Frame } from '#shared/protocol/rpc.ts';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { GravitinoStandIn } from '../../contract/rest/gravitinoStandIn.ts';
import { contentOf, execute, isSaved, printed } from '../notebook/notebookCells.ts';
import { PersonStandIn } from '../person.ts';
import {
  eventually,
  extensionApi,
  failuresOf,
  nameOf,
  replacing,
  rowsAt,
  run,
  tableNode,
  temporaryFolder,
} from '../support.ts';

const path = ['lake', 'sales'];

/** Answers a message as a user who closes it. */
const dismiss = (): Promise<undefined> => Promise.resolve(undefined);

suite('a catalog on the Lance REST service of Gravitino (stand-in)', () => {
  const folder = temporaryFolder();
  const notebooks = temporaryFolder();
  let api: ExtensionApi;
  let server: GravitinoStandIn;
  /** All that was shown or logged. */
  const shown: string[] = [];

  suiteSetup(async () => {
    api = await extensionApi();
    const openDirectory = (root: string) => api.engine.catalog(root);
    server = await GravitinoStandIn.start({ folder: folder.path, openDirectory });
    await run('lanceCatalog.connection.addRest', { name: 'gravitino', uri: server.uri });
    const catalog = await api.catalogs.get('gravitino');
    await catalog.createNamespace(['lake'], { properties: { location: folder.path } });
    await catalog.createNamespace(path);
    const schema = new Schema([new Field('id', new Int64(), false), new Field('note', new Utf8(), true)]);
    await catalog.createEmptyTable('empty', schema, path);
    await (await api.engine.catalog(folder.path)).createTable('orders', [{ id: 1n, note: 'one' }]);
    await catalog.registerTable('orders', join(folder.path, 'orders.lance'), path);
  });
  teardown(() => api.panels.dispose());
  suiteTeardown(async () => {
    for (const { name } of api.connections.list()) await api.connections.remove(name);
    await server.stop();
    folder.remove();
    notebooks.remove();
  });

  test('is browsed by catalog, schema and table', async () => {
    for (const [names, rows] of [
      [[], ['lake']],
      [['lake'], ['sales']],
      [path, ['empty', 'orders']],
      [
        [...path, 'empty'],
        ['id', 'note'],
      ],
    ] as const) {
      const found = await rowsAt(api, 'gravitino', ...names);
      assert.deepEqual(found.map(nameOf), rows);
      for (const row of found) shown.push(JSON.stringify(api.tree.getTreeItem(row)));
    }
  });

  test('is not offered to optimize a table whose rows the server does not have', async () => {
    await rowsAt(api, 'gravitino', ...path, 'empty');
    const node = tableNode('gravitino', path, 'empty');
    await eventually(
      'the abilities are known',
      () => !api.tree.getTreeItem(node).contextValue?.includes('optimizeTable'),
    );
    assert.match(api.tree.getTreeItem(node).contextValue ?? '', /dropTable/);
  });

  test('says in the panel where the rows are, and opens their directory', async () => {
    const offered: string[] = [];
    const answer = (text: string, ...buttons: string[]) => (offered.push(text), Promise.resolve(buttons[0]));
    await replacing('showInformationMessage', answer, async () => {
      await run('lanceCatalog.table.preview', tableNode('gravitino', path, 'orders'));
      const failure = await api.panels.all[0]!.table.then(String, (error: Error) => error.message);
      assert.match(failure, /neither reads nor writes rows.*connectNamespace\("dir"/);
      shown.push(failure);
      await eventually('the directory is connected', () => api.connections.list().some(({ kind }) => kind === 'dir'));
    });
    assert.deepEqual(offered, [
      `The server has no rows of "lake/sales/orders". The files of the table are in ${folder.path}.`,
    ]);
    const added = api.connections.list().find(({ kind }) => kind === 'dir')!;
    await run('lanceCatalog.table.preview', tableNode(added.name, [], 'orders'));
    const [panel] = api.panels.all;
    assert.equal((await panel!.table).numRows, 1);
    const rows = tableFromIPC(await panel!.rows(0, 1, new AbortController().signal));
    assert.equal(rows.getChild('note')?.get(0), 'one');
    await api.connections.remove(added.name);
  });

  test('sends the panel the sentence instead of rows', async () => {
    const frames: Frame[] = [];
    const { createWebviewPanel } = vscode.window;
    const recorded = (...options: Parameters<typeof createWebviewPanel>): vscode.WebviewPanel => {
      const panel = createWebviewPanel(...options);
      const post = panel.webview.postMessage.bind(panel.webview);
      const record = (frame: Frame) => (frames.push(frame), post(frame));
      Object.assign(panel.webview, { postMessage: record });
      return panel;
    };
    await replacing('showInformationMessage', dismiss, () =>
      replacing('createWebviewPanel', recorded, async () => {
        await run('lanceCatalog.table.preview', tableNode('gravitino', path, 'orders'));
        const failure = await eventually('the failure for the webview', () =>
          frames.find((frame) => 'method' in frame && frame.method === 'fail'),
        );
        const { title, message, actions } = (failure as { params: PanelFailure }).params;
        assert.equal(title, "Can't open orders (gravitino)");
        assert.match(message, /^The catalog server at \S+ neither reads nor writes rows: .*orders\.lance".*openTable/);
        assert.deepEqual(actions, ['retry']);
        shown.push(JSON.stringify(frames));
      }),
    );
  });

  test('says in one sentence what the server can not do', async () => {
    const person = new PersonStandIn({ types: ['moved', null] });
    await person.during(() => run('lanceCatalog.table.rename', tableNode('gravitino', path, 'empty')));
    assert.match(person.boxes[0]?.said.join('\n') ?? '', /does not support RenameTable/);
    const told = await failuresOf(() => run('lanceCatalog.table.optimize', tableNode('gravitino', path, 'empty')));
    assert.match(told[0] ?? '', /does not support GetTableStats/);
    const container = { kind: 'namespace', connection: 'gravitino', path } as const;
    const deep = new PersonStandIn({ types: ['deep', null] });
    await deep.during(() => run('lanceCatalog.namespace.create', container));
    assert.match(deep.boxes[0]?.said.join('\n') ?? '', /"lake\/sales\/deep" is at a level/);
    const table = new PersonStandIn({ types: ['late', 'id int64'] });
    await table.during(() => run('lanceCatalog.table.create', container));
    assert.deepEqual((await rowsAt(api, 'gravitino', ...path)).map(nameOf), ['empty', 'late', 'orders']);
    const drop = new PersonStandIn({ chooses: ['Drop Table'] });
    await drop.during(() => run('lanceCatalog.table.drop', tableNode('gravitino', path, 'late')));
    assert.match(drop.questions[0]?.detail ?? '', /It has 1 column\./);
    shown.push(...told, JSON.stringify([person.boxes, deep.boxes, table.boxes, drop.questions]));
  });

  test('is added by its address with the base path', async () => {
    const person = new PersonStandIn({ types: [`${server.uri}/`, '', '', '', 'by hand'] });
    await person.during(() => run('lanceCatalog.connection.addRest'));
    assert.deepEqual((await rowsAt(api, 'by hand')).map(nameOf), ['lake']);
    await api.connections.remove('by hand');
  });

  test('has secrets of its storage that neither the window nor a notebook shows or stores', async () => {
    const file = join(notebooks.path, 'lake.ipynb');
    const cell = [
      "const place = { namespacePath: ['lake', 'sales'] };",
      "const table = await db.openTable('orders', place);",
      "console.log(db, table, await db.describeTable('orders', place), await db.describeNamespace(['lake']));",
      'console.log(await table.countRows().catch((error) => error));',
      "await db.describeTable('orders', place);",
    ].join('\n');
    const content = JSON.parse(contentOf(cell)) as { metadata: object };
    const metadata = { ...content.metadata, lanceCatalog: { connection: 'gravitino' } };
    writeFileSync(file, JSON.stringify({ ...content, metadata }));
    const notebook = await vscode.workspace.openNotebookDocument(vscode.Uri.file(file));
    await vscode.window.showNotebookDocument(notebook);
    assert.ok(await execute(notebook, 0), printed(notebook, 0));
    await eventually('what the cell printed', () => printed(notebook, 0).includes('orders.lance'));
    assert.ok(await isSaved(notebook));
    shown.push(new TextDecoder().decode(await vscode.workspace.fs.readFile(notebook.uri)));
    api.kernels.session(notebook)?.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await run('lanceCatalog.catalog.copyIdentifier', tableNode('gravitino', path, 'orders'));
    shown.push(await vscode.env.clipboard.readText());
    shown.push(
      JSON.stringify(api.state.connections()),
      JSON.stringify(vscode.workspace.getConfiguration('lanceCatalog')),
    );
    const text = shown.join('\n');
    assert.ok(text.includes('orders.lance'));
    for (const secret of [GravitinoStandIn.secret, 'AKIDPLANTED']) assert.ok(!text.includes(secret), secret);
  });
});

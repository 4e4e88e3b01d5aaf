import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { CatalogNode, NodeOf } from '../../../extension/explorer/node.ts';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { PersonStandIn } from '../person.ts';
import { eventually, extensionApi, makeCatalog, nameOf, rowsAt, run, tableNode, temporaryFolder } from '../support.ts';
import { type CompanyServer, key, LimitedServerStandIn, startServer } from './server.ts';

const connectionNode = (api: ExtensionApi, name: string): NodeOf<'connection'> => ({
  kind: 'connection',
  connection: api.connections.get(name),
});
const namespaceNode = (connection: string, ...path: string[]): NodeOf<'namespace'> => ({
  kind: 'namespace',
  connection,
  path,
});

const folder = temporaryFolder();
let api: ExtensionApi;
let server: CompanyServer;
let limited: LimitedServerStandIn;

const contextOf = (node: CatalogNode): string => api.tree.getTreeItem(node).contextValue ?? '';

async function selected(name: string): Promise<void> {
  await eventually(`the row ${name} is selected`, () => {
    const [row] = api.view.selection as CatalogNode[];
    return row !== undefined && nameOf(row) === name;
  });
}

suite('what is changed from the tree', () => {
  suiteSetup(async () => {
    api = await extensionApi();
    await makeCatalog(api, folder.path);
    server = await startServer(folder.path);
    limited = new LimitedServerStandIn(server.address);
    await api.connections.add('local', folder.path);
    await api.connections.addServer({ name: 'company', uri: server.address, secrets: { apiKey: key } });
    await vscode.commands.executeCommand('lanceCatalog.catalog.focus');
  });
  suiteTeardown(async () => {
    api.panels.dispose();
    for (const { name } of api.connections.list()) await api.connections.remove(name);
    await server.stop();
    folder.remove();
  });

  // The behavior is the same for both, because a user need not know the kind of a connection.
  for (const connection of ['local', 'company']) {
    suite(`changing the catalog of ${connection === 'local' ? 'a directory' : 'a server'} from its tree`, () => {
      teardown(() => api.panels.dispose());

      test('makes a namespace under a connection and under a namespace, and selects it', async () => {
        const top = `${connection}-new`;
        let person = new PersonStandIn({ types: ['no spaces please', top] });
        await person.during(() => run('lanceCatalog.namespace.create', connectionNode(api, connection)));
        assert.match(person.boxes[0]?.said[0] ?? '', /contains " "/);
        await selected(top);
        person = new PersonStandIn({ types: ['inner'] });
        await person.during(() => run('lanceCatalog.namespace.create', namespaceNode(connection, top)));
        await selected('inner');
        assert.deepEqual((await rowsAt(api, connection, top)).map(nameOf), ['inner']);
      });

      test('says in the box that a namespace is there already, and lets the person type another', async () => {
        const person = new PersonStandIn({ types: ['shop', `${connection}-other`] });
        await person.during(() => run('lanceCatalog.namespace.create', connectionNode(api, connection)));
        assert.match(person.boxes[0]?.said.join('\n') ?? '', /shop/);
        assert.equal(person.boxes.length, 1);
        assert.ok((await rowsAt(api, connection)).map(nameOf).includes(`${connection}-other`));
      });

      test('makes an empty table with the columns that were typed', async () => {
        const person = new PersonStandIn({ types: ['notes', 'id int64, text strin', 'id int64, text string'] });
        await person.during(() => run('lanceCatalog.table.create', namespaceNode(connection, `${connection}-new`)));
        assert.match(person.boxes[1]?.said.join('\n') ?? '', /got "strin"\. Use one of int8/);
        await selected('notes');
        assert.deepEqual((await rowsAt(api, connection, `${connection}-new`, 'notes')).map(nameOf), ['id', 'text']);
      });

      test('renames a table, and the panel that shows it follows', async () => {
        const path = [`${connection}-new`];
        const node = tableNode(connection, path, 'notes');
        await run('lanceCatalog.table.preview', node);
        const [panel] = api.panels.all;
        await panel?.table;
        const person = new PersonStandIn({ types: ['remarks'] });
        await person.during(() => run('lanceCatalog.table.rename', node));
        assert.deepEqual(person.boxes[0]?.said, [], 'the box shows no problem before the user types');
        await selected('remarks');
        assert.deepEqual((await rowsAt(api, connection, ...path)).map(nameOf), ['inner', 'remarks']);
        assert.equal(panel?.panel.title, `remarks (${connection})`);
        assert.equal((await panel.table).title, `${[connection, ...path].join('/')}/remarks`);
      });

      test('optimizes a table after it has said how many fragments there are and that nothing is removed', async () => {
        const path = [`${connection}-new`];
        const catalog = await api.engine.catalog(folder.path);
        const table = await catalog.openTable('remarks', { namespacePath: path });
        for (const id of [1n, 2n, 3n]) await table.add([{ id, text: 'one more' }]);
        const { numFragments } = await table.stats();
        const person = new PersonStandIn({ chooses: ['Optimize Table'] });
        await person.during(() => run('lanceCatalog.table.optimize', tableNode(connection, path, 'remarks')));
        const [question] = person.questions;
        assert.equal(question?.message, `Optimize the table "${connection}-new/remarks"?`);
        assert.match(
          question.detail,
          new RegExp(`has ${numFragments} fragments.*Earlier versions and their files stay`),
        );
        assert.deepEqual([(await table.stats()).numFragments, await table.countRows()], [1, 3]);
      });

      test('drops a table only when the person says so, having read the whole path and what it holds', async () => {
        const path = [`${connection}-new`];
        const node = tableNode(connection, path, 'remarks');
        await run('lanceCatalog.table.preview', node);
        const [panel] = api.panels.all;
        const no = new PersonStandIn({ chooses: [undefined] });
        await no.during(() => run('lanceCatalog.table.drop', node));
        assert.ok((await rowsAt(api, connection, ...path)).map(nameOf).includes('remarks'));
        const yes = new PersonStandIn({ chooses: ['Drop Table'] });
        await yes.during(() => run('lanceCatalog.table.drop', node));
        const [question] = yes.questions;
        assert.equal(question?.message, `Drop the table "${connection}-new/remarks"?`);
        assert.match(question.detail, new RegExp(`3 rows in 2 columns.*"${connection}"`));
        assert.deepEqual((await rowsAt(api, connection, ...path)).map(nameOf), ['inner']);
        await assert.rejects(async () => panel?.table, /was dropped/);
      });

      test('drops an empty namespace after one question', async () => {
        const path = [`${connection}-new`, 'inner'];
        const person = new PersonStandIn({ chooses: ['Drop Namespace'] });
        await person.during(() => run('lanceCatalog.namespace.drop', namespaceNode(connection, ...path)));
        assert.match(person.questions[0]?.detail ?? '', /empty/);
        assert.deepEqual((await rowsAt(api, connection, path[0] ?? '')).map(nameOf), ['No tables yet']);
      });

      test('drops a namespace with all that is in it only when its name was typed, having said how much that is', async () => {
        const top = `${connection}-new`;
        const catalog = await api.catalogs.get(connection);
        await catalog.createNamespace([top, 'deep']);
        for (const table of ['a', 'b']) await catalog.createTable(table, [{ id: 1 }], { namespacePath: [top, 'deep'] });
        await run('lanceCatalog.catalog.refreshAll');
        const node = namespaceNode(connection, top);
        const no = new PersonStandIn({ chooses: ['Continue'], types: ['deep', null] });
        await no.during(() => run('lanceCatalog.namespace.drop', node));
        assert.match(no.questions[0]?.detail ?? '', /1 namespace and 2 tables/);
        assert.match(no.boxes[0]?.said.join('') ?? '', new RegExp(`Type ${top}`));
        assert.deepEqual((await rowsAt(api, connection, top, 'deep')).map(nameOf), ['a', 'b']);
        const yes = new PersonStandIn({ chooses: ['Continue'], types: [top] });
        await yes.during(() => run('lanceCatalog.namespace.drop', node));
        assert.ok(!(await rowsAt(api, connection)).map(nameOf).includes(top));
      });
    });
  }

  suite('what a catalog can not do', () => {
    suiteSetup(async () => {
      const uri = await limited.start();
      await api.connections.addServer({ name: 'limited', uri, secrets: { apiKey: key } });
    });
    suiteTeardown(() => limited.stop());

    test('costs no requests: a table needs two before its first rows', async () => {
      await rowsAt(api, 'limited', 'shop', 'eu');
      limited.asked.length = 0;
      await run('lanceCatalog.table.preview', tableNode('limited', ['shop', 'eu'], 'orders'));
      const [panel] = api.panels.all;
      await eventually('the webview asked for its first rows', () => (panel?.rowsSent ?? 0) > 0);
      const parts = limited.asked.map((address) => new URL(address, 'http://server').pathname.split('/').at(-1));
      // A tree that shows the namespace may list it meanwhile, so only requests on the table count.
      const onTable = parts.filter((part) => part !== 'list');
      assert.deepEqual(onTable.slice(0, 2), ['describe', 'query']);
      assert.ok(!onTable.slice(2).includes('describe'), 'one description is enough');
      api.panels.dispose();
    });

    test('is offered until the catalog has refused it, and then not any more', async () => {
      const table = tableNode('limited', ['shop', 'eu'], 'orders');
      assert.deepEqual((await rowsAt(api, 'limited')).map(nameOf).slice(-1), ['shop']);
      assert.match(contextOf(table), /renameTable/);
      await rowsAt(api, 'limited', 'shop', 'eu');
      assert.ok(limited.asked.length >= 2, 'the server was asked');
      const reads = /\/(list|describe|exists|count_rows|stats|query)$/;
      assert.deepEqual(
        limited.asked.filter((address) => !reads.test(address)),
        [],
        'nothing is changed to learn what can be',
      );
      const person = new PersonStandIn({ types: ['orders2'] });
      await person.during(() => run('lanceCatalog.table.rename', table));
      await eventually('the refusal is known', () => !contextOf(table).includes('renameTable'));
      assert.deepEqual(limited.refused, ['rename']);
      assert.match(contextOf(table), /dropTable/);
      assert.match(contextOf(namespaceNode('limited', 'shop')), /dropNamespace/);
      assert.match(contextOf(connectionNode(api, 'limited')), /createNamespace/);
    });

    test('is known for each catalog by itself', () => {
      assert.match(contextOf(tableNode('company', ['shop', 'eu'], 'orders')), /renameTable/);
    });
  });
});

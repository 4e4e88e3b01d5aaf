import assert from 'node:assert/strict';
import { checkRoot } from '#catalog/root.ts';
import { errorFromConnection } from '#catalog/transport/errors.ts';
import type { CatalogError } from '#shared/errors.ts';
import type { Ability, NodeOf, ErrorAction } from '../../../../extension/explorer/node.ts';
import { columnIcon, renderNode } from '../../../../extension/explorer/render.ts';

const at = { connection: 'sample', path: ['shop', 'eu'] } as const;

suite('a row of the catalog tree', () => {
  test('shows a connection with its directory', () => {
    const view = renderNode({
      kind: 'connection',
      connection: { name: 'sample', kind: 'dir', root: '/data', source: 'person' },
    });
    assert.equal(view.label, 'sample');
    assert.equal(view.description, '/data');
    assert.match(view.contextValue, /^connection\.dir\.person\b/);
  });

  test('marks a connection of the setting, which the menu can not remove', () => {
    const view = renderNode({
      kind: 'connection',
      connection: { name: 'sample', kind: 'dir', root: '/data', source: 'setting' },
    });
    assert.match(view.contextValue, /^connection\.dir\.setting\b/);
    assert.match(view.tooltip, /lanceCatalog\.defaultConnections/);
  });

  test('shows a server with its host and database, and its whole address in the tooltip', () => {
    const uri = 'https://catalog.example.com/v2';
    const view = renderNode({
      kind: 'connection',
      connection: { name: 'company', kind: 'rest', uri, database: 'sales', headerNames: ['X-Team'], source: 'person' },
    });
    assert.equal(view.label, 'company');
    assert.equal(view.description, 'catalog.example.com · sales');
    assert.equal(view.tooltip, `Server ${uri}\nDatabase sales`);
    assert.equal(view.spoken, `Connection company, server ${uri}, database sales`);
    assert.match(view.contextValue, /^connection\.rest\.person\b/);
  });

  test('offers what its catalog can do, and nothing that it can not', () => {
    const can = new Set<Ability>(['createNamespace', 'dropTable']);
    const connection = { name: 'a', kind: 'dir', root: '/a', source: 'person' } as const;
    assert.equal(
      renderNode({ kind: 'connection', connection }, can).contextValue,
      'connection.dir.person.createNamespace',
    );
    assert.equal(renderNode({ kind: 'namespace', ...at }, can).contextValue, 'namespace.createNamespace');
    assert.equal(renderNode({ kind: 'table', ...at, table: 't' }, can).contextValue, 'table.dropTable');
    assert.equal(renderNode({ kind: 'table', ...at, table: 't' }, new Set()).contextValue, 'table');
  });

  test('shows the last name of a nested namespace and says the whole path in its tooltip', () => {
    const view = renderNode({ kind: 'namespace', ...at });
    assert.equal(view.label, 'eu');
    assert.equal(view.tooltip, 'Namespace shop/eu');
  });

  test('previews a table when it is clicked', () => {
    const view = renderNode({ kind: 'table', ...at, table: 'orders' });
    assert.equal(view.command?.id, 'lanceCatalog.table.preview');
    assert.equal(view.spoken, 'Table orders in shop/eu');
  });

  test('shows a column with its Arrow type', () => {
    const column = { name: 'embedding', type: 'fixed_size_list<float>[128]', nullable: true };
    const view = renderNode({ kind: 'column', ...at, table: 'products', column });
    assert.equal(view.description, 'fixed_size_list<float>[128]');
    assert.equal(view.spoken, 'Column embedding of products, type fixed_size_list<float>[128]');
  });

  test('shows an error with the next step and tries again when it is clicked', () => {
    const view = renderNode(error('retry'));
    assert.equal(view.label, 'The root is gone.');
    assert.equal(view.description, 'Make it.');
    assert.equal(view.command?.id, 'lanceCatalog.catalog.refresh');
  });

  test('offers to restart where only that helps', () => {
    const view = renderNode(error('restart'));
    assert.equal(view.label, 'Engine stopped. Restart');
    assert.equal(view.description, 'The root is gone.');
    assert.equal(view.command?.id, 'lanceCatalog.engine.restart');
    assert.equal(view.contextValue, 'error.restart');
  });

  test('offers to update the key where the server does not take it', () => {
    const view = renderNode(error('key'));
    assert.equal(view.label, 'Update the API key…');
    assert.equal(view.description, 'The root is gone.');
    assert.equal(view.command?.id, 'lanceCatalog.connection.updateKey');
    assert.match(view.spoken, /Press Enter to update the API key\.$/);
    assert.equal(view.contextValue, 'error.key');
  });

  test('warns of a damaged catalog, leads to its repair and lists five problems at most', () => {
    const problems = Array.from({ length: 7 }, (_, n) => `Namespace "n${n}" is not listed.`);
    const view = renderNode({ kind: 'damage', connection: 'sample', path: [], problems });
    assert.equal(view.label, 'Repair 7 problems…');
    assert.equal(view.command?.id, 'lanceCatalog.catalog.repair');
    assert.deepEqual(view.icon, { id: 'warning', color: 'list.warningForeground' });
    assert.deepEqual(view.tooltip.split('\n'), [
      ...problems.slice(0, 5),
      'and 2 more',
      'Click to see what a repair does.',
    ]);
    const one = renderNode({ kind: 'damage', connection: 'sample', path: [], problems: problems.slice(0, 1) });
    assert.equal(one.label, 'Repair 1 problem…');
  });

  test('begins an error with what is wrong, which a narrow side bar still shows, and has all of it in the tooltip', async () => {
    const root = `/${'long/'.repeat(20)}missing`;
    const { error: what, detail: hint } = await checkRoot(root).then(
      () => assert.fail('the root is there'),
      (problem: CatalogError) => problem.toJSON(),
    );
    const view = renderNode({ ...error('retry'), what, hint });
    assert.equal(view.label.slice(0, 21), 'There is no directory');
    assert.match(view.description, /create it with: mkdir /i);
    assert.equal(view.tooltip, `${what}\n${hint}\nClick to try again.`);
  });

  test('leaves the address out of an error, because the connection above has it', () => {
    const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    const server = {
      name: 'The catalog server at http://catalog.example.com:2333/long/path',
      isKnown: false,
      secrets: [],
    };
    const { error: what, detail: hint } = errorFromConnection(server, refused, 'asking').toJSON();
    const view = renderNode({ ...error('retry'), what, hint });
    assert.equal(view.label, "Server can't be reached (ECONNREFUSED).");
    assert.match(
      view.tooltip,
      /^The catalog server at http:\/\/catalog\.example\.com:2333\/long\/path can't be reached/,
    );
  });

  for (const [type, icon] of [
    ['int64', 'symbol-numeric'],
    ['decimal128(10, 2)', 'symbol-numeric'],
    ['utf8', 'symbol-string'],
    ['bool', 'symbol-boolean'],
    ['timestamp[us, UTC]', 'calendar'],
    ['fixed_size_list<float>[128]', 'symbol-array'],
    ['list<utf8>', 'symbol-array'],
    ['struct<a: int64>', 'symbol-struct'],
    ['binary', 'file-binary'],
    ['large_binary', 'file-binary'],
    ['something new', 'symbol-field'],
  ] as const) {
    test(`has the icon ${icon} for ${type}`, () => {
      assert.equal(columnIcon(type), icon);
    });
  }
});

const error = (remedy: ErrorAction): NodeOf<'error'> => ({
  kind: 'error',
  ...at,
  about: 'tables',
  what: 'The root is gone.',
  hint: 'Make it.',
  remedy,
});

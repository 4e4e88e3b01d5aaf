import assert from 'node:assert/strict';
import type { Catalog, PageOptions } from '#catalog/catalog.ts';
import { CatalogError } from '#shared/errors.ts';
import { serverErrorAction } from '../../../../extension/connections/failureMessage.ts';
import { loadChildren, type LoaderContext, loadPage } from '../../../../extension/explorer/loaders.ts';
import type { CatalogNode } from '../../../../extension/explorer/node.ts';

const fail = () => Promise.reject(new CatalogError('InvalidInput', 'The root is gone.', 'Make it.'));
const signal = new AbortController().signal;
const connection = { kind: 'connection', connection: { name: 'sample', kind: 'dir', root: '/data', source: 'person' } };
const root = connection as CatalogNode;
const names = (nodes: CatalogNode[]) => nodes.map((node) => ('path' in node ? node.path.join('/') : ''));
const kinds = (nodes: CatalogNode[]) => nodes.map((node) => node.kind);

/** Returns the context of the loaders over a catalog that has only these calls. Any other call fails the test. */
function world(calls: Partial<Catalog>): LoaderContext & { reported: string[] } {
  const reported: string[] = [];
  return {
    catalog: () => Promise.resolve(calls as Catalog),
    remedy: () => 'retry',
    report: (what) => reported.push(what),
    reported,
  };
}

/** Returns the next step in the first row under the root. */
const hintUnderRoot = async (context: LoaderContext) => {
  const [node] = await loadChildren(root, context, signal);
  return node?.kind === 'error' && node.hint;
};

suite('the loaders of the catalog tree', () => {
  test('say of a key that is not known what to do here, and not what a program would', async () => {
    const told = new CatalogError(
      'Unauthenticated',
      'This server does not know the API key.',
      'Send a key as x-api-key.',
    );
    const failing = world({ listNamespaces: () => Promise.reject(told), listTables: () => Promise.reject(told) });
    assert.equal(
      await hintUnderRoot({ ...failing, remedy: (_, error) => serverErrorAction(error) }),
      'Correct the API key.',
    );
    assert.equal(await hintUnderRoot(failing), told.hint);
  });

  test('list namespaces before tables', async () => {
    const context = world({
      listNamespaces: () => Promise.resolve({ namespaces: ['shop', 'lab'] }),
      listTables: () => Promise.resolve({ tables: ['notes'] }),
    });
    const nodes = await loadChildren(root, context, signal);
    assert.deepEqual(kinds(nodes), ['namespace', 'namespace', 'table']);
    assert.deepEqual(names(nodes), ['shop', 'lab', '']);
  });

  test('ask for what lies in a nested namespace by its whole path', async () => {
    const asked: unknown[] = [];
    const context = world({
      listNamespaces: (path) => (asked.push(path), Promise.resolve({ namespaces: ['north'] })),
      listTables: (path) => (asked.push(path), Promise.resolve({ tables: [] })),
    });
    const nodes = await loadChildren(
      { kind: 'namespace', connection: 'sample', path: ['shop', 'eu'] },
      context,
      signal,
    );
    assert.deepEqual(asked, [
      ['shop', 'eu'],
      ['shop', 'eu'],
    ]);
    assert.deepEqual(names(nodes), ['shop/eu/north']);
  });

  test('put a "more" row behind a page that is not the last', async () => {
    const context = world({
      listNamespaces: () => Promise.resolve({ namespaces: [] }),
      listTables: () => Promise.resolve({ tables: ['a'], pageToken: 'next' }),
    });
    const nodes = await loadChildren(root, context, signal);
    assert.deepEqual(kinds(nodes), ['table', 'more']);
    assert.equal(nodes[1]?.kind === 'more' && nodes[1].pageToken, 'next');
  });

  test('ask for the next page with the token of the last', async () => {
    let asked: PageOptions | undefined;
    const context = world({
      listTables: (_path, options) => ((asked = options), Promise.resolve({ tables: ['b'] })),
    });
    const more: CatalogNode = { kind: 'more', what: 'tables', pageToken: 'next', connection: 'sample', path: [] };
    assert.deepEqual(kinds(await loadPage(more, context, signal)), ['table']);
    assert.equal(asked?.pageToken, 'next');
    assert.equal(asked?.limit, 100);
  });

  test('say that an empty namespace is empty', async () => {
    const context = world({
      listNamespaces: () => Promise.resolve({ namespaces: [] }),
      listTables: () => Promise.resolve({ tables: [] }),
    });
    assert.deepEqual(kinds(await loadChildren(root, context, signal)), ['empty']);
  });

  test('still list tables when listing namespaces fails', async () => {
    const context = world({
      listNamespaces: () => Promise.reject(new CatalogError('Unsupported', 'No namespaces here.', 'Use tables.')),
      listTables: () => Promise.resolve({ tables: ['notes'] }),
    });
    const nodes = await loadChildren(root, context, signal);
    assert.deepEqual(kinds(nodes), ['error', 'table']);
    assert.deepEqual(context.reported, ['namespaces of sample: /']);
  });

  test('split an error into what went wrong and what to do', async () => {
    const [node] = await loadChildren(root, world({ listNamespaces: fail, listTables: fail }), signal);
    assert.ok(node?.kind === 'error');
    assert.equal(node.what, 'The root is gone.');
    assert.equal(node.hint, 'Make it.');
  });

  test('say once what fails both lists in the same words', async () => {
    const nodes = await loadChildren(root, world({ listNamespaces: fail, listTables: fail }), signal);
    assert.deepEqual(kinds(nodes), ['error']);
  });

  test('offer what the world says mends a failure', async () => {
    const context: LoaderContext = {
      catalog: () => Promise.reject(new Error('down')),
      remedy: () => 'restart',
      report: () => {},
    };
    const [node] = await loadChildren(root, context, signal);
    assert.equal(node?.kind === 'error' && node.remedy, 'restart');
  });

  test('pass a cancellation on and make no error of it', async () => {
    const abort = new Error('cancelled');
    abort.name = 'AbortError';
    const context = world({
      listNamespaces: () => Promise.reject(abort),
      listTables: () => Promise.resolve({ tables: [] }),
    });
    await assert.rejects(loadChildren(root, context, signal), { name: 'AbortError' });
    assert.deepEqual(context.reported, []);
  });

  test('list the columns of a table with their types', async () => {
    const columns = [{ name: 'id', type: 'int64', nullable: false }];
    const context = world({
      describeTable: (name: string) =>
        Promise.resolve({ name, namespacePath: ['shop'], version: 1, numRows: 0, columns }),
    });
    const nodes = await loadChildren(
      { kind: 'table', connection: 'sample', path: ['shop'], table: 't' },
      context,
      signal,
    );
    assert.deepEqual(
      nodes.map((node) => node.kind === 'column' && node.column),
      columns,
    );
  });
});

import assert from 'node:assert/strict';
import type { Catalog } from '#catalog/catalog.ts';
import { CatalogError } from '#shared/errors.ts';
import type { CatalogNode } from '../../../extension/explorer/node.ts';
import { CatalogTree } from '../../../extension/explorer/tree.ts';
import { nameOf } from '../support.ts';

const gone = (): Promise<never> => Promise.reject(new CatalogError('ServiceUnavailable', 'It is gone.', 'Wait.'));

/** Returns a tree with one connection whose catalog returns what the test defines. */
function treeOver(answers: Pick<Catalog, 'listNamespaces' | 'listTables'>) {
  const tree = new CatalogTree(() => [{ name: 'sample', kind: 'dir', root: '/data', source: 'person' }], {
    catalog: () => Promise.resolve(answers as Catalog),
    remedy: () => 'retry',
    report: () => {},
  });
  const changes: (CatalogNode | undefined)[] = [];
  tree.onDidChangeTreeData((changed) => changes.push(changed));
  return { tree, changes };
}

async function connectionOf(tree: CatalogTree): Promise<CatalogNode> {
  const [node] = await tree.getChildren();
  assert.ok(node);
  return node;
}

suite('what the catalog tree keeps', () => {
  test('is what it loaded, until a refresh', async () => {
    let asked = 0;
    const { tree } = treeOver({
      listNamespaces: () => Promise.resolve({ namespaces: [] }),
      listTables: () => (asked++, Promise.resolve({ tables: ['a'] })),
    });
    const node = await connectionOf(tree);
    await tree.getChildren(node);
    await tree.getChildren(node);
    assert.equal(asked, 1);
    tree.refresh(node);
    await tree.getChildren(node);
    assert.equal(asked, 2);
  });

  test('is no empty place', async () => {
    const tables: string[] = [];
    const { tree } = treeOver({
      listNamespaces: () => Promise.resolve({ namespaces: [] }),
      listTables: () => Promise.resolve({ tables: [...tables] }),
    });
    const node = await connectionOf(tree);
    assert.deepEqual((await tree.getChildren(node)).map(nameOf), ['No tables yet']);
    tables.push('a');
    assert.deepEqual((await tree.getChildren(node)).map(nameOf), ['a']);
  });

  test('is not the error of a next page, which is shown once before the row that requests it again', async () => {
    const { tree, changes } = treeOver({
      listNamespaces: () => Promise.resolve({ namespaces: [] }),
      listTables: (_path, options) =>
        options?.pageToken === undefined ? Promise.resolve({ tables: ['a'], pageToken: '2' }) : gone(),
    });
    const node = await connectionOf(tree);
    const more = (await tree.getChildren(node))[1];
    assert.ok(more?.kind === 'more');
    assert.equal(await tree.loadMore(more), undefined);
    assert.deepEqual(changes, [node]);
    assert.deepEqual((await tree.getChildren(node)).map(nameOf), ['a', 'It is gone.', 'more tables']);
    assert.deepEqual((await tree.getChildren(node)).map(nameOf), ['a', 'more tables']);
  });

  test('has the next page where the other list of the node failed', async () => {
    const { tree } = treeOver({
      listNamespaces: gone,
      listTables: (_path, options) =>
        Promise.resolve(options?.pageToken === undefined ? { tables: ['a'], pageToken: '2' } : { tables: ['b'] }),
    });
    const node = await connectionOf(tree);
    const more = (await tree.getChildren(node))[2];
    assert.ok(more?.kind === 'more');
    const first = await tree.loadMore(more);
    const rows = await tree.getChildren(node);
    assert.deepEqual(rows.map(nameOf), ['It is gone.', 'a', 'b']);
    assert.equal(first, rows[2], 'the first new row, which then gets the focus');
  });

  test('is asked for again when a node that showed an error was collapsed and is expanded, once', async () => {
    const { tree, changes } = treeOver({ listNamespaces: gone, listTables: gone });
    const node = await connectionOf(tree);
    tree.expanded(node);
    await tree.getChildren(node);
    tree.expanded(node);
    assert.deepEqual(changes, []);
    tree.collapsed(node);
    tree.expanded(node);
    tree.expanded(node);
    assert.deepEqual(changes, [node]);
  });

  test('is not asked for again when a node that showed its tables is collapsed and expanded', async () => {
    const { tree, changes } = treeOver({
      listNamespaces: () => Promise.resolve({ namespaces: [] }),
      listTables: () => Promise.resolve({ tables: ['a'] }),
    });
    const node = await connectionOf(tree);
    await tree.getChildren(node);
    tree.collapsed(node);
    tree.expanded(node);
    assert.deepEqual(changes, []);
  });

  test('is read again by an update, which fires only for a node whose rows have changed', async () => {
    const tables = ['a', 'b'];
    const { tree, changes } = treeOver({
      listNamespaces: () => Promise.resolve({ namespaces: [] }),
      listTables: () => Promise.resolve({ tables: [...tables] }),
    });
    const node = await connectionOf(tree);
    const [first] = await tree.getChildren(node);
    await tree.update();
    assert.deepEqual(changes, []);
    tables.splice(1, 1, 'c');
    await tree.update(new Set(['another']));
    assert.deepEqual(changes, []);
    await tree.update(new Set(['sample']));
    assert.deepEqual(changes, [node]);
    const rows = await tree.getChildren(node);
    assert.deepEqual(rows.map(nameOf), ['a', 'c']);
    assert.equal(rows[0], first, 'a row that stays is the same object, so it stays selected and expanded');
  });

  test('has as many pages after an update as before, and keeps its rows if they can not be read', async () => {
    const pages = [['a'], ['b'], ['c']];
    let isGone = false;
    const { tree, changes } = treeOver({
      listNamespaces: () => Promise.resolve({ namespaces: [] }),
      listTables: (_path, options) => {
        if (isGone) return gone();
        const at = Number(options?.pageToken ?? 0);
        const isLast = at === pages.length - 1;
        return Promise.resolve({ tables: [...(pages[at] ?? [])], ...(!isLast && { pageToken: String(at + 1) }) });
      },
    });
    const node = await connectionOf(tree);
    const more = (await tree.getChildren(node))[1];
    assert.ok(more?.kind === 'more');
    await tree.loadMore(more);
    assert.deepEqual((await tree.getChildren(node)).map(nameOf), ['a', 'b', 'more tables']);
    changes.length = 0;
    isGone = true;
    await tree.update();
    assert.deepEqual(changes, []);
    isGone = false;
    pages[1] = ['bb'];
    await tree.update();
    assert.deepEqual((await tree.getChildren(node)).map(nameOf), ['a', 'bb', 'more tables']);
  });

  test('is not read again while its node is collapsed, but when the node is expanded', async () => {
    let asked = 0;
    const { tree, changes } = treeOver({
      listNamespaces: () => Promise.resolve({ namespaces: [] }),
      listTables: () => (asked++, Promise.resolve({ tables: ['a'] })),
    });
    const node = await connectionOf(tree);
    await tree.getChildren(node);
    tree.collapsed(node);
    await tree.update();
    assert.equal(asked, 1);
    tree.expanded(node);
    assert.deepEqual(changes, [node]);
    await tree.getChildren(node);
    assert.equal(asked, 2);
  });
});

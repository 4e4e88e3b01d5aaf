import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type NameLists, withNearestName } from '#catalog/names/missingNames.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { nextSteps } from '#shared/nextSteps.ts';

type Tree = { readonly tables: readonly string[]; readonly [namespace: string]: Tree | readonly string[] };

const never = (): Promise<string[]> => new Promise(() => {});

const noTable = (hint: string = nextSteps.listTables): CatalogError =>
  new CatalogError('TableNotFound', 'Table "x" does not exist.', hint, { operation: 'DescribeTable' });
const noNamespace = (): CatalogError =>
  new CatalogError('NamespaceNotFound', 'Namespace "x" does not exist.', nextSteps.listNamespaces);

/** Lists the names of a tree of objects, and counts the lists. */
function listsOf(tree: Tree): NameLists & { readonly asked: string[] } {
  const asked: string[] = [];
  const at = (what: string, path: readonly string[]): Tree => {
    asked.push(`${what} /${path.join('/')}`);
    let found: unknown = tree;
    for (const name of path) found = Object(found)[name];
    if (found === undefined) throw noNamespace();
    return found as Tree;
  };
  return {
    asked,
    location: '/data/here',
    withinMs: 10_000,
    tables: async (path) => at('tables', path).tables,
    namespaces: async (path) => Object.keys(at('namespaces', path)).filter((name) => name !== 'tables'),
  };
}

const tree: Tree = {
  tables: ['animals', 'Orders'],
  shop: { tables: ['products'], eu: { tables: [] } },
};

async function failureOf(
  error: CatalogError,
  path: readonly string[],
  table: string | undefined,
  lists: NameLists | undefined = listsOf(tree),
  signal?: AbortSignal,
): Promise<CatalogError> {
  try {
    await withNearestName(lists, { path, table }, signal, async () => {
      throw error;
    });
  } catch (thrown) {
    assert.ok(isCatalogError(thrown));
    return thrown;
  }
  return assert.fail('the call succeeded');
}

const hintOf = async (...given: Parameters<typeof failureOf>): Promise<string> => (await failureOf(...given)).hint;

suite('The next step for a missing name', () => {
  test('is the nearest table, in its namespace too', async () => {
    assert.equal(await hintOf(noTable(), [], 'animal'), 'Did you mean "animals"?');
    assert.equal(await hintOf(noTable(), [], 'orders'), 'Did you mean "Orders"?');
    assert.equal(await hintOf(noTable(), ['shop'], 'product'), 'Did you mean "shop/products"?');
  });

  test('keeps the kind, the message and the operation of the error', async () => {
    const { kind, what, operation, status } = await failureOf(noTable(), [], 'animal');
    assert.deepEqual(
      [kind, what, operation, status],
      ['TableNotFound', 'Table "x" does not exist.', 'DescribeTable', 404],
    );
  });

  test('is the nearest namespace at the first level that is wrong', async () => {
    assert.equal(await hintOf(noNamespace(), ['shpo'], 'products'), 'Did you mean "shop"?');
    assert.equal(await hintOf(noNamespace(), ['shop', 'ue'], undefined), 'Did you mean "shop/eu"?');
    assert.equal(await hintOf(noNamespace(), ['shpo', 'eu'], 'products'), 'Did you mean "shop"?');
  });

  test('says what is empty', async () => {
    assert.equal(await hintOf(noTable(), ['shop', 'eu'], 'orders'), 'The namespace "shop/eu" has no tables.');
    const empty = listsOf({ tables: [] });
    assert.equal(
      await hintOf(noTable(), [], 'orders', empty),
      'The root of "/data/here" has no tables. Check this location, or name a namespace.',
    );
  });

  test('says that a listed table has no data', async () => {
    assert.equal(await hintOf(noTable(), [], 'animals'), nextSteps.listedWithoutData);
  });

  test('stays if no name is near, or if the error has a step of its own', async () => {
    assert.equal(await hintOf(noTable(), [], 'invoices'), nextSteps.listTables);
    assert.equal(await hintOf(noNamespace(), ['company'], 'orders'), nextSteps.listNamespaces);
    // The missing namespace is another one than that of the call, such as the target of a renaming.
    assert.equal(await hintOf(noNamespace(), ['shop'], 'products'), nextSteps.listNamespaces);
    assert.equal(await hintOf(noTable('Rename it.'), [], 'animal'), 'Rename it.');
  });

  test('costs one list, also if a call runs within another', async () => {
    const lists = listsOf(tree);
    const error = noTable();
    const inner = () => withNearestName(lists, { path: [], table: 'invoices' }, undefined, () => Promise.reject(error));
    await assert.rejects(withNearestName(lists, { path: [], table: 'invoices' }, undefined, inner), error);
    assert.deepEqual(lists.asked, ['tables /']);
  });

  test('costs nothing without a failure, for other failures, and for a server', async () => {
    const lists = listsOf(tree);
    assert.equal(await withNearestName(lists, { path: [], table: 'x' }, undefined, async () => 5), 5);
    await failureOf(new CatalogError('Internal', 'Broken.', ''), [], 'animal', lists);
    assert.deepEqual(lists.asked, []);
    const error = noTable();
    const call = () => Promise.reject(error);
    await assert.rejects(withNearestName(undefined, { path: [], table: 'animal' }, undefined, call), error);
  });

  test('does not wait for slow names, nor after an abort', async () => {
    const slow: NameLists = { ...listsOf(tree), tables: never, withinMs: 30 };
    const error = noTable();
    assert.equal(await failureOf(error, [], 'animal', slow), error);
    const patient: NameLists = { ...slow, withinMs: 600_000 };
    const stop = new AbortController();
    const failure = failureOf(error, [], 'animal', patient, stop.signal);
    await sleep(1);
    stop.abort();
    await failure;
  });

  test('stays if the names can not be listed', async () => {
    const refused: NameLists = { ...listsOf(tree), tables: () => Promise.reject(new Error('no')) };
    const error = noTable();
    assert.equal(await failureOf(error, [], 'animal', refused), error);
  });
});

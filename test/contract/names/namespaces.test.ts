import assert from 'node:assert/strict';
import { fails } from '../expect.ts';
import { forEachSubject } from '../subjects.ts';

forEachSubject('namespaces', (makeCatalog) => {
  test('a new catalog has none', async () => {
    const { db } = await makeCatalog();
    assert.deepEqual(await db.listNamespaces(), { namespaces: [] });
    assert.deepEqual(await db.listTables(), { tables: [] });
  });

  test('nest and list one level at a time', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    await db.createNamespace(['shop', 'eu']);
    await db.createNamespace(['shop', 'us']);
    assert.deepEqual((await db.listNamespaces()).namespaces, ['shop']);
    assert.deepEqual((await db.listNamespaces(['shop'])).namespaces.toSorted(), ['eu', 'us']);
    assert.deepEqual((await db.listNamespaces(['shop', 'eu'])).namespaces, []);
  });

  test('keep their properties', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop'], { properties: { owner: 'ada' } });
    assert.deepEqual(await db.describeNamespace(['shop']), { properties: { owner: 'ada' } });
  });

  test('can not be created twice, except with exist_ok', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    await fails(() => db.createNamespace(['shop']), 'NamespaceAlreadyExists', '"shop"', 'exist_ok');
    await db.createNamespace(['shop'], { mode: 'exist_ok' });
  });

  test('can not be created in a parent that is not there', async () => {
    const { db } = await makeCatalog();
    await fails(() => db.createNamespace(['shop', 'eu']), 'NamespaceNotFound', '"shop"', 'parent');
  });

  test('that are kept by exist_ok keep what they hold', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop'], { properties: { owner: 'ada' } });
    await db.createTable('products', [{ id: 1 }], ['shop']);
    await db.createNamespace(['shop'], { mode: 'exist_ok', properties: { owner: 'eve' } });
    assert.deepEqual(await db.describeNamespace(['shop']), { properties: { owner: 'ada' } });
    assert.deepEqual(await db.tableNames(['shop']), ['products']);
  });

  test('refuse overwrite, and stay as they are', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop'], { properties: { owner: 'ada' } });
    await fails(() => db.createNamespace(['shop'], { mode: 'overwrite' }), 'Unsupported', '"shop"');
    assert.deepEqual(await db.describeNamespace(['shop']), { properties: { owner: 'ada' } });
  });

  test('without properties have none', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    assert.deepEqual(await db.describeNamespace(['shop']), { properties: {} });
  });

  test('say whether they exist', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    await db.createNamespace(['shop', 'eu']);
    assert.equal(await db.namespaceExists([]), true);
    assert.equal(await db.namespaceExists(['shop']), true);
    assert.equal(await db.namespaceExists(['shop', 'eu']), true);
    assert.equal(await db.namespaceExists(['shop', 'us']), false);
    assert.equal(await db.namespaceExists(['nope', 'eu']), false);
  });

  test('nest ten levels deep and no deeper', async () => {
    const { db } = await makeCatalog();
    const path = Array.from({ length: 11 }, (_, level) => `n${level}`);
    for (let depth = 1; depth <= 10; depth++) await db.createNamespace(path.slice(0, depth));
    await db.createTable('t', [{ id: 1 }], path.slice(0, 10));
    assert.deepEqual(await db.tableNames(path.slice(0, 10)), ['t']);
    await fails(() => db.createNamespace(path), 'InvalidInput', '11', '10');
  });

  test('that are missing fail to list and to describe', async () => {
    const { db } = await makeCatalog();
    await fails(() => db.listNamespaces(['nope']), 'NamespaceNotFound', '"nope"');
    await fails(() => db.listTables(['nope']), 'NamespaceNotFound', '"nope"');
    await fails(() => db.tableNames(['nope']), 'NamespaceNotFound', '"nope"');
    await fails(() => db.describeNamespace(['nope']), 'NamespaceNotFound', '"nope"');
  });

  test('that are missing fail to drop, except with skip', async () => {
    const { db } = await makeCatalog();
    await fails(() => db.dropNamespace(['nope']), 'NamespaceNotFound', '"nope"');
    await db.dropNamespace(['nope'], { mode: 'skip' });
    await db.dropNamespace(['nope'], { mode: 'skip', behavior: 'cascade' });
  });

  test('that hold something are dropped with cascade alone', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    await db.createNamespace(['shop', 'eu']);
    await db.createTable('orders', [{ id: 1 }], ['shop', 'eu']);
    await db.createTable('products', [{ id: 1 }], ['shop']);
    await fails(() => db.dropNamespace(['shop']), 'NamespaceNotEmpty', '"shop"', 'cascade');
    await db.dropNamespace(['shop'], { behavior: 'cascade' });
    assert.deepEqual((await db.listNamespaces()).namespaces, []);
    await db.createNamespace(['shop']);
    assert.deepEqual(await db.tableNames(['shop']), []);
  });

  test('do not include the root, which can not be dropped', async () => {
    const { db } = await makeCatalog();
    await fails(() => db.dropNamespace([]), 'InvalidInput', 'root');
  });

  test('come in pages that together give each name once', async () => {
    const { db } = await makeCatalog();
    const names = Array.from({ length: 7 }, (_, index) => `n${index}`);
    for (const name of names) await db.createNamespace([name]);
    const seen: string[] = [];
    let pageToken: string | undefined;
    for (let pages = 0; pages < 10; pages++) {
      const page = await db.listNamespaces([], { limit: 3, pageToken });
      assert.ok(page.namespaces.length <= 3);
      seen.push(...page.namespaces);
      ({ pageToken } = page);
      if (pageToken === undefined) break;
    }
    assert.deepEqual(seen.toSorted(), names);
  });

  test('take no name outside the rule', async () => {
    const { db } = await makeCatalog();
    for (const name of ['', '.', '..', 'a b', 'a/b', 'a$b', 'ümlaut', 'a'.repeat(65)]) {
      await fails(() => db.createNamespace([name]), 'InvalidInput', 'namespace');
    }
    assert.deepEqual((await db.listNamespaces()).namespaces, []);
    await db.createNamespace(['a'.repeat(64)]);
    await db.createNamespace(['A-z_0.9']);
  });

  test('take no option that nobody knows', async () => {
    const { db } = await makeCatalog();
    await fails(() => db.createNamespace(['a'], { existOk: true } as never), 'InvalidInput', 'existOk', 'mode');
    await fails(() => db.dropNamespace(['a'], { cascade: true } as never), 'InvalidInput', 'cascade', 'behavior');
    await fails(() => db.listNamespaces([], { page: 1 } as never), 'InvalidInput', 'page', 'pageToken');
    await fails(() => db.createNamespace(['a'], { mode: 'exist-ok' as never }), 'InvalidInput', 'exist-ok');
    await fails(() => db.namespaceExists(['a'], { mode: 'skip' } as never), 'InvalidInput', 'mode');
    assert.equal(await db.namespaceExists(['a']), false);
  });
});

import assert from 'node:assert/strict';
import { Field, Int64, Schema } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { type CatalogErrorKind, isCatalogError } from '#shared/errors.ts';
import { fails } from '../expect.ts';
import { forEachSubject } from '../subjects.ts';

const rows = [{ id: 1 }, { id: 2 }];
const schema = new Schema([new Field('id', new Int64())]);

/** Returns every identifier of a catalog with its kind and, for a table, its number of rows. */
async function contents(db: Catalog, path: readonly string[] = []): Promise<string[]> {
  const tables = await Promise.all(
    (await db.tableNames(path)).map(async (name) => {
      const count = await (await db.openTable(name, path)).countRows();
      return `table ${[...path, name].join('/')} ${count}`;
    }),
  );
  const { namespaces } = await db.listNamespaces(path);
  const below = await Promise.all(
    namespaces.map(async (name) => [
      `namespace ${[...path, name].join('/')}`,
      ...(await contents(db, [...path, name])),
    ]),
  );
  return [...tables, ...below.flat()].toSorted();
}

/** Creates a namespace with a table, another namespace and a table, in the root and one level below it. */
async function fill(db: Catalog): Promise<string[]> {
  for (const path of [['shop'], ['n'], ['n', 'shop']]) await db.createNamespace(path, { properties: { owner: 'ada' } });
  for (const path of [[], ['shop'], ['n'], ['n', 'shop']]) await db.createTable('t', rows, path);
  return contents(db);
}

forEachSubject('tables and namespaces of one name', (makeCatalog, subject) => {
  /**
   * Asserts that a call is refused. Upstream's server has other codes and messages, and does not support rename and
   * declare.
   */
  async function refused(call: () => Promise<unknown>, kind: CatalogErrorKind, ...words: string[]): Promise<void> {
    if (subject.id !== 'upstream') return void (await fails(call, kind, ...words));
    await assert.rejects(call, (error) => isCatalogError(error), kind + words.join());
  }

  for (const path of [[], ['n']]) {
    const where = path.length === 0 ? 'in the root' : 'in a namespace';

    test(`no table takes the name of a namespace ${where}, by any call`, async () => {
      const { db } = await makeCatalog();
      const before = await fill(db);
      const identifier = `"${[...path, 'shop'].join('/')}"`;
      const calls: [string, () => Promise<unknown>][] = [
        ['create', () => db.createTable('shop', rows, path)],
        ['exist_ok', () => db.createTable('shop', rows, path, { mode: 'exist_ok' })],
        ['overwrite', () => db.createTable('shop', rows, path, { mode: 'overwrite' })],
        ['empty', () => db.createEmptyTable('shop', schema, path)],
        ['copy', () => db.copy([...path, 't'], { path: [...path, 'shop'] }, { kind: 'table' })],
        ['declare', () => db.declareTable('shop', path)],
      ];
      for (const [call, run] of calls) {
        await refused(run, 'NamespaceAlreadyExists', identifier, 'another name');
        assert.deepEqual(await contents(db), before, call);
      }
    });

    test(`no table is renamed to the name of a namespace ${where}`, async () => {
      const { db } = await makeCatalog();
      const before = await fill(db);
      await refused(() => db.renameTable('t', 'shop', path), 'NamespaceAlreadyExists');
      assert.deepEqual(await contents(db), before);
    });

    test(`no namespace takes the name of a table ${where}, also with exist_ok`, async () => {
      const { db } = await makeCatalog();
      const before = await fill(db);
      const identifier = `"${[...path, 't'].join('/')}"`;
      await refused(() => db.createNamespace([...path, 't']), 'TableAlreadyExists', identifier, 'table');
      await refused(() => db.createNamespace([...path, 't'], { mode: 'exist_ok' }), 'TableAlreadyExists', identifier);
      assert.deepEqual(await contents(db), before);
    });

    test(`a table ${where} is dropped as a table alone, and a namespace as a namespace`, async () => {
      const { db } = await makeCatalog();
      const before = await fill(db);
      await refused(() => db.dropNamespace([...path, 't']), 'NamespaceNotFound', 't"', 'table');
      await refused(() => db.dropNamespace([...path, 't'], { behavior: 'cascade' }), 'NamespaceNotFound', 'table');
      await refused(() => db.dropTable('shop', path), 'TableNotFound', 'namespace');
      await refused(() => db.deregisterTable('shop', path), 'TableNotFound');
      assert.deepEqual(await contents(db), before);
    });
  }

  test('a folder has one name: a listed table is not registered again, under any mode', async () => {
    if (subject.id === 'upstream') return;
    const { db } = await makeCatalog();
    const before = await fill(db);
    const folder = async (name: string, path: string[]) =>
      (await db.describeTable(name, path)).location!.split('/').filter(Boolean).at(-1)!;
    for (const location of [await folder('t', []), await folder('t', ['shop'])]) {
      for (const mode of ['create', 'overwrite'] as const) {
        await fails(
          () => db.registerTable('again', location, ['n'], { mode }),
          'InvalidInput',
          `"${location}"`,
          '"n/again"',
        );
      }
    }
    assert.deepEqual(await contents(db), before);
  });

  test('names as long as the rule allows are created, listed, renamed and dropped', async () => {
    const { db } = await makeCatalog();
    const path = Array.from({ length: 10 }, (_, level) => `${level}`.padEnd(64, 'n'));
    for (let depth = 1; depth <= 10; depth++) await db.createNamespace(path.slice(0, depth));
    const name = 't'.repeat(128);
    await db.createTable(name, rows, path);
    assert.deepEqual(await db.tableNames(path), [name]);
    if (subject.id !== 'upstream') await db.renameTable(name, 'u'.repeat(128), path);
    const [listed] = await db.tableNames(path);
    assert.equal(await (await db.openTable(listed!, path)).countRows(), 2);
    await db.dropTable(listed!, path);
    assert.deepEqual(await db.tableNames(path), []);
  });

  test('a table holds no namespaces and no tables', async () => {
    const { db } = await makeCatalog();
    const before = await fill(db);
    for (const parent of [['t'], ['n', 't']]) {
      await refused(() => db.createNamespace([...parent, 'x']), 'NamespaceNotFound', `"${parent.join('/')}"`);
      await refused(() => db.createTable('x', rows, parent), 'NamespaceNotFound', `"${parent.join('/')}"`);
    }
    assert.deepEqual(await contents(db), before);
  });

  test('a name is free for either kind once what had it was dropped', async () => {
    const { db } = await makeCatalog();
    await fill(db);
    await db.dropNamespace(['shop'], { behavior: 'cascade' });
    await db.createTable('shop', rows);
    await db.dropTable('t', ['n']);
    await db.createNamespace(['n', 't']);
    assert.equal(await (await db.openTable('shop')).countRows(), 2);
    assert.deepEqual((await db.listNamespaces(['n'])).namespaces.toSorted(), ['shop', 't']);
  });
});

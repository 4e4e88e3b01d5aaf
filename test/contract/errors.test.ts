import assert from 'node:assert/strict';
import { catalogErrorCodes, isCatalogError, statusOf } from '#shared/errors.ts';
import type { Operation } from '#catalog/contract.ts';
import type { Catalog } from '#catalog/catalog.ts';
import { fails } from './expect.ts';
import { forEachSubject } from './subjects.ts';

const rows = [{ id: 1, name: 'mug' }];
const path = ['shop'];

type Failing = readonly [Operation, keyof typeof catalogErrorCodes, string, (db: Catalog) => Promise<unknown>];

/** Failing calls on a catalog whose namespace `shop` contains the table `t`, with the expected error. */
const failing: readonly Failing[] = [
  ['CreateNamespace', 'NamespaceAlreadyExists', 'shop', (db) => db.createNamespace(path)],
  ['CreateNamespace', 'NamespaceNotFound', 'nope/eu', (db) => db.createNamespace(['nope', 'eu'])],
  ['DescribeNamespace', 'NamespaceNotFound', 'nope', (db) => db.describeNamespace(['nope'])],
  ['DropNamespace', 'NamespaceNotFound', 'nope', (db) => db.dropNamespace(['nope'])],
  ['DropNamespace', 'NamespaceNotEmpty', 'shop', (db) => db.dropNamespace(path)],
  ['ListNamespaces', 'NamespaceNotFound', 'nope', (db) => db.listNamespaces(['nope'])],
  ['ListTables', 'NamespaceNotFound', 'nope', (db) => db.listTables(['nope'])],
  ['CreateTable', 'TableAlreadyExists', 'shop/t', (db) => db.createTable('t', rows, path)],
  ['CreateTable', 'NamespaceNotFound', 'nope/t', (db) => db.createTable('t', rows, ['nope'])],
  ['CreateTable', 'InvalidInput', 'shop/a b', (db) => db.createTable('a b', rows, path)],
  ['DescribeTable', 'TableNotFound', 'shop/u', (db) => db.describeTable('u', path)],
  ['DropTable', 'TableNotFound', 'shop/u', (db) => db.dropTable('u', path)],
];

type FailingOnTable = readonly [
  Operation,
  keyof typeof catalogErrorCodes,
  (table: Awaited<ReturnType<Catalog['openTable']>>) => Promise<unknown>,
];

const failingOnTable: readonly FailingOnTable[] = [
  ['QueryTable', 'ColumnNotFound', (table) => table.query().where('colour = 1').toArrow()],
  ['CountTableRows', 'InvalidInput', (table) => table.countRows('id >')],
  ['CountTableRows', 'InvalidInput', (table) => table.countRows('')],
  ['InsertIntoTable', 'SchemaValidation', (table) => table.add([{ colour: 'red' }])],
  ['UpdateTable', 'ColumnNotFound', (table) => table.update({ valuesSql: { colour: '1' } })],
  ['UpdateTable', 'InvalidInput', (table) => table.update({})],
  ['DeleteFromTable', 'InvalidInput', (table) => table.delete('')],
  ['DeleteFromTable', 'ColumnNotFound', (table) => table.delete('colour = 1')],
  ['RestoreTable', 'VersionNotFound', (table) => table.restore(99)],
  ['RestoreTable', 'InvalidInput', (table) => table.restore(0)],
  ['CreateTableTag', 'InvalidInput', (table) => table.tags().create('', 1)],
  ['GetTableTagVersion', 'TagNotFound', (table) => table.tags().getVersion('nope')],
  ['CreateTableTag', 'VersionNotFound', (table) => table.tags().create('x', 99)],
  ['DropTableIndex', 'IndexNotFound', (table) => table.dropIndex('nope')],
  ['DescribeTableIndexStats', 'IndexNotFound', (table) => table.indexStats('nope')],
  ['AlterTableDropColumns', 'ColumnNotFound', (table) => table.dropColumns(['colour'])],
];

forEachSubject('errors', (makeCatalog) => {
  let db: Catalog;
  setup(async () => {
    ({ db } = await makeCatalog());
    await db.createNamespace(path);
    await db.createTable('t', rows, path);
  });

  test('name columns in one pair of quotes', async () => {
    const table = await db.createTable('u', rows, path);
    const column = await fails(() => table.update({ values: { nope: 1 } }), 'ColumnNotFound', 'nope');
    assert.doesNotMatch(column.message, /"'/);
  });

  for (const [operation, kind, identifier, call] of failing) {
    test(`of ${operation}: ${kind}, and of what`, async () => {
      const error = await fails(() => call(db), kind);
      assert.deepEqual([error.operation, error.identifier], [operation, identifier]);
      assert.equal(error.code, catalogErrorCodes[kind]);
      assert.equal(error.status, statusOf(kind));
      assert.ok(error.hint !== '' && error.message.endsWith(error.hint), `no next step in "${error.message}"`);
    });
  }

  for (const [operation, kind, call] of failingOnTable) {
    test(`of ${operation} on a table: ${kind}, and of which`, async () => {
      const table = await db.openTable('t', path);
      const error = await fails(() => call(table), kind);
      assert.deepEqual([error.operation, error.identifier], [operation, 'shop/t']);
      assert.equal(error.code, catalogErrorCodes[kind]);
      assert.ok(error.hint !== '' && error.message.endsWith(error.hint), `no next step in "${error.message}"`);
    });
  }

  test('on a table that is gone say that it is', async () => {
    const table = await db.openTable('t', path);
    await db.dropTable('t', path);
    for (const call of [
      () => table.countRows(),
      () => table.query().toArrow(),
      () => table.add(rows),
      () => table.schema(),
      () => table.listVersions(),
    ]) {
      const error = await fails(call, 'TableNotFound', 'shop/t');
      assert.equal(error.identifier, 'shop/t');
    }
  });

  test('are one sentence without the inner workings of the engine', async () => {
    const table = await db.openTable('t', path);
    const calls = [
      ...failing.map(
        ([, , , call]) =>
          () =>
            call(db),
      ),
      ...failingOnTable.map(
        ([, , call]) =>
          () =>
            call(table),
      ),
    ];
    for (const call of calls) {
      const error: unknown = await call().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      assert.ok(isCatalogError(error));
      assert.doesNotMatch(error.message, /\n|Caused by|LanceError|DataFusion|lance::|src\/|__manifest|Error:/);
    }
  });
});

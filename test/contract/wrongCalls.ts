import type { Catalog } from '#catalog/catalog.ts';
import type { Operation } from '#catalog/contract.ts';
import type { Table } from '#catalog/table/table.ts';

/** Returns a value that the types forbid but that a notebook may pass. */
const odd = (value: unknown): never => value as never;
const path = ['shop'];

/** A catalog call with an invalid argument, with its operation and its identifier. */
export type WrongCall<T> = readonly [Operation, identifier: string | undefined, call: (on: T) => unknown];

/** Calls on a catalog with the namespace `shop`. */
export const wrongCatalogCalls: readonly WrongCall<Catalog>[] = [
  ['CreateNamespace', 'a b', (db) => db.createNamespace(['a b'])],
  ['CreateNamespace', 'shop/x', (db) => db.createNamespace(['shop', 'x'], odd({ mood: 'good' }))],
  ['CreateNamespace', undefined, (db) => db.createNamespace(odd(7))],
  ['ListNamespaces', 'shop', (db) => db.listNamespaces(path, { limit: 0 })],
  ['ListNamespaces', undefined, (db) => db.listNamespaces(odd('shop'))],
  ['DescribeNamespace', 'shop', (db) => db.describeNamespace(path, odd({ mood: 'good' }))],
  ['NamespaceExists', 'shop', (db) => db.namespaceExists(path, odd({ mood: 'good' }))],
  ['DropNamespace', 'shop', (db) => db.dropNamespace(path, odd({ mode: 'perhaps' }))],
  ['ListTables', 'shop', (db) => db.listTables(path, { limit: 1.5 })],
  ['ListTables', 'shop', (db) => db.tableNames(path, { limit: -1 })],
  ['CreateTable', 'shop/a b', (db) => db.createTable('a b', [{ id: 1 }], path)],
  ['CreateTable', 'shop/x', (db) => db.createTable('x', [{ id: 1 }], path, odd({ mode: 'perhaps' }))],
  ['CreateTable', 'shop/x', (db) => db.createTable('x', odd(7), path)],
  ['CreateTable', 'shop/x', (db) => db.createEmptyTable('x', odd(7), path)],
  ['DeclareTable', 'shop/a b', (db) => db.declareTable('a b', path)],
  ['RegisterTable', 'shop/x', (db) => db.registerTable('x', 'x.lance', path, odd({ mode: 'perhaps' }))],
  ['DeregisterTable', 'shop/x', (db) => db.deregisterTable('x', path, odd({ mode: 'skip' }))],
  ['DescribeTable', 'shop/t', (db) => db.describeTable('t', path, { version: 0 })],
  ['DescribeTable', 'shop/t', (db) => db.openTable('t', path, { version: 1, tag: 'x' })],
  ['DescribeTable', 'shop/t', (db) => db.isOnlyDeclared('t', path, odd({ mood: 'good' }))],
  ['TableExists', 'shop/t', (db) => db.tableExists('t', path, odd({ mood: 'good' }))],
  ['DropTable', 'shop/t', (db) => db.dropTable('t', path, odd({ mode: 'skip' }))],
  ['RenameTable', 'shop/t', (db) => db.renameTable('t', 'a b', path)],
  ['RenameTable', 'shop/t', (db) => db.renameTable('t', 'u', path, { newNamespacePath: odd('x') })],
];

/** Calls on a table with the columns `id` and `name`. */
export const wrongTableCalls: readonly (readonly [Operation, call: (table: Table) => unknown])[] = [
  ['CountTableRows', (table) => table.countRows(odd(7))],
  ['QueryTable', (table) => table.query().where('id >').toArray()],
  ['InsertIntoTable', (table) => table.add([{ id: 1 }], odd({ mode: 'perhaps' }))],
  ['InsertIntoTable', (table) => table.add(odd(7))],
  ['MergeInsertIntoTable', (table) => table.mergeInsert('id').whenNotMatchedInsertAll().execute(odd(7))],
  ['UpdateTable', (table) => table.update({})],
  ['UpdateTable', (table) => table.update({ values: { name: 'x' } }, odd({ mood: 'good' }))],
  ['DeleteFromTable', (table) => table.delete(odd(undefined))],
  ['RestoreTable', (table) => table.restore(0)],
  ['RestoreTable', (table) => table.restore(odd(undefined))],
  ['OptimizeTable', (table) => table.optimize(odd({ olderThan: 7 }))],
  ['OptimizeTable', (table) => table.optimize({ olderThan: '0d' })],
  ['OptimizeTable', (table) => table.optimize(odd({ mood: 'good' }))],
  ['CreateTableIndex', (table) => table.createIndex('')],
  ['CreateTableIndex', (table) => table.createIndex(odd(7))],
  ['CreateTableIndex', (table) => table.createIndex('id', odd({ type: 'TREE' }))],
  ['CreateTableIndex', (table) => table.createIndex('id', odd({ mood: 'good' }))],
  ['DescribeTableIndexStats', (table) => table.indexStats('')],
  ['DescribeTableIndexStats', (table) => table.indexStats(odd(undefined))],
  ['DropTableIndex', (table) => table.dropIndex('')],
  ['DropTableIndex', (table) => table.dropIndex(odd(7))],
  ['CreateTableTag', (table) => table.tags().create('a b', 1)],
  ['CreateTableTag', (table) => table.tags().create('x', 0)],
  ['UpdateTableTag', (table) => table.tags().update('', 1)],
  ['UpdateTableTag', (table) => table.tags().update('x', odd('1'))],
  ['GetTableTagVersion', (table) => table.tags().getVersion('')],
  ['DeleteTableTag', (table) => table.tags().delete(odd(7))],
  ['CreateTableBranch', (table) => table.branches().create('main')],
  ['CreateTableBranch', (table) => table.branches().create('x', { fromVersion: -1 })],
  ['DeleteTableBranch', (table) => table.branches().delete('')],
  ['AlterTableAddColumns', (table) => table.addColumns([])],
  ['AlterTableAddColumns', (table) => table.addColumns(odd(7))],
  ['AlterTableAddColumns', (table) => table.addColumns(odd([7]))],
  ['AlterTableAddColumns', (table) => table.addColumns([{ name: '', expression: '1' }])],
  ['AlterTableAddColumns', (table) => table.addColumns([{ name: 'x', expression: ' ' }])],
  ['AlterTableAddColumns', (table) => table.addColumns([{ name: 'a`b', expression: '1' }])],
  ['AlterTableAddColumns', (table) => table.addColumns([{ name: 'a.b', expression: '1' }])],
  ['AlterTableAddColumns', (table) => table.addColumns([{ name: 'x', dataType: odd(7) }])],
  ['UpdateFieldMetadata', (table) => table.updateFieldMetadata([])],
  ['UpdateFieldMetadata', (table) => table.updateFieldMetadata([{ path: 'id', metadata: odd({ a: 7 }) }])],
  ['AlterTableAlterColumns', (table) => table.alterColumns([])],
  ['AlterTableAlterColumns', (table) => table.alterColumns(odd(7))],
  ['AlterTableAlterColumns', (table) => table.alterColumns([{ path: 'id' }])],
  ['AlterTableAlterColumns', (table) => table.alterColumns([{ path: '', rename: 'x' }])],
  ['AlterTableAlterColumns', (table) => table.alterColumns([{ path: 'id', rename: 'a`b' }])],
  ['AlterTableAlterColumns', (table) => table.alterColumns([{ path: 'id', dataType: odd('no type') }])],
  ['AlterTableDropColumns', (table) => table.dropColumns([])],
  ['AlterTableDropColumns', (table) => table.dropColumns(odd('name'))],
  ['AlterTableDropColumns', (table) => table.dropColumns(odd([7]))],
];

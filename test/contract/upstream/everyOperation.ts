import type { Catalog } from '#catalog/catalog.ts';
import type { Operation } from '#catalog/contract.ts';
import type { Table } from '#catalog/table/table.ts';

/** The target of every call: the table `t` in the namespace `shop`, which earlier calls may have changed. */
export type Playground = { db: Catalog; table: Table };

const path = ['shop'];
const rows = [{ id: 1, name: 'mug' }];

/** Creates the namespace and the table for the calls. */
export async function makePlayground(db: Catalog): Promise<Playground> {
  await db.createNamespace(path);
  return { db, table: await db.createTable('t', rows, path) };
}

type Call = (on: Playground) => Promise<unknown>;

/** A call for each operation of a `Catalog` or a `Table`. Each call succeeds wherever its operation is supported. */
export const everyOperation: Partial<Record<Operation, Call>> = {
  CreateNamespace: ({ db }) => db.createNamespace(['made']),
  ListNamespaces: ({ db }) => db.listNamespaces(),
  DescribeNamespace: ({ db }) => db.describeNamespace(path),
  NamespaceExists: ({ db }) => db.namespaceExists(path),
  DropNamespace: async ({ db }) => {
    await db.createNamespace(['gone']);
    await db.dropNamespace(['gone']);
  },
  ListTables: ({ db }) => db.listTables(path),
  CreateTable: ({ db }) => db.createTable('made', rows, path),
  DeclareTable: ({ db }) => db.declareTable('declared', path),
  DescribeTable: ({ db }) => db.describeTable('t', path),
  TableExists: ({ db }) => db.tableExists('t', path),
  DropTable: async ({ db }) => {
    await db.createTable('gone', rows, path);
    await db.dropTable('gone', path);
  },
  RenameTable: async ({ db }) => {
    await db.createTable('before', rows, path);
    await db.renameTable('before', 'after', path);
  },
  DeregisterTable: async ({ db }) => {
    await db.createTable('forgotten', rows, path);
    await db.deregisterTable('forgotten', path);
  },
  RegisterTable: async ({ db }) => {
    await db.createTable('known', rows, path);
    const { location } = await db.deregisterTable('known', path);
    await db.registerTable('registered', location!.split('/').filter(Boolean).at(-1)!, path);
  },
  CountTableRows: ({ table }) => table.countRows(),
  QueryTable: ({ table }) => table.query().toArray(),
  InsertIntoTable: ({ table }) => table.add(rows),
  MergeInsertIntoTable: ({ table }) =>
    table
      .mergeInsert('id')
      .whenNotMatchedInsertAll()
      .execute([{ id: 7 }]),
  UpdateTable: ({ table }) => table.update({ where: 'id = 1', values: { name: 'cup' } }),
  DeleteFromTable: ({ table }) => table.delete('id = 99'),
  ListTableVersions: ({ table }) => table.listVersions(),
  RestoreTable: ({ table }) => table.restore(1),
  GetTableStats: ({ table }) => table.stats(),
  OptimizeTable: ({ table }) => table.optimize(),
  CreateTableIndex: ({ db }) => withVector(db),
  CreateTableScalarIndex: ({ table }) => table.createIndex('id', { type: 'BTREE', name: 'scalar' }),
  ListTableIndices: ({ table }) => table.listIndices(),
  DescribeTableIndexStats: async ({ table }) => {
    await table.createIndex('id', { type: 'BTREE', name: 'measured' });
    await table.indexStats('measured');
  },
  DropTableIndex: async ({ table }) => {
    await table.createIndex('id', { type: 'BTREE', name: 'gone' });
    await table.dropIndex('gone');
  },
  ListTableTags: ({ table }) => table.tags().list(),
  CreateTableTag: ({ table }) => table.tags().create('made', 1),
  GetTableTagVersion: async ({ table }) => {
    await table.tags().create('asked', 1);
    await table.tags().getVersion('asked');
  },
  UpdateTableTag: async ({ table }) => {
    await table.tags().create('moved', 1);
    await table.tags().update('moved', 1);
  },
  DeleteTableTag: async ({ table }) => {
    await table.tags().create('gone', 1);
    await table.tags().delete('gone');
  },
  ListTableBranches: ({ table }) => table.branches().list(),
  CreateTableBranch: ({ table }) => table.branches().create('made'),
  DeleteTableBranch: async ({ table }) => {
    await table.branches().create('gone');
    await table.branches().delete('gone');
  },
  ExplainTableQueryPlan: ({ table }) => table.query().explainPlan(),
  AnalyzeTableQueryPlan: ({ table }) => table.query().analyzePlan(),
  AlterTableAddColumns: ({ table }) => table.addColumns([{ name: 'added', expression: 'id + 1' }]),
  AlterTableAlterColumns: async ({ db }) => {
    const own = await db.createTable('altered', rows, path);
    await own.alterColumns([{ path: 'name', rename: 'title' }]);
  },
  AlterTableDropColumns: async ({ db }) => {
    const own = await db.createTable('narrowed', rows, path);
    await own.dropColumns(['name']);
  },
  AlterTableBackfillColumns: ({ table }) => table.backfillColumn('name'),
  UpdateFieldMetadata: ({ table }) => table.updateFieldMetadata([{ path: 'name', metadata: { language: 'en' } }]),
  UpdateTableSchemaMetadata: ({ table }) => table.updateSchemaMetadata({ owner: 'ada' }),
  ListJobs: ({ db }) => db.jobs.list(),
  DescribeJob: ({ db }) => db.jobs.describe('nobody-started-this'),
  CancelJob: ({ db }) => db.jobs.cancel('nobody-started-this'),
  QueryJobEvents: async ({ db }) => {
    for await (const batch of db.jobs.events('nobody-started-this')) void batch;
  },
};

async function withVector(db: Catalog): Promise<void> {
  const table = await db.createTable('vectors', [{ vector: [1, 2] }, { vector: [2, 1] }], path);
  await table.createIndex('vector', { type: 'IVF_FLAT', numPartitions: 1 });
}

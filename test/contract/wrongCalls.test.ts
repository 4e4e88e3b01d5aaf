import assert from 'node:assert/strict';
import type { Catalog } from '#catalog/catalog.ts';
import type { Operation } from '#catalog/contract.ts';
import { isCatalogError, messageOf } from '#shared/errors.ts';
import { forEachSubject } from './subjects.ts';
import { everyOperation } from './upstream/everyOperation.ts';
import { wrongCatalogCalls, wrongTableCalls } from './wrongCalls.ts';

type Told = { kind: string; operation: string | undefined; identifier: string | undefined };

/**
 * Returns the error of a call. A call that throws synchronously is reported as such, because callers only await the
 * result.
 */
async function toldBy(call: () => unknown): Promise<Told | string> {
  let promise: unknown;
  try {
    promise = call();
  } catch (error) {
    return `threw at once: ${messageOf(error)}`;
  }
  try {
    await promise;
    return 'nothing failed';
  } catch (error) {
    if (!isCatalogError(error)) return `no CatalogError: ${messageOf(error)}`;
    const { kind, operation, identifier } = error;
    return { kind, operation, identifier };
  }
}

/** Kinds of errors for invalid arguments. */
const wrongKinds: readonly string[] = ['InvalidInput', 'SchemaValidation'];

/** Returns the differences from the expected error, one per line. */
function differs(call: unknown, told: Told | string, operation: Operation, identifier: string | undefined): string[] {
  const isRight =
    typeof told === 'object' &&
    wrongKinds.includes(told.kind) &&
    told.operation === operation &&
    told.identifier === identifier;
  return isRight ? [] : [`${String(call)}: ${JSON.stringify(told)}`];
}

/** Operations whose only argument is the identifier, and those of jobs, which few servers support. */
const withoutArguments: readonly Operation[] = [
  'ListTableVersions',
  'GetTableStats',
  'ListTableIndices',
  'ListTableTags',
  'ListTableBranches',
  'ExplainTableQueryPlan',
  'AnalyzeTableQueryPlan',
  'CreateTableScalarIndex',
  'AlterTableBackfillColumns',
  'UpdateTableSchemaMetadata',
  'ListJobs',
  'DescribeJob',
  'CancelJob',
  'QueryJobEvents',
];

suite('The wrong calls', () => {
  test('are of every operation that takes an argument', () => {
    const covered = new Set<string>([...wrongCatalogCalls, ...wrongTableCalls].map(([operation]) => operation));
    const missing = Object.keys(everyOperation).filter((name) => !covered.has(name));
    assert.deepEqual(missing.toSorted(), withoutArguments.toSorted());
  });
});

forEachSubject('wrong arguments', (makeCatalog) => {
  let db: Catalog;
  setup(async () => {
    ({ db } = await makeCatalog());
    await db.createNamespace(['shop']);
    await db.createTable('t', [{ id: 1, name: 'mug' }], ['shop']);
  });

  test('of a catalog are refused with the operation and what it was asked of', async () => {
    const wrong: string[] = [];
    for (const [operation, identifier, call] of wrongCatalogCalls) {
      wrong.push(...differs(call, await toldBy(() => call(db)), operation, identifier));
    }
    assert.deepEqual(wrong, []);
    assert.deepEqual(await db.tableNames(['shop']), ['t']);
  });

  test('of a table are refused with the operation and the table, and change nothing', async () => {
    const table = await db.openTable('t', ['shop']);
    const version = await table.version();
    const wrong: string[] = [];
    for (const [operation, call] of wrongTableCalls) {
      wrong.push(...differs(call, await toldBy(() => call(table)), operation, 'shop/t'));
    }
    assert.deepEqual(wrong, []);
    assert.equal(await table.version(), version);
  });

  test('are no matter where the table is gone: every call says of which operation and table', async () => {
    const table = await db.openTable('t', ['shop']);
    await db.dropTable('t', ['shop']);
    const calls = {
      CountTableRows: () => table.countRows(),
      QueryTable: () => table.query().toArray(),
      ExplainTableQueryPlan: () => table.query().explainPlan(),
      InsertIntoTable: () => table.add([{ id: 2, name: 'cup' }]),
      MergeInsertIntoTable: () =>
        table
          .mergeInsert('id')
          .whenNotMatchedInsertAll()
          .execute([{ id: 2, name: 'cup' }]),
      UpdateTable: () => table.update({ values: { name: 'cup' } }),
      DeleteFromTable: () => table.delete('id = 1'),
      ListTableVersions: () => table.listVersions(),
      RestoreTable: () => table.restore(1),
      GetTableStats: () => table.stats(),
      OptimizeTable: () => table.optimize(),
      CreateTableIndex: () => table.createIndex('id'),
      ListTableIndices: () => table.listIndices(),
      DescribeTableIndexStats: () => table.indexStats('id_idx'),
      DropTableIndex: () => table.dropIndex('id_idx'),
      ListTableTags: () => table.tags().list(),
      ListTableBranches: () => table.branches().list(),
      AlterTableAddColumns: () => table.addColumns([{ name: 'x', expression: '1' }]),
      AlterTableAlterColumns: () => table.alterColumns([{ path: 'name', rename: 'title' }]),
      AlterTableDropColumns: () => table.dropColumns(['name']),
    } satisfies Partial<Record<Operation, () => unknown>>;
    const wrong: string[] = [];
    for (const [operation, call] of Object.entries(calls)) {
      const told = await toldBy(call);
      if (typeof told === 'object' && told.operation === operation && told.identifier === 'shop/t') continue;
      wrong.push(`${operation}: ${JSON.stringify(told)}`);
    }
    assert.deepEqual(wrong, []);
  });
});

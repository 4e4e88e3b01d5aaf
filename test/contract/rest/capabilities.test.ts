import assert from 'node:assert/strict';
import { type Operation, operations } from '#catalog/contract.ts';
import { isCatalogError } from '#shared/errors.ts';
import { fails } from '../expect.ts';
import { forEachSubject } from '../subjects.ts';
import { everyOperation, makePlayground } from '../upstream/everyOperation.ts';

const all = Object.keys(operations) as Operation[];
const offered = Object.keys(everyOperation) as Operation[];

forEachSubject('capabilities', (makeCatalog, subject) => {
  test('say something about every operation of the contract, and of no other', async () => {
    const { db } = await makeCatalog();
    const found = await db.capabilities();
    assert.deepEqual(Object.keys(found).toSorted(), all.toSorted());
    assert.ok(Object.values(found).every((one) => ['yes', 'no', 'unknown'].includes(one)));
  });

  test('are true: what is offered works, and what is not fails as unsupported', async () => {
    const { db } = await makeCatalog();
    const found = await db.capabilities({ probe: all });
    const on = await makePlayground(db);
    const wrong: string[] = [];
    for (const operation of offered) {
      const failure = await failureOf(() => everyOperation[operation]!(on));
      const said = found[operation];
      if (said === 'yes' && failure !== undefined) wrong.push(`${operation}: yes, but ${failure}`);
      if (said === 'no' && failure !== 'Unsupported') wrong.push(`${operation}: no, but ${failure ?? 'it works'}`);
      if (said !== 'no' && failure === 'Unsupported') {
        const later = (await db.capabilities())[operation];
        if (later !== 'no') wrong.push(`${operation}: ${later} after it failed as unsupported`);
      }
    }
    assert.deepEqual(wrong, []);
  });

  test('are learnt from what was done', async () => {
    const { db } = await makeCatalog();
    const on = await makePlayground(db);
    await on.table.countRows();
    const found = await db.capabilities();
    for (const operation of ['CreateNamespace', 'CreateTable', 'CountTableRows'] as const) {
      assert.equal(found[operation], 'yes', operation);
    }
  });

  test('are asked for without changing anything', async () => {
    const { db } = await makeCatalog();
    const { table } = await makePlayground(db);
    const before = await db.capabilities({ probe: all });
    assert.deepEqual((await db.listNamespaces()).namespaces, ['shop']);
    assert.deepEqual(await db.tableNames(), []);
    assert.deepEqual(await db.tableNames(['shop']), ['t']);
    assert.equal(await table.version(), 1);
    if (subject.id === 'dir') assert.ok(Object.values(before).every((one) => one !== 'unknown'));
    // The client sends no request to find out which changes a server supports.
    assert.equal(before.DropTable, subject.id === 'dir' ? 'yes' : 'unknown');
    assert.equal(before.CountTableRows, 'yes');
  });

  test('to probe must be operations', async () => {
    const { db } = await makeCatalog();
    await fails(() => db.capabilities({ probe: ['Frobnicate' as never] }), 'InvalidInput', 'Frobnicate');
  });
});

async function failureOf(call: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return isCatalogError(error) ? error.kind : String(error);
  }
}

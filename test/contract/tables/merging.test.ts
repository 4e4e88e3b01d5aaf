import assert from 'node:assert/strict';
import { fails } from '../expect.ts';
import { forEachSubject } from '../subjects.ts';
import { rows, sorted } from '../wares.ts';

forEachSubject('merging', (makeCatalog) => {
  test('merges: updates what matches, adds what does not', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const result = await table
      .mergeInsert('id')
      .whenMatchedUpdateAll()
      .whenNotMatchedInsertAll()
      .execute([
        { id: 2, name: 'lamp', price: 49 },
        { id: 4, name: 'plant', price: 15 },
      ]);
    assert.deepEqual(await sorted(table), [
      { id: 1, name: 'mug', price: 9.5 },
      { id: 2, name: 'lamp', price: 49 },
      { id: 3, name: 'chair', price: 120 },
      { id: 4, name: 'plant', price: 15 },
    ]);
    assert.equal(result.numUpdatedRows ?? 1, 1);
    assert.equal(result.numInsertedRows ?? 1, 1);
  });

  test('merges rows with some columns, and leaves the others of the table as they are', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const merge = table.mergeInsert('id').whenMatchedUpdateAll();
    await merge.execute([{ id: 2, price: 49 }]);
    await merge.whenNotMatchedInsertAll().execute([
      { id: 3, name: 'stool' },
      { id: 4, name: 'plant' },
    ]);
    assert.deepEqual(await sorted(table), [
      { id: 1, name: 'mug', price: 9.5 },
      { id: 2, name: 'lamp', price: 49 },
      { id: 3, name: 'stool', price: 120 },
      { id: 4, name: 'plant', price: null },
    ]);
    const uneven = [{ id: 1, price: 8 }, { id: 2 }];
    await fails(() => merge.execute(uneven), 'InvalidInput', 'Row 1', '"price"');
    await fails(() => merge.execute([{ price: 8 }]), 'InvalidInput', 'Row 0', '"id"');
  });

  test('merges with a condition, and deletes what the new rows no longer have', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table
      .mergeInsert(['id'])
      .whenMatchedUpdateAll({ where: 'source.price < target.price' })
      .whenNotMatchedBySourceDelete({ where: 'price > 100' })
      .execute([
        { id: 1, name: 'mug', price: 12 },
        { id: 2, name: 'lamp', price: 49 },
      ]);
    assert.deepEqual(await sorted(table), [
      { id: 1, name: 'mug', price: 9.5 },
      { id: 2, name: 'lamp', price: 49 },
    ]);
  });

  test('merges by several columns', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', [
      { id: 1, shop: 'eu', left: 5 },
      { id: 1, shop: 'us', left: 7 },
    ]);
    await table
      .mergeInsert(['id', 'shop'])
      .whenMatchedUpdateAll()
      .execute([{ id: 1, shop: 'us', left: 6 }]);
    assert.deepEqual(
      (await table.query().toArray()).map(({ shop, left }) => `${String(shop)} ${String(left)}`).toSorted(),
      ['eu 5', 'us 6'],
    );
  });

  test('refuses a merge that says nothing to do, or names no column', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await fails(() => table.mergeInsert('id').execute(rows), 'InvalidInput', 'no action');
    await fails(() => Promise.resolve().then(() => table.mergeInsert([])), 'InvalidInput', 'column');
  });

  test('refuses a condition whose column is not there, or on both sides', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', [{ id: 1, v: 'a' }]);
    const merge = (where: string) =>
      table
        .mergeInsert('id')
        .whenMatchedUpdateAll({ where })
        .execute([{ id: 1, v: 'b' }]);
    for (const where of ['target.nope = 1', 'source.nope = 1']) {
      await fails(() => merge(where), 'ColumnNotFound', 'has no column "nope"');
    }
    const error = await fails(() => merge("v = 'B'"), 'InvalidInput', '"t"', 'Write target.v', 'or source.v');
    assert.doesNotMatch(error.message, /GenericFailure|Failed to execute/);
    assert.deepEqual((await table.query().toArray())[0], { id: 1, v: 'a' });
  });

  test('refuses a merge by a column that is not there', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await fails(() => table.mergeInsert('nope').whenMatchedUpdateAll().execute(rows), 'ColumnNotFound', 'nope');
    assert.deepEqual(await sorted(table), await sorted(await db.createTable('u', rows)));
  });
});

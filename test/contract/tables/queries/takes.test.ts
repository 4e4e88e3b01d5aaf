import assert from 'node:assert/strict';
import { isCatalogError } from '#shared/errors.ts';
import { forEachSubject } from '../../subjects.ts';

const rows = (from: number) =>
  Array.from({ length: 20 }, (_, index) => ({
    id: from + index,
    name: `row ${from + index}`,
    tags: ['a', `${index}`],
  }));

forEachSubject('taking rows', (makeCatalog) => {
  const makeTable = async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows(0));
    await table.add(rows(20));
    await table.delete('id = 3');
    return table;
  };

  test('by their ids keeps the order, repeats rows and leaves out deleted ones', async () => {
    const table = await makeTable();
    const all = await table.query().withRowId().toArray();
    const idOf = (id: number) => BigInt(all.find((row) => Number(row['id']) === id)!['_rowid'] as bigint | number);
    const ids = [idOf(25), idOf(1), idOf(25), 2n ** 40n, idOf(4)];
    const taken = await table.takeRowIds(ids).toArray();
    assert.deepEqual(Object.keys(taken[0]), ['id', 'name', 'tags']);
    assert.deepEqual(
      taken.map(({ name }) => name),
      ['row 25', 'row 1', 'row 25', 'row 4'],
    );
    const narrow = await table.takeRowIds(ids).select(['name']).withRowId().toArray();
    assert.deepEqual(
      narrow.map((row) => [row['name'], BigInt(row['_rowid'] as bigint | number)]),
      [
        ['row 25', ids[0]],
        ['row 1', ids[1]],
        ['row 25', ids[0]],
        ['row 4', ids[4]],
      ],
    );
    const computed = await table.takeRowIds(ids.slice(0, 2)).select({ next: 'id + 1' }).toArray();
    assert.deepEqual(
      computed.map((row) => Object.entries(row).map(([name, value]) => [name, Number(value)])),
      [[['next', 26]], [['next', 2]]],
    );
  });

  test('by their positions skips deleted rows and ends with the table', async () => {
    const table = await makeTable();
    const taken = await table.takeOffsets([38, 3, 0, 3, 39, 100]).select(['name']).toArray();
    assert.deepEqual(
      taken.map((row) => row['name']),
      ['row 39', 'row 4', 'row 0', 'row 4'],
    );
    assert.equal((await table.takeOffsets([2]).withRowId().toArrow()).schema.fields.at(-1)?.name, '_rowid');
  });

  test('none still has the columns', async () => {
    const table = await makeTable();
    for (const query of [table.takeRowIds([]), table.takeOffsets([]), table.takeOffsets([1000])]) {
      const found = await query.select(['name']).toArrow();
      assert.equal(found.numRows, 0);
      assert.equal(String(found.schema), 'Schema<{ 0: name: Utf8 }>');
    }
    assert.equal(String(await table.takeRowIds([1]).select(['name']).outputSchema()), 'Schema<{ 0: name: Utf8 }>');
  });

  test('refuses what is not a row id or a position, or a filter', async () => {
    const table = await makeTable();
    for (const wrong of [-1, 1.5, '7', null, 2n ** 64n]) {
      assert.throws(
        () => table.takeRowIds([1, wrong as number]),
        (error) => isCatalogError(error, 'InvalidInput') && error.message.includes('at position 1 is not a row id'),
      );
    }
    assert.throws(() => table.takeOffsets(7 as never), /Expected a list for takeOffsets, got a number/);
    const narrowed = table.takeOffsets([1]) as unknown as ReturnType<typeof table.query>;
    await assert.rejects(() => narrowed.where('id = 1').toArray(), /can't be combined with the option filter/);
  });

  test('the schema of a query is known without its rows', async () => {
    const table = await makeTable();
    const schema = await table.query().select({ double: 'id * 2', name: 'name' }).withRowId().outputSchema();
    // Upstream's server returns the columns of a map in any order.
    const fields = schema.fields.map(String).toSorted((a, b) => a.localeCompare(b));
    assert.deepEqual(fields, ['_rowid: Uint64', 'double: Float64', 'name: Utf8']);
  });
});

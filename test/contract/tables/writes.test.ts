import assert from 'node:assert/strict';
import {
  DateDay,
  Field,
  FixedSizeList,
  Float16,
  Float32,
  Int64,
  Int8,
  makeVector,
  type RecordBatch,
  Schema,
  Table,
  TimestampSecond,
} from '#arrow';
import { fails } from '../expect.ts';
import { forEachSubject } from '../subjects.ts';
import { rows, sorted } from '../wares.ts';

const numbers = (from: number, count: number): RecordBatch =>
  new Table({ id: makeVector(BigInt64Array.from({ length: count }, (_, row) => BigInt(from + row))) }).batches[0]!;

forEachSubject('writing', (makeCatalog) => {
  test('takes rows that fit and refuses those that do not', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.add([{ id: 4 }]);
    assert.deepEqual(await table.query().where('id = 4').toArray(), [{ id: 4, name: null, price: null }]);
    await fails(() => table.add([{ id: 'five' }]), 'SchemaValidation', 'id', 'row 0');
    await fails(() => table.add([{ colour: 'red' }]), 'SchemaValidation', 'colour');
    assert.equal(await table.countRows(), 4);
  });

  test('adds rows as a new version, and says which and how many', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const before = await table.version();
    const { version, numInsertedRows } = await table.add([{ id: 4 }, { id: 5 }]);
    assert.equal(await table.version(), before + 1);
    assert.equal(version ?? before + 1, before + 1);
    assert.equal(numInsertedRows ?? 2, 2);
  });

  test('adds no rows, which changes nothing', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.add([]);
    assert.equal(await table.countRows(), 3);
  });

  test('adds an Arrow table whose columns come in another order', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', [{ id: 1n, price: 2.5 }]);
    await table.add(new Table({ price: makeVector(Float64Array.of(3.5)), id: makeVector(BigInt64Array.of(2n)) }));
    assert.deepEqual(await sorted(table), [
      { id: 1, price: 2.5 },
      { id: 2, price: 3.5 },
    ]);
  });

  test('adds batches as they come in one version', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', new Table([numbers(0, 10)]));
    const before = await table.version();
    await table.add(
      (async function* () {
        for (let batch = 0; batch < 20; batch++) {
          await new Promise((resolve) => setImmediate(resolve));
          yield numbers(10 + batch * 1000, 1000);
        }
      })(),
    );
    const ids = (await table.toArrow()).getChild('id')!.toArray() as BigInt64Array;
    assert.deepEqual(
      [...ids].map(Number).toSorted((a, b) => a - b),
      Array.from({ length: 20_010 }, (_, id) => id),
    );
    assert.equal(await table.version(), before + 1);
  });

  test('adds nothing of a stream that fails', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', new Table([numbers(0, 10)]));
    const failing = (async function* () {
      for (let batch = 0; batch < 5; batch++) {
        await new Promise((resolve) => setImmediate(resolve));
        yield numbers(batch * 1000, 1000);
      }
      throw new Error('the source is gone');
    })();
    await assert.rejects(() => table.add(failing), /the source is gone/);
    assert.equal(await table.countRows(), 10);
    await table.add(new Table([numbers(10, 1)]));
    assert.equal(await table.countRows(), 11);
  });

  test('puts rows in the place of all rows with overwrite', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.add([{ id: 9, name: 'desk', price: 200 }], { mode: 'overwrite' });
    assert.deepEqual(await table.query().toArray(), [{ id: 9, name: 'desk', price: 200 }]);
    await fails(() => table.add([{ id: 9 }], { mode: 'replace' as never }), 'InvalidInput', 'replace');
  });

  test('updates by plain values, whatever they hold', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', [
      { id: 1, name: 'a', on: true, at: new Date(0) },
      { id: 2, name: 'b', on: true, at: new Date(0) },
    ]);
    const at = new Date('2024-02-29T12:34:56.789Z');
    const name = `it's "quoted" \\ -- ; drop`;
    await table.update({ where: 'id = 2', values: { name, on: false, at } });
    const found = await table.query().where('id = 2').toArray();
    assert.equal(found[0]?.['name'], name);
    assert.equal(found[0]?.['on'], false);
    assert.equal(await table.countRows(`at = timestamp '2024-02-29 12:34:56.789'`), 1);
    assert.equal(await table.countRows(`name = 'a' AND on`), 1);
  });

  test('refuses values that their column would hold as others', async () => {
    const { db } = await makeCatalog();
    const types = {
      v: new FixedSizeList(3, new Field('item', new Float32(), true)),
      half: new Float16(),
      small: new Int8(),
      second: new TimestampSecond(),
      day: new DateDay(),
    };
    const fields = Object.entries(types).map(([name, type]) => new Field(name, type, true));
    const table = await db.createTable('t', [{ v: [1, 2, 3] }], { schema: new Schema(fields) });
    const misfit = (values: Record<string, unknown>, ...words: string[]) =>
      fails(() => table.update({ values }), 'SchemaValidation', ...words);
    await misfit({ v: [9, 9] }, '"v" has 2 elements', 'Pass 3 elements');
    await misfit({ half: 1e6 }, '"half" is 1000000', 'Float16');
    await misfit({ small: 300 }, '"small" is 300', 'Int8');
    await misfit({ second: new Date(1500) }, '"second" is not a whole second');
    await misfit({ day: new Date(1500) }, '"day" is not midnight');
    await table.update({ values: { v: [9, 9, 9], half: 2.5, second: new Date(2000) } });
    assert.equal(await table.countRows('second is not null and half is not null'), 1);
  });

  test('updates by SQL over the row, and says how many rows', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const { numUpdatedRows } = await table.update({ valuesSql: { price: 'price * 2' } });
    assert.equal(numUpdatedRows ?? 3, 3);
    assert.deepEqual(
      (await sorted(table)).map((row) => (row as { price: number }).price),
      [19, 118, 240],
    );
  });

  test('refuses an update of nothing, or by what it can not read', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await fails(() => table.update({}), 'InvalidInput');
    await fails(() => table.update({ where: '', values: { price: 1 } }), 'InvalidInput', 'empty');
    const unset = 'The filter is undefined, not a string';
    await fails(() => table.update({ where: undefined, values: { price: 1 } }), 'InvalidInput', unset);
    await fails(() => table.update({ price: '1' }, { where: undefined }), 'InvalidInput', unset);
    await fails(() => table.update({ where: null as never, values: { price: 1 } }), 'InvalidInput', 'null');
    await fails(() => table.update({ values: { price: Number.NaN } }), 'InvalidInput', 'price');
    await fails(() => table.update({ values: { price: 1 }, valuesSql: { price: '2' } }), 'InvalidInput', 'price');
    assert.equal(await table.version(), 1);
  });

  test('says what is wrong with the filter and the columns of an update', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await fails(() => table.update({ valuesSql: { colour: '1' } }), 'ColumnNotFound', 'colour');
    await fails(() => table.update({ where: 'id >', values: { price: 1 } }), 'InvalidInput', 'id >');
    assert.equal(await table.version(), 1);
  });

  test('updates to null', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.update({ where: 'id = 1', values: { name: null } });
    assert.equal(await table.countRows('name is null'), 1);
  });

  test('deletes by a filter as a new version', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const before = await table.version();
    const { version } = await table.delete('price > 50');
    assert.equal(version ?? before + 1, before + 1);
    assert.deepEqual(await table.query().select(['id']).toArray(), [{ id: 1 }]);
    await fails(() => table.delete(''), 'InvalidInput', 'empty');
    assert.equal(await table.countRows(), 1);
  });

  test('does not change a table opened at a version', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.add([{ id: 4 }]);
    const old = await db.openTable('t', { version: 1 });
    const writes: readonly (() => Promise<unknown>)[] = [
      () => old.add([{ id: 5 }]),
      () => old.delete('id = 1'),
      () => old.update({ values: { price: 0 } }),
      () => old.mergeInsert('id').whenMatchedUpdateAll().execute(rows),
      () => old.createIndex('id', { type: 'BTREE' }),
      () => old.addColumns([{ name: 'double', expression: 'price * 2' }]),
      () => old.alterColumns([{ path: 'name', rename: 'title' }]),
      () => old.dropColumns(['name']),
    ];
    for (const write of writes) await fails(write, 'InvalidInput', '"t"', '1');
    assert.equal(await table.version(), 2);
    assert.equal(await table.countRows(), 4);
  });

  test('follows a schema with columns that may not be null', async () => {
    const { db } = await makeCatalog();
    const schema = new Schema([new Field('id', new Int64(), false), new Field('score', new Float32(), true)]);
    const table = await db.createEmptyTable('t', schema);
    await table.add([{ id: 1, score: 0.5 }]);
    await fails(() => table.add([{ score: 1 }]), 'SchemaValidation', 'id');
    await fails(() => table.add(new Table({ score: makeVector(Float32Array.of(1)) })), 'SchemaValidation', 'id');
    assert.equal(await table.countRows(), 1);
  });
});

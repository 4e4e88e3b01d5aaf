import assert from 'node:assert/strict';
import { Table, makeVector } from '#arrow';
import { isAbort, type CatalogErrorKind } from '#shared/errors.ts';
import { fails } from './expect.ts';
import { forEachSubject } from './subjects.ts';

const rows = Array.from({ length: 100 }, (_, index) => ({
  id: index,
  name: `row ${index}`,
  vector: [Math.cos(index / 20), Math.sin(index / 20), index % 2],
}));

const count = 200_000;
const large = (): Table =>
  new Table({
    id: makeVector(BigInt64Array.from({ length: count }, (_, row) => BigInt(row))),
    third: makeVector(Float64Array.from({ length: count }, (_, row) => row / 3)),
  });

forEachSubject('queries', (makeCatalog) => {
  test('narrow by columns, filter, limit and offset', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const found = await table
      .query()
      .where('id >= 10')
      .where('id < 20')
      .select(['name', 'id'])
      .offset(2)
      .limit(3)
      .toArray();
    assert.deepEqual(found, [
      { name: 'row 12', id: 12n },
      { name: 'row 13', id: 13n },
      { name: 'row 14', id: 14n },
    ]);
  });

  test('without a row still have a schema', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    for (const query of [table.query().limit(0), table.query().where('id < 0')]) {
      const found = await query.select(['name', 'vector']).toArrow();
      assert.equal(found.numRows, 0);
      assert.equal(String(found.schema), 'Schema<{ 0: name: Utf8, 1: vector: FixedSizeList[3]<Float32> }>');
    }
  });

  test('count with and without a filter', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    assert.equal(await table.countRows(), 100);
    assert.equal(await table.countRows("name = 'row 7' OR id > 97"), 3);
  });

  test('find the nearest rows of a vector, nearest first', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const near = await table.vectorSearch([1, 0, 0]).select(['id']).limit(3).toArray();
    assert.deepEqual(
      near.map(({ id }) => id),
      [0n, 2n, 4n],
    );
    assert.equal(near[0]?.['_distance'], 0);
    const ten = await table
      .vectorSearch(Float32Array.of(1, 0, 0), { column: 'vector', distanceType: 'cosine' })
      .toArrow();
    assert.equal(ten.numRows, 10);
    const filtered = await table.vectorSearch([1, 0, 0]).where('id > 50').limit(1).toArray();
    assert.ok((filtered[0]?.['id'] as bigint) > 50n);
  });

  test('that are wrong say what is wrong', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await fails(() => table.query().where('colour = 1').toArrow(), 'ColumnNotFound', 'colour', 'name');
    await fails(() => table.query().select(['colour']).toArrow(), 'ColumnNotFound', 'colour');
    await fails(() => table.countRows('id >'), 'InvalidInput', 'id >');
    await fails(() => table.delete('colour = 1'), 'ColumnNotFound', 'colour');
    await fails(() => table.vectorSearch([1, 2]).toArrow(), 'InvalidInput', '2');
    await fails(() => Promise.resolve().then(() => table.query().limit(-1)), 'InvalidInput', '-1');
  });

  test('by a vector of another length name the columns of vectors and their lengths', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await fails(() => table.vectorSearch([1, 2]).toArrow(), 'InvalidInput', 'of 2 numbers.', '"vector" of 3 numbers');
    const searched = table.vectorSearch([1, 2], { column: 'vector' });
    await fails(() => searched.toArrow(), 'InvalidInput', '"vector" holds vectors of 3 numbers, not 2');
    const other = table.vectorSearch([1, 2, 3], { column: 'id' });
    await fails(() => other.toArrow(), 'InvalidInput', 'no vectors', '"vector" of 3 numbers');
    const plain = await db.createTable('plain', [{ id: 1 }]);
    await fails(() => plain.vectorSearch([1, 2]).toArrow(), 'InvalidInput', 'of 2 numbers.', 'None of its columns');
  });

  test('with a wrong filter show it and say what to write, in every call', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', [{ id: 1, name: 'mug', at: new Date(0) }]);
    const wrong: readonly [string, CatalogErrorKind, ...string[]][] = [
      ['id = 1 && id = 2', 'Unsupported', '&&', 'Write AND / OR'],
      ['id = 1 || id = 2', 'InvalidInput', '||', 'Write AND / OR'],
      ['id == = 1', 'InvalidInput', `The filter "id == = 1" can't be parsed`, 'for instance'],
      [`name = 'it's'`, 'InvalidInput', `The filter "name = 'it's'" can't be parsed`],
      ['', 'InvalidInput', 'The filter is empty.'],
      ['name = "mug"', 'ColumnNotFound', `Text takes single quotes: 'mug'`],
      ["at > '2023-01-01'", 'InvalidInput', "timestamp '2023-01-01 00:00:00'"],
      ['idd = 1', 'ColumnNotFound', 'no column "idd". It has: id, name, at.'],
      ['length(nam) = 1', 'ColumnNotFound', 'no column "nam". It has: id, name, at.'],
    ];
    for (const [filter, kind, ...words] of wrong) {
      await fails(async () => table.query().where(filter).toArrow(), kind, ...words);
      await fails(() => table.countRows(filter), kind, ...words);
      await fails(() => table.delete(filter), kind, ...words);
    }
    assert.equal(await table.countRows("at < timestamp '2023-01-01 00:00:00'"), 1);
  });

  test('that are wrong are told as such whatever words they search for', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    for (const word of ['magic', 'corrupt', 'concurrent', 'Not supported', 'Permission denied', '__manifest/data']) {
      for (const filter of [`name == = '${word}'`, `id = '${word}'`, `'${word}'`, `name like 1 escape '${word}'`]) {
        await fails(() => table.query().where(filter).toArrow(), 'InvalidInput', '"t"');
        await fails(() => table.countRows(filter), 'InvalidInput', '"t"');
      }
    }
    await fails(() => table.countRows('corrupt(name) = 1'), 'InvalidInput', 'corrupt');
    await fails(() => table.delete('concurrent(name) = 1'), 'InvalidInput', 'concurrent');
    await fails(() => table.vectorSearch([1, 0, 0], { column: 'corrupt' }).toArrow(), 'ColumnNotFound', 'corrupt');
  });

  test('stream every row of a large table, in order and unchanged', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('large', large());
    let next = 0;
    for await (const batch of table.query()) {
      const ids = batch.getChild('id')!.toArray() as BigInt64Array;
      const thirds = batch.getChild('third')!.toArray() as Float64Array;
      for (let row = 0; row < batch.numRows; row++, next++) {
        if (ids[row] !== BigInt(next) || thirds[row] !== next / 3)
          assert.fail(`row ${next} is ${ids[row]}, ${thirds[row]}`);
      }
    }
    assert.equal(next, count);
  });

  test('stop when nobody reads on, and the table stays usable', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('large', large());
    for (let round = 0; round < 20; round++) {
      for await (const batch of table.query()) {
        assert.ok(batch.numRows > 0);
        break;
      }
    }
    assert.equal(await table.countRows(), count);
  });

  test('end with an abort while they stream', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('large', large());
    const abort = new AbortController();
    const { batches } = await table.query().execute({ signal: abort.signal });
    await assert.rejects(async () => {
      for await (const batch of batches) {
        assert.ok(batch.numRows > 0);
        abort.abort();
      }
    }, isAbort);
    await assert.rejects(() => table.countRows(undefined, { signal: AbortSignal.abort() }), isAbort);
    assert.equal(await table.countRows(), count);
  });

  test('end with the reason of an abort, whatever it is', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('large', large());
    const reasons: unknown[] = [new DOMException('Too late.', 'TimeoutError'), new RangeError('mine'), 'a text'];
    for (const reason of reasons) {
      const thrown = async (work: (signal: AbortSignal) => Promise<unknown>): Promise<unknown> => {
        const abort = new AbortController();
        const working = work(abort.signal).then(
          () => 'nothing was thrown',
          (error: unknown) => error,
        );
        setImmediate(() => abort.abort(reason));
        return working;
      };
      assert.equal(await thrown((signal) => table.toArrow({ signal })), reason);
      assert.equal(await thrown((signal) => table.countRows('third > 1 AND third * id < 5', { signal })), reason);
      assert.equal(await thrown((signal) => db.describeTable('large', { signal })), reason);
    }
    assert.equal(await table.countRows(), count);
  });

  test('give exact types back', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('large', large());
    const schema = await table.schema();
    assert.equal(String(schema), 'Schema<{ 0: id: Int64, 1: third: Float64 }>');
  });

  test('are read as often as asked, many at once', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const query = table.query().where('id < 50');
    const all = await Promise.all(Array.from({ length: 40 }, () => query.toArrow()));
    assert.ok(all.every((one) => one.numRows === 50));
  });
});

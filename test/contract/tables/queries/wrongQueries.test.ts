import assert from 'node:assert/strict';
import type { CatalogErrorKind } from '#shared/errors.ts';
import { fails } from '../../expect.ts';
import { forEachSubject } from '../../subjects.ts';

const rows = Array.from({ length: 100 }, (_, index) => ({ id: index, name: `row ${index}`, vector: [index, 1, 0] }));

forEachSubject('wrong queries', (makeCatalog, subject) => {
  test('that are wrong say what is wrong', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await fails(() => table.query().where('colour = 1').toArrow(), 'ColumnNotFound', 'colour');
    await fails(() => table.query().select(['colour']).toArrow(), 'ColumnNotFound', 'colour');
    await fails(() => table.query().select({ a: 'colour' }).toArrow(), 'ColumnNotFound', 'colour');
    await fails(() => table.query().where('colour = 1').explainPlan(), 'ColumnNotFound', 'colour');
    await fails(() => table.countRows('id >'), 'InvalidInput', 'id >');
    await fails(() => table.delete('colour = 1'), 'ColumnNotFound', 'colour');
    await fails(() => table.vectorSearch([1, 2]).toArrow(), 'InvalidInput', '2');
  });

  test('by a column that is not there do not sort', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await fails(() => table.query().orderBy('colour').toArrow(), 'ColumnNotFound', 'colour');
  });

  test('in numbers of rows are refused before anything is asked', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await fails(async () => table.query().limit(-1), 'InvalidInput', '-1');
    await fails(async () => table.query().limit(1.5), 'InvalidInput', '1.5');
    await fails(async () => table.query().offset(Number.NaN), 'InvalidInput', 'NaN');
    await fails(async () => table.vectorSearch([1, Number.NaN, 0]), 'InvalidInput', 'position 1');
    await fails(async () => table.vectorSearch([]), 'InvalidInput', 'empty');
    await fails(async () => table.fullTextSearch(' '), 'InvalidInput', 'empty');
  });

  test('with text after a semicolon are refused, because the engine would ignore the text', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const filter = "id = 1; AND name = 'x'";
    const said = 'has text after a semicolon';
    await fails(() => table.delete(filter), 'InvalidInput', said, filter);
    await fails(() => table.update({ where: filter, values: { id: 7 } }), 'InvalidInput', said);
    await fails(() => table.countRows(filter), 'InvalidInput', said);
    await fails(async () => table.query().where(filter), 'InvalidInput', said);
    assert.equal(await table.countRows("name = 'row; 1' OR id = 1; -- ; comment"), 1);
    assert.equal(await table.version(), 1);
  });

  test('are mistakes of the caller', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await fails(() => table.vectorSearch([1, 2]).toArrow(), 'InvalidInput', '2');
    await fails(() => table.query().where("name == = 'x'").toArrow(), 'InvalidInput', 'name');
  });

  // The messages below are of our own engine, so skip them for upstream's server.
  if (subject.id === 'upstream') return;

  test('with text after a semicolon in SQL are refused too', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const said = 'has text after a semicolon';
    await fails(() => table.update({ valuesSql: { id: '7; 8' } }), 'InvalidInput', said);
    await fails(() => table.addColumns([{ name: 'b', valueSql: 'id; 8' }]), 'InvalidInput', said);
    await fails(() => table.query().select({ b: 'id; 8' }).toArray(), 'InvalidInput', said);
    assert.equal(await table.version(), 1);
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
      ['name = "mug"', 'ColumnNotFound', `Put strings in single quotes: 'mug'`],
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

  test('that are invalid are reported as such for any search terms', async () => {
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

  test('that are a part of a condition, or none, are refused wherever they are given', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    for (const where of ['id = 1) OR (true', 'id + 1']) {
      await fails(async () => table.query().where(where).toArrow(), 'InvalidInput');
      await fails(() => table.countRows(where), 'InvalidInput');
      await fails(() => table.delete(where), 'InvalidInput');
      await fails(() => table.update({ where, values: { id: 3 } }), 'InvalidInput');
    }
    assert.equal(await table.countRows(), rows.length);
  });
});

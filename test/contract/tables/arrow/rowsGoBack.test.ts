import assert from 'node:assert/strict';
import { type Data, type FixedSizeList, type Float32, makeData } from '#arrow';
import type { Table } from '#catalog/table/table.ts';
import { Random } from '../../model/random.ts';
import { forEachSubject } from '../../subjects.ts';
import { nestedTypes, plainTypes, randomData, tableOfColumns, tableTexts, textDictionary } from './randomColumns.ts';

const rows = 30;

/** A column of every type that tables store, and a key. */
function everyColumn(seed: number): Record<string, Data> {
  const random = new Random(seed);
  // The engine refuses NaN in vectors.
  const numbers = Float32Array.from({ length: 3 * rows }, () => random.pick([0, -0, 0.1, 1e-40, 3e38, -1.5]));
  const vector = makeData({
    type: nestedTypes['fixed_list']!(plainTypes['float']!) as FixedSizeList,
    length: rows,
    nullCount: 0,
    child: makeData({ type: plainTypes['float'] as Float32, length: 3 * rows, data: numbers }),
  });
  const of = (type: Data['type']): Data => randomData(random, type, rows);
  const columns = Object.entries(plainTypes).map(([name, type]): [string, Data] => [name, of(type)]);
  for (const [name, nest] of Object.entries(nestedTypes))
    for (const inner of ['int64', 'timestamp_2', 'decimal', 'int8'])
      columns.push([`${name}_${inner}`, of(nest(plainTypes[inner]!))]);
  const key = randomData(random, plainTypes['int32']!, rows, { nulls: 0 });
  (key.values as Int32Array).forEach((_, index, values) => (values[index] = index));
  return { key, vector, ...Object.fromEntries(columns), dictionary: of(textDictionary()) };
}

/** Returns the texts of all values, each column in the order of the keys. */
async function readTexts(table: Table): Promise<Record<string, string[]>> {
  const rowsOfTable = await table.query().toArrow();
  const keys = Array.from(rowsOfTable.getChild('key')!, Number);
  return Object.fromEntries(
    Object.entries(tableTexts(rowsOfTable)).map(([name, texts]) => [
      name,
      keys.map((_, key) => texts[keys.indexOf(key)]!),
    ]),
  );
}

forEachSubject('rows of every type', (makeCatalog) => {
  test('can be added again and are the same', async function () {
    this.timeout(60_000);
    const { db } = await makeCatalog();
    for (const seed of [1, 2]) {
      const given = tableOfColumns(everyColumn(seed));
      const table = await db.createTable(`from_${seed}`, given);
      for (const int64 of ['number', 'bigint'] as const) {
        const copy = await db.createEmptyTable(`to_${seed}_${int64}`, given.schema);
        await copy.add(await table.query().toArray({ int64 }));
        assert.deepEqual(await readTexts(copy), tableTexts(given));
      }
    }
  });

  test('can be merged again and are the same', async function () {
    this.timeout(60_000);
    const { db } = await makeCatalog();
    const given = tableOfColumns(everyColumn(3));
    const [table, other] = [
      await db.createTable('t', given),
      await db.createTable('o', tableOfColumns(everyColumn(4))),
    ];
    await other
      .mergeInsert('key')
      .whenMatchedUpdateAll()
      .execute(await table.query().toArray());
    assert.deepEqual(await readTexts(other), tableTexts(given));
  });

  test('have vectors to search by', async () => {
    const { db } = await makeCatalog();
    const vectors = [0, 1, 2].map((id) => ({ id, vector: Float32Array.of(id, 0.1, -id) }));
    const table = await db.createTable('t', vectors);
    const [row] = await table.query().where('id = 1').toArray();
    const [found] = await table.query().nearestTo(row?.['vector']).limit(1).toArray();
    assert.equal(found?.['id'], 1);
  });
});

import assert from 'node:assert/strict';
import { type DataType, Table } from '#arrow';
import { inferRows } from '#catalog/arrow/inferRows.ts';
import { readRows } from '#catalog/arrow/rowValues.ts';
import { schemaText } from '#shared/arrow/arrowTypes.ts';
import { Random } from '../../../contract/model/random.ts';
import {
  nestedTypes,
  plainTypes,
  randomData,
  splitTable,
  tableOfColumns,
  tableTexts,
  textDictionary,
} from '../../../contract/tables/arrow/randomColumns.ts';

const seeds = 12;
const rows = 40;

/** Every type, and every type within every nested type, and lists of structs of lists. */
const types = new Map<string, () => DataType>([
  ...Object.entries(plainTypes).map(([name, type]): [string, () => DataType] => [name, () => type]),
  ['dictionary', textDictionary],
  ...Object.entries(nestedTypes).flatMap(([outer, nest]) =>
    Object.entries(plainTypes).map(([name, type]): [string, () => DataType] => [`${outer}<${name}>`, () => nest(type)]),
  ),
  ['deep', () => nestedTypes['list']!(nestedTypes['struct']!(nestedTypes['map']!(plainTypes['timestamp_3']!)))],
]);

suite('Rows of every type', () => {
  for (const [name, type] of types) {
    test(`give the same values when they are converted back: ${name}`, () => {
      for (let seed = 1; seed <= seeds; seed++) {
        const random = new Random(seed);
        const table = splitTable(
          tableOfColumns({ x: randomData(random, type(), rows, { nulls: random.pick([0, 0.3]) }) }),
        );
        for (const int64 of ['number', 'bigint'] as const) {
          const back = inferRows(readRows(table, { int64 }), table.schema);
          assert.equal(schemaText(back.schema), schemaText(table.schema));
          assert.deepEqual(tableTexts(back), tableTexts(table), `seed ${seed}, int64 ${int64}`);
        }
        assert.equal(typeof JSON.stringify(readRows(table)), 'string');
      }
    });
  }

  test('give the same values when Arrow makes the rows', () => {
    for (const [name, type] of types) {
      const table = splitTable(tableOfColumns({ x: randomData(new Random(3), type(), rows) }));
      assert.deepEqual(tableTexts(inferRows(table.toArray(), table.schema)), tableTexts(table), name);
    }
  });

  test('give the same values with the lists, structs and maps that Arrow makes', () => {
    for (const [name, type] of types) {
      if (!name.includes('<') && name !== 'deep') continue;
      const table = splitTable(tableOfColumns({ x: randomData(new Random(5), type(), rows) }));
      const given = table.toArray().map((row) => row.toJSON());
      assert.deepEqual(tableTexts(inferRows(given, table.schema)), tableTexts(table), name);
    }
  });
});

suite('Rows of a part of a table', () => {
  test('have the values of the part', () => {
    for (const [name, type] of types) {
      const { schema, batches } = splitTable(tableOfColumns({ x: randomData(new Random(7), type(), rows) }));
      const part = new Table(schema, [batches[1]!.slice(3, 17)]);
      assert.deepEqual(readRows(part), readRows(new Table(schema, batches)).slice(13 + 3, 13 + 17), name);
    }
  });
});

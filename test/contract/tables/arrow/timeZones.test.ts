import assert from 'node:assert/strict';
import {
  Field,
  Int32,
  List,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  TimestampMicrosecond,
  type DataType,
} from '#arrow';
import { fails } from '../../expect.ts';
import { forEachOfOurs } from '../../subjects.ts';

// The engine panics when it reads a stored type whose time zone has a colon.

const hint = '"Europe/Berlin"';
const at = (zone: string): DataType => new TimestampMicrosecond(zone);

const schemaOf = (type: DataType): Schema =>
  new Schema([new Field('id', new Int32(), true), new Field('at', type, true)]);

function rowsOf(zone: string): Table {
  const schema = schemaOf(at(zone));
  const children = [
    makeData({ type: new Int32(), data: Int32Array.of(1, 2) }),
    makeData({ type: new TimestampMicrosecond(zone), data: BigInt64Array.of(0n, 3_600_000_000n) }),
  ];
  return new Table(schema, [
    new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length: 2, children })),
  ]);
}

forEachOfOurs('time zones', (makeCatalog, subject) => {
  test('with a name and without a colon are stored', async () => {
    const { db } = await makeCatalog();
    for (const [index, zone] of ['UTC', 'Europe/Berlin', '+0200', '-03'].entries()) {
      const table = await db.createTable(`t${index}`, rowsOf(zone));
      assert.equal(String((await table.schema()).fields[1]!.type), `Timestamp<MICROSECOND, ${zone}>`);
      const times = (await table.query().toArray()).map((row) => Number(row['at']));
      assert.deepEqual(times, [0, 3_600_000]);
    }
  });

  test('that the engine can not store are refused by name in each write', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rowsOf('UTC'));
    const zone = '+02:00';
    const rows = rowsOf(zone);
    const said = [`"at" has the time zone "${zone}"`, hint] as const;
    async function* batches() {
      yield* rows.batches;
    }
    await fails(() => db.createTable('u', rows), 'InvalidInput', ...said);
    await fails(() => db.createTable('u', batches()), 'InvalidInput', ...said);
    await fails(() => db.createTable('u', [{ id: 1 }], { schema: rows.schema }), 'InvalidInput', ...said);
    await fails(() => db.createEmptyTable('u', rows.schema), 'InvalidInput', ...said);
    await fails(() => db.createTable('t', rows, { mode: 'overwrite' }), 'InvalidInput', ...said);
    await fails(() => table.add(rows, { mode: 'overwrite' }), 'InvalidInput', ...said);
    await fails(() => table.add(batches(), { mode: 'overwrite' }), 'InvalidInput', ...said);
    const merge = () => table.mergeInsert('id').whenMatchedUpdateAll().whenNotMatchedInsertAll();
    await fails(() => merge().execute(rows), 'InvalidInput', ...said);
    const column = ['"c" has the time zone "+02:00"', hint] as const;
    await fails(() => table.addColumns([{ name: 'c', dataType: at(zone) }]), 'InvalidInput', ...column);
    await fails(() => table.addColumns(new Schema([new Field('c', at(zone), true)])), 'InvalidInput', ...column);
    for (const valueSql of [
      `arrow_cast(NULL, 'Timestamp(Microsecond, Some("${zone}"))')`,
      `arrow_cast(at, 'Timestamp(Microsecond, Some("${zone}"))')`,
    ])
      await fails(() => table.addColumns([{ name: 'c', valueSql }]), 'InvalidInput', ...column);
    const alter = () => table.alterColumns([{ path: 'at', dataType: at(zone) }]);
    // A request can't name a type with a time zone at all.
    if (subject.id === 'dir') await fails(alter, 'InvalidInput', ...said);
    else await fails(alter, 'Unsupported', zone);
    assert.deepEqual((await db.listTables()).tables, ['t']);
    assert.equal(await table.countRows(), 2);
    assert.equal(String((await table.schema()).fields.map(({ name }) => name)), 'id,at');
  });

  test('in a part of a column are refused with its path', async () => {
    const { db } = await makeCatalog();
    for (const [path, type] of [
      ['at[]', new List(new Field('item', at('-05:30'), true))],
      ['at.end', new Struct([new Field('end', at('-05:30'), true)])],
    ] as const)
      await fails(() => db.createEmptyTable('t', schemaOf(type)), 'InvalidInput', `"${path}"`, '"-05:30"', hint);
    assert.deepEqual((await db.listTables()).tables, []);
  });

  test('may be any in an expression for a column without one', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rowsOf('UTC'));
    const valueSql = `date_part('hour', arrow_cast(at, 'Timestamp(Microsecond, Some("+02:00"))'))`;
    await table.addColumns([{ name: 'hour', valueSql }]);
    assert.deepEqual(
      (await table.query().toArray()).map((row) => Number(row['hour'])),
      [2, 3],
    );
  });

  test('of added rows become that of the column', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rowsOf('Europe/Berlin'));
    await table.add(rowsOf('+02:00'));
    const times = (await table.query().toArray()).map((row) => Number(row['at']));
    assert.deepEqual(times, [0, 3_600_000, 0, 3_600_000]);
    assert.equal(String((await table.schema()).fields[1]!.type), 'Timestamp<MICROSECOND, Europe/Berlin>');
  });
});

import assert from 'node:assert/strict';
import {
  type DataType,
  Field,
  FixedSizeList,
  Float32,
  Int32,
  List,
  Schema,
  Struct,
  TimestampMicrosecond,
  Utf8,
} from '#arrow';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { fails } from '../expect.ts';
import { forEachOfOurs, forEachSubject } from '../subjects.ts';

const rows = [
  { id: 1, name: 'mug', price: 9.5, place: { shelf: 3 } },
  { id: 2, name: 'lamp', price: 59, place: { shelf: 4 } },
];

forEachSubject('columns', (makeCatalog) => {
  test('are added by SQL over the others', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const { version } = await table.addColumns([
      { name: 'double', expression: 'price * 2' },
      { name: 'title', expression: 'upper(name)' },
    ]);
    assert.equal(version ?? 2, 2);
    assert.deepEqual(await table.query().select(['double', 'title']).toArray(), [
      { double: 19, title: 'MUG' },
      { double: 118, title: 'LAMP' },
    ]);
  });

  test('are added without values, of any type that the engine stores', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const types: Record<string, DataType> = {
      whole: new Int32(),
      text: new Utf8(),
      vector: new FixedSizeList(4, new Field('item', new Float32(), true)),
      words: new List(new Field('item', new Utf8(), true)),
      time: new TimestampMicrosecond('UTC'),
      place2: new Struct([new Field('x', new Int32(), true)]),
    };
    await table.addColumns(Object.entries(types).map(([name, dataType]) => ({ name, dataType })));
    const { fields } = await table.schema();
    const added = fields.slice(4).map(({ name, type, nullable }) => [name, typeText(type), nullable]);
    assert.deepEqual(
      added,
      Object.entries(types).map(([name, type]) => [name, typeText(type), true]),
    );
    assert.equal(await table.countRows('whole IS NULL AND vector IS NULL AND words IS NULL'), 2);
  });

  test('are added with and without values in one version', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.addColumns([
      { name: 'double', expression: 'price * 2' },
      { name: 'empty', dataType: new Int32() },
    ]);
    assert.equal(await table.version(), 2);
    assert.deepEqual(await table.query().select(['double', 'empty']).limit(1).toArray(), [{ double: 19, empty: null }]);
  });

  test('keep what is to be known of them, entry by entry', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const long = 'ü'.repeat(100_000);
    await table.updateFieldMetadata([{ path: 'price', metadata: { unit: 'EUR', note: long } }]);
    await table.updateFieldMetadata([{ path: 'price', metadata: { unit: null, source: 'shop' } }]);
    const metadata = (await table.schema()).fields.find(({ name }) => name === 'price')?.metadata;
    assert.deepEqual(Object.fromEntries(metadata ?? []), { note: long, source: 'shop' });
    await fails(() => table.updateFieldMetadata([{ path: 'colour', metadata: {} }]), 'ColumnNotFound', 'colour');
  });

  test('are renamed, and keep their values', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.alterColumns([{ path: 'name', rename: 'title' }]);
    assert.deepEqual((await table.schema()).names, ['id', 'title', 'price', 'place']);
    assert.equal(await table.countRows(`title = 'mug'`), 1);
  });

  test('change their type where no value is lost', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable(
      't',
      rows.map((row) => ({ ...row, id: BigInt(row.id) })),
    );
    await table.alterColumns([
      { path: 'id', dataType: new Int32() },
      { path: 'price', dataType: new Float32() },
    ]);
    const schema = await table.schema();
    assert.deepEqual(
      schema.fields.slice(0, 3).map(({ type }) => String(type)),
      ['Int32', 'Utf8', 'Float32'],
    );
    assert.deepEqual(await table.query().select(['id', 'price']).limit(1).toArray(), [{ id: 1, price: 9.5 }]);
  });

  test('in a struct are reached by a path', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.alterColumns([{ path: 'place.shelf', rename: 'row' }]);
    assert.equal(await table.countRows('place.row = 3'), 1);
  });

  test('are dropped', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.dropColumns(['price', 'place']);
    assert.deepEqual((await table.schema()).names, ['id', 'name']);
    assert.deepEqual(await table.query().toArray(), [
      { id: 1, name: 'mug' },
      { id: 2, name: 'lamp' },
    ]);
  });

  test('that are wrong say what is wrong, and nothing changes', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await fails(() => table.addColumns([{ name: 'id', expression: '1.0' }]), 'InvalidInput', 'id');
    await fails(() => table.addColumns([{ name: 'x', expression: 'colour + 1' }]), 'ColumnNotFound', 'colour');
    await fails(() => table.alterColumns([{ path: 'colour', rename: 'x' }]), 'ColumnNotFound', 'colour');
    await fails(() => table.alterColumns([{ path: 'name', dataType: new Int32() }]), 'InvalidInput', 'name');
    await fails(() => table.dropColumns(['colour']), 'ColumnNotFound', 'colour');
    assert.deepEqual((await table.schema()).names, ['id', 'name', 'price', 'place']);
    assert.equal(await table.version(), 1);
  });

  test('are added once', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const twice = { name: 'x', expression: '1' };
    const error = await fails(() => table.addColumns([twice, twice]), 'InvalidInput', '"x" twice');
    assert.doesNotMatch(error.message, /already/);
    await fails(() => table.addColumns({ computed: [twice, twice] }), 'InvalidInput', '"x" twice');
    assert.equal(await table.version(), 1);
  });

  test('are named, or nothing is asked', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await fails(() => table.addColumns([]), 'InvalidInput');
    await fails(() => table.alterColumns([]), 'InvalidInput');
    await fails(() => table.dropColumns([]), 'InvalidInput');
    assert.equal(await table.version(), 1);
  });

  test('may be made nullable', async () => {
    const { db } = await makeCatalog();
    const schema = new Schema([new Field('id', new Int32(), false), new Field('note', new Utf8(), true)]);
    const table = await db.createTable('t', [{ id: 1, note: 'a' }], { schema });
    await table.alterColumns([{ path: 'id', nullable: true }]);
    assert.equal((await table.schema()).fields[0]?.nullable, true);
    await table.add([{ note: 'b' }]);
    assert.equal(await table.countRows('id is null'), 1);
  });
});

forEachOfOurs('names of columns', (makeCatalog) => {
  test('have no backtick, by which they could not be read', async () => {
    const { db } = await makeCatalog();
    await fails(() => db.createTable('t', [{ 'a`b': 1 }]), 'SchemaValidation', 'a`b');
    const table = await db.createTable('t', rows);
    await fails(() => table.addColumns([{ name: 'a`b', expression: 'id' }]), 'SchemaValidation', 'a`b');
    await fails(() => table.alterColumns([{ path: 'id', rename: 'a`b' }]), 'SchemaValidation', 'a`b');
    await fails(() => table.alterColumns([{ path: 'id', rename: 'name' }]), 'InvalidInput', '"name"');
    assert.equal(await table.version(), 1);
  });
});

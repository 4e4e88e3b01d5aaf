import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  Field,
  FixedSizeList,
  Float32,
  Int32,
  Int64,
  Schema,
  Table,
  TimestampNanosecond,
  Union,
  UnionMode,
  Utf8,
} from '#arrow';
import { inferRows } from '#client/inferRows.ts';
import { openDir } from '#engine/dir.ts';
import { fails } from './expect.ts';
import { forEachSubject } from './subjects.ts';

const rows = [
  { id: 1, name: 'mug', price: 9.5 },
  { id: 2, name: 'lamp', price: 59 },
  { id: 3, name: 'chair', price: 120 },
];

forEachSubject('tables', (makeCatalog) => {
  test('go where the named option says', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    await db.createTable('products', rows, { namespacePath: ['shop'] });
    assert.deepEqual(await db.tableNames(['shop']), ['products']);
    assert.deepEqual(await db.tableNames(), []);
  });

  test('go where the positional array says', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    await db.createTable('products', rows, ['shop'], { mode: 'create' });
    assert.deepEqual(await db.tableNames(['shop']), ['products']);
    assert.equal(await (await db.openTable('products', ['shop'])).countRows(), 3);
    assert.equal(await (await db.openTable('products', { namespacePath: ['shop'] })).countRows(), 3);
  });

  test('refuse two namespaces that differ, and write nothing', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['a']);
    await db.createNamespace(['b']);
    await fails(() => db.createTable('t', rows, ['a'], { namespacePath: ['b'] } as never), 'InvalidInput', 'a', 'b');
    assert.deepEqual(await db.tableNames(['a']), []);
    assert.deepEqual(await db.tableNames(['b']), []);
  });

  test('refuse an option that nobody knows, in every call', async () => {
    const { db } = await makeCatalog();
    const wrong = { namespace: ['shop'] } as never;
    const schema = new Schema([new Field('id', new Int64(), true)]);
    await fails(() => db.createTable('t', rows, wrong), 'InvalidInput', '"namespace"', 'namespacePath');
    await fails(() => db.createEmptyTable('t', schema, wrong), 'InvalidInput', '"namespace"');
    await fails(() => db.openTable('t', wrong), 'InvalidInput', '"namespace"');
    await fails(() => db.dropTable('t', wrong), 'InvalidInput', '"namespace"');
    await fails(() => db.describeTable('t', wrong), 'InvalidInput', '"namespace"');
    await fails(() => db.renameTable('t', 'u', wrong), 'InvalidInput', '"namespace"');
    assert.deepEqual(await db.tableNames(), []);
  });

  test('can not be created in a namespace that nobody created', async () => {
    const { db } = await makeCatalog();
    await fails(() => db.createTable('t', rows, ['nope']), 'NamespaceNotFound', '"nope"');
    await fails(() => db.openTable('t', ['nope']), 'NamespaceNotFound', '"nope"');
    await fails(() => db.dropTable('t', ['nope']), 'NamespaceNotFound', '"nope"');
  });

  test('can not be created twice, except with exist_ok or overwrite', async () => {
    const { db } = await makeCatalog();
    await db.createTable('t', rows);
    await fails(() => db.createTable('t', rows), 'TableAlreadyExists', '"t"', 'exist_ok');
    const kept = await db.createTable('t', [{ id: 9, name: 'other', price: 1 }], { mode: 'exist_ok' });
    assert.equal(await kept.countRows(), 3);
    const replaced = await db.createTable('t', [{ other: 'x' }], { mode: 'overwrite' });
    assert.deepEqual(await replaced.query().toArray(), [{ other: 'x' }]);
  });

  test('that are missing fail to open, describe and drop', async () => {
    const { db } = await makeCatalog();
    await fails(() => db.openTable('nope'), 'TableNotFound', '"nope"');
    await fails(() => db.describeTable('nope'), 'TableNotFound', '"nope"');
    await fails(() => db.dropTable('nope'), 'TableNotFound', '"nope"');
  });

  test('are gone after a drop', async () => {
    const { db } = await makeCatalog();
    await db.createTable('t', rows);
    await db.dropTable('t');
    assert.deepEqual(await db.tableNames(), []);
    await fails(() => db.openTable('t'), 'TableNotFound', '"t"');
  });

  test('describe their version, rows and columns', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    await db.createTable('products', rows, ['shop']);
    assert.deepEqual(await db.describeTable('products', ['shop']), {
      name: 'products',
      namespacePath: ['shop'],
      version: 1,
      numRows: 3,
      columns: [
        { name: 'id', type: 'int64', nullable: true },
        { name: 'name', type: 'utf8', nullable: true },
        { name: 'price', type: 'double', nullable: true },
      ],
    });
  });

  test('describe one version of themselves while someone writes', async () => {
    const { db, root } = await makeCatalog();
    // As many rows as versions.
    await db.createTable('t', [{ id: 1 }]);
    const writer = await (await openDir({ root })).openTable('t');
    const writing = (async () => {
      for (let id = 2; id <= 25; id++) await writer.add([{ id }]);
    })();
    const seen = new Set<number>();
    while (!seen.has(25)) {
      const { version, numRows } = await db.describeTable('t');
      assert.equal(numRows, version);
      seen.add(version);
    }
    await writing;
    assert.ok(seen.size > 1, 'nobody wrote while the table was described');
    assert.equal((await db.describeTable('t', { version: 7 })).numRows, 7);
  });

  test('without rows keep their schema, metadata of fields included', async () => {
    const { db } = await makeCatalog();
    const schema = new Schema([
      new Field('id', new Int32(), false),
      new Field('picture', new Utf8(), true, new Map([['mime', 'image/png']])),
      new Field('vector', new FixedSizeList(4, new Field('item', new Float32(), true)), true),
    ]);
    const table = await db.createEmptyTable('empty', schema);
    const found = await table.schema();
    assert.equal(String(found), String(schema));
    assert.deepEqual(found.fields[1]?.metadata, new Map([['mime', 'image/png']]));
    assert.equal((await table.toArrow()).numRows, 0);
    assert.equal(await table.countRows(), 0);
  });

  test('refuse rename, after checking its arguments', async () => {
    const { db } = await makeCatalog();
    await db.createTable('t', rows);
    await fails(() => db.renameTable('t', 'a/b'), 'InvalidInput', 'a/b');
    await fails(() => db.renameTable('t', 'u', { newNamespacePath: [''] }), 'InvalidInput', 'empty');
    await fails(() => db.renameTable('t', 'u'), 'Unsupported', '"t"', 'renamed');
    assert.deepEqual(await db.tableNames(), ['t']);
  });

  test('open at an old version, where they can be read and not changed', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.add([{ id: 4, name: 'plant', price: 15 }]);
    const old = await db.openTable('t', { version: 1 });
    assert.equal(await old.countRows(), 3);
    assert.equal(await old.version(), 1);
    assert.equal((await db.describeTable('t', { version: 1 })).numRows, 3);
    assert.equal((await old.query().toArrow()).numRows, 3);
    await fails(() => old.add(rows), 'InvalidTableState', '"t"');
    await fails(() => old.delete('id = 1'), 'InvalidTableState', '"t"');
    assert.equal(await (await db.openTable('t')).countRows(), 4);
    await fails(() => db.openTable('t', { version: 99 }), 'VersionNotFound', '99');
    await fails(() => db.openTable('t', { version: 0 }), 'InvalidInput', '0');
  });

  test('list their versions in order', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.add([{ id: 4, name: 'plant', price: 15 }]);
    await table.delete('id = 4');
    const versions = await table.listVersions();
    assert.deepEqual(
      versions.map(({ version }) => version),
      [1, 2, 3],
    );
    assert.ok(versions.every(({ timestamp }) => Math.abs(timestamp.getTime() - Date.now()) < 120_000));
  });

  test('follow another writer', async () => {
    const { db, root } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const other = await openDir({ root });
    await (await other.openTable('t')).add([{ id: 4, name: 'plant', price: 15 }]);
    assert.equal(await table.countRows(), 4);
    await other.close();
  });

  test('take rows that fit and refuse those that do not', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.add([{ id: 4 }]);
    assert.deepEqual(await table.query().where('id = 4').toArray(), [{ id: 4n, name: null, price: null }]);
    await fails(() => table.add([{ id: 'five' }]), 'SchemaValidation', 'id', 'row 0');
    await fails(() => table.add([{ colour: 'red' }]), 'SchemaValidation', 'colour');
    assert.equal(await table.countRows(), 4);
  });

  test('take no name outside the rule, and leave nothing behind', async () => {
    const { db } = await makeCatalog();
    for (const name of ['', '.', '..', 'a b', 'a/b', '../up', 'a$b', 'ümlaut', 'a'.repeat(129)]) {
      await fails(() => db.createTable(name, rows), 'InvalidInput', 'table');
      await fails(() => db.openTable(name), 'InvalidInput', 'table');
      await fails(() => db.dropTable(name), 'InvalidInput', 'table');
    }
    assert.deepEqual(await db.tableNames(), []);
  });

  test('keep nanoseconds, as Dates and as bigints', async () => {
    const { db } = await makeCatalog();
    const schema = new Schema([new Field('at', new TimestampNanosecond('UTC'), true)]);
    const table = await db.createEmptyTable('t', schema);
    await table.add([{ at: new Date('2024-02-29T12:34:56.789Z') }, { at: 1_709_210_096_789_000_001n }, { at: null }]);
    const column = (await table.toArrow()).getChild('at')!.data[0]!;
    assert.deepEqual([...(column.values as BigInt64Array)].slice(0, 2), [
      1_709_210_096_789_000_000n,
      1_709_210_096_789_000_001n,
    ]);
    assert.equal(column.nullCount, 1);
    assert.equal(await table.countRows('at is null'), 1);
  });

  test('refuse a column name that the engine can not keep, and leave nothing behind', async () => {
    const { db } = await makeCatalog();
    for (const name of ['a.b', '_rowid', '_row_created_at_version']) {
      const schema = new Schema([new Field(name, new Int64(), true)]);
      await fails(() => db.createTable('t', [{ [name]: 1 }]), 'SchemaValidation', `"${name}"`);
      await fails(() => db.createTable('t', new Table(schema)), 'SchemaValidation', `"${name}"`);
      await fails(() => db.createTable('t', [], { schema }), 'SchemaValidation', `"${name}"`);
      await fails(() => db.createEmptyTable('t', schema), 'SchemaValidation', `"${name}"`);
    }
    await fails(() => db.createTable('t', [{ 'a.b': 1 }]), 'SchemaValidation', 'a_b', 'struct');
    await fails(() => db.createTable('t', [{ '': 1 }]), 'SchemaValidation', 'empty name');
    assert.deepEqual(await db.tableNames(), []);
    const table = await db.createTable('t', [{ a: { 'b.c': 1 } }]);
    await fails(() => table.add([{ 'a.b': 1 }]), 'SchemaValidation', '"a.b"');
    await fails(() => table.add(inferRows([{ 'a.b': 1 }])), 'SchemaValidation', '"a.b"');
  });

  test('whose creation fails leave no table behind, and take none away that was there', async () => {
    const { db, root } = await makeCatalog();
    // The engine knows no such type, which it finds out after it has listed the table.
    const odd = new Schema([
      new Field('a', new Union(UnionMode.Sparse, [0], [new Field('x', new Int64(), true)]), true),
    ]);
    for (const mode of ['create', 'exist_ok'] as const) {
      await assert.rejects(() => db.createEmptyTable('t', odd, { mode }));
      assert.deepEqual(await db.tableNames(), []);
    }
    await db.createTable('t', rows);
    rmSync(join(root, 't.lance', '_versions'), { recursive: true });
    await assert.rejects(() => db.createEmptyTable('t', odd));
    assert.deepEqual(await db.tableNames(), ['t']);
  });

  test('are refused once the catalog is closed', async () => {
    const { db } = await makeCatalog();
    await db.createTable('t', rows);
    await db.close();
    await fails(() => db.listTables(), 'InvalidInput', 'closed', 'Connect again');
  });
});

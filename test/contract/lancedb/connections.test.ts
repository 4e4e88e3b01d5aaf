import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { Field, Float32, FixedSizeList, Int64, Schema, Utf8 } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { connect, connectNamespace } from '#catalog/connect.ts';
import { makeArrowTable } from '#catalog/lancedb/makeArrowTable.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { registerDir } from '#engine/register.ts';
import { tempFolder } from '../../harness/temp.ts';
import { fails } from '../expect.ts';
import { forEachSubject } from '../subjects.ts';

const rows = [
  { id: 1, name: 'mug' },
  { id: 2, name: 'lamp' },
];
const schema = new Schema([new Field('id', new Int64(), true), new Field('name', new Utf8(), true)]);

/** Returns a value that the types forbid but that a notebook may pass. */
const odd = (value: unknown): never => value as never;

forEachSubject('catalogs with the verbs of LanceDB', (makeCatalog) => {
  test('create tables from one object, and keep existing ones', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable({ name: 't', data: rows, mode: 'create' });
    assert.equal(await table.countRows(), 2);
    const same = await db.createTable('t', [{ id: 9 }], { existOk: true });
    assert.equal(await same.countRows(), 2);
    const empty = await db.createEmptyTable('t', schema, { existOk: true });
    assert.equal(await empty.countRows(), 2);
    const replaced = await db.createTable({ name: 't', data: [{ id: 9 }], mode: 'overwrite', existOk: true });
    assert.equal(await replaced.countRows(), 1);
    await fails(() => db.createTable('t', rows), 'TableAlreadyExists', 't');
    await fails(() => db.createTable('t', rows, { existOk: odd('yes') }), 'InvalidInput', 'existOk');
    await fails(() => db.createTable('u', rows, odd({ embeddingFunction: {} })), 'InvalidInput', 'backfill()');
    await db.createNamespace(['shop']);
    await db.createTable({ name: 'u', data: rows }, ['shop']);
    assert.deepEqual(await db.tableNames(['shop']), ['u']);
  });

  test('list some names', async () => {
    const { db } = await makeCatalog();
    for (const name of ['a', 'b', 'c']) await db.createEmptyTable(name, schema);
    assert.deepEqual(await db.tableNames({ limit: 2 }), ['a', 'b']);
    assert.deepEqual(await db.tableNames({ startAfter: 'a', limit: 1 }), ['b']);
    assert.deepEqual(await db.tableNames([], { startAfter: 'b' }), ['c']);
    assert.equal((await db.listTables({ limit: 2 })).tables.length, 2);
    await fails(() => db.tableNames({ limit: -1 }), 'InvalidInput', '-1');
    await fails(() => db.tableNames({ limit: 1 }, { limit: 1 }), 'InvalidInput', 'two');
    assert.equal(db.isOpen(), true);
    assert.match(db.display(), /^Catalog (?:dir|rest) /);
    await db.dropAllTables();
    assert.deepEqual(await db.tableNames(), []);
  });

  test('take Arrow tables made of rows', async () => {
    const { db } = await makeCatalog();
    const made = makeArrowTable(rows, { schema });
    const table = await db.createTable('t', made);
    await table.add(makeArrowTable([{ id: 3, name: 'pen' }], { schema }));
    assert.equal(await table.countRows(), 3);
    assert.equal(String(made.schema.fields[0]?.type), 'Int64');
  });

  test('name the call to use instead of one that does not exist', async () => {
    const { db } = await makeCatalog();
    await fails(() => (Reflect.get(db, 'listJobs') as () => Promise<unknown>)(), 'Unsupported', 'db.jobs.list()');
  });
});

suite('connecting with the options of LanceDB', function () {
  this.timeout(30_000);
  const opened: Catalog[] = [];
  suiteSetup(() => registerDir());
  teardown(async () => {
    await Promise.all(opened.splice(0).map((db) => db.close()));
  });
  const keep = (db: Catalog): Catalog => {
    opened.push(db);
    return db;
  };

  test('takes a consistency interval, storage options and one object', async () => {
    const root = tempFolder();
    const db = keep(await connect(root, { readConsistencyInterval: 0, storageOptions: { timeout: '60s' } }));
    await db.createTable('t', rows);
    const again = keep(await connect({ uri: root, readConsistencyInterval: 5 }));
    assert.deepEqual(await again.tableNames(), ['t']);
    await fails(() => connect(root, { readConsistencyInterval: -1 }), 'InvalidInput', '-1');
    await again.close();
    assert.equal(again.isOpen(), false);
  });

  test('names the place of a part of the configuration', async () => {
    registerRest();
    const options = odd({ storageOptions: { timeout: '60s' } });
    const place = 'connectNamespace("dir", { root, storageOptions })';
    await fails(
      () => connectNamespace('dir', { root: tempFolder() }, options),
      'InvalidInput',
      'third argument',
      place,
    );
    const key = odd({ apiKey: 'secret' });
    const uri = 'http://127.0.0.1:1';
    await fails(
      () => connectNamespace('rest', { uri }, key),
      'InvalidInput',
      'connectNamespace("rest", { uri, apiKey })',
    );
  });

  test('names the way to a server', async () => {
    const options = odd({ apiKey: 'secret', region: 'us-east-1' });
    await fails(() => connect('db://shop', options), 'InvalidInput', 'connectNamespace("rest"');
    await fails(() => connect('db://shop'), 'InvalidInput', 'connectNamespace("rest"');
  });

  test('keeps a catalog in memory, separate from others', async () => {
    const db = keep(await connect('memory://'));
    await db.createTable('t', rows);
    const table = await db.openTable('t');
    assert.equal(await table.countRows(), 2);
    const other = keep(await connect('memory://'));
    assert.deepEqual(await other.tableNames(), []);
    assert.ok(existsSync(db.location));
    await fails(() => connectNamespace('dir', { root: 'memory://' }), 'InvalidInput', 'connect("memory://")');
  });
});

suite('makeArrowTable', () => {
  test('sets the type of vectors and metadata', () => {
    const vectors = [{ id: 1, point: [1, 2] }];
    const made = makeArrowTable(
      vectors,
      { vectorColumns: { point: { type: new Float32() } } },
      new Map([['by', 'ada']]),
    );
    const type = made.schema.fields[1]?.type;
    assert.ok(type instanceof FixedSizeList && type.listSize === 2, String(type));
    assert.equal(made.schema.metadata.get('by'), 'ada');
    assert.equal(made.numRows, 1);
  });

  test('rejects what it can not do', () => {
    assert.throws(() => makeArrowTable(rows, { dictionaryEncodeStrings: true }), /dictionaryEncodeStrings/);
    assert.throws(() => makeArrowTable(rows, odd({ embeddings: {} })), /Compute the vectors/);
  });
});

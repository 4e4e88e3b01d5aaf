import assert from 'node:assert/strict';
import { Field, Float64, Int64, type RecordBatch, Schema, Table, Utf8, vectorFromArray } from '#arrow';
import type { WriteProgress } from '#catalog/table/writeProgress.ts';
import { isCatalogError } from '#shared/errors.ts';
import { fails } from '../expect.ts';
import { forEachOfOurs, forEachSubject } from '../subjects.ts';

const rows = Array.from({ length: 20 }, (_, id) => ({ id, text: `The red mugs ${id}` }));

const batch = (from: number) => new Table({ id: vectorFromArray([BigInt(from), 2n], new Int64()) }).batches[0]!;

const stop = (): void => {
  throw new Error('stop here');
};

forEachSubject('waiting for indexes', (makeCatalog) => {
  test('ends when they cover all rows, or with the reason why not', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    const later = table.waitForIndex(['id_idx', 'text_idx'], 20);
    await table.createIndex('id', { type: 'BTREE' });
    await table.createIndex('text', { type: 'FTS' });
    await later;
    await table.add([{ id: 20, text: 'x' }]);
    await fails(() => table.waitForIndex('id_idx', 0.2), 'ServiceUnavailable', '"id_idx"', 'lacks 1 rows');
    await fails(() => table.waitForIndex(['nope'], 0.2), 'IndexNotFound', '"nope"');
    await fails(() => table.waitForIndex([], 1), 'InvalidInput');
    await fails(() => table.waitForIndex('id_idx', -1), 'InvalidInput', '-1');
    const signal = AbortSignal.timeout(100);
    await assert.rejects(table.waitForIndex('id_idx', 60, { signal }), (error) => error === signal.reason);
  });
});

forEachSubject('progress of writes', (makeCatalog) => {
  test('is reported for each batch and at the end', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', [{ id: 1n }]);
    const seen: WriteProgress[] = [];
    const progress = (one: WriteProgress): void => void seen.push(one);
    await table.add(
      (async function* () {
        yield batch(1);
        yield batch(3);
      })(),
      { progress },
    );
    assert.deepEqual(
      seen.map(({ outputRows, done }) => [outputRows, done]),
      [
        [2, false],
        [4, false],
        [4, true],
      ],
    );
    assert.equal(seen.at(-1)?.totalRows, 4);
    seen.length = 0;
    await table.add([{ id: 9n }, { id: 10n }], { progress });
    assert.deepEqual([seen.length, seen[0]?.done], [1, true]);
    await assert.rejects(
      () =>
        table.add(
          rows.map(({ id }) => ({ id: BigInt(id) })),
          { progress: stop },
        ),
      /stop here/,
    );
  });
});

forEachSubject('progress of a query that is added', (makeCatalog) => {
  test('is reported, also if the query has no row', async () => {
    const { db } = await makeCatalog();
    const source = await db.createTable('source', [{ id: 1n }, { id: 2n }]);
    const table = await db.createTable('t', [{ id: 0n }]);
    const seen: WriteProgress[] = [];
    const progress = (one: WriteProgress): void => void seen.push(one);
    await table.add(source.query(), { progress });
    assert.deepEqual([seen.at(-1)?.outputRows, seen.at(-1)?.done], [2, true]);
    await table.add(source.query().where('id > 9'), { progress });
    assert.deepEqual([seen.at(-1)?.outputRows, await table.countRows()], [0, 3]);
  });

  test('closes a source that is refused before it is read', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', [{ id: 0n }]);
    let isClosed = false;
    const source: AsyncIterable<RecordBatch> = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.resolve({ done: false, value: batch(1) }),
        return: () => {
          isClosed = true;
          return Promise.resolve({ done: true, value: undefined });
        },
      }),
    };
    const odd = 'sideways' as 'append';
    await fails(() => table.add(source, { mode: odd, progress: () => undefined }), 'InvalidInput', 'sideways');
    assert.equal(isClosed, true);
  });
});

forEachOfOurs('computed columns by expressions', (makeCatalog, { id: subject }) => {
  test('are declared, and filled when they are refreshed', async () => {
    const { db, root } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.addColumns({
      computed: [
        { name: 'twice', expression: 'id * 2' },
        { name: 'half', valueSql: 'id / 2' },
      ],
    });
    const field = (await table.schema()).fields.find(({ name }) => name === 'twice');
    assert.deepEqual([field?.metadata.get('computed_column.expression'), String(field?.type)], ['id * 2', 'Float64']);
    assert.equal(await table.countRows('twice IS NULL'), 20);
    if (subject === 'dir') {
      assert.equal((await table.refreshColumn('half')).numFilledRows, 20);
      assert.equal(await table.countRows('half = id / 2'), 20);
    } else {
      await fails(() => table.refreshColumn('half'), 'Unsupported', root === '' ? '' : 'directory');
    }
    await fails(() => table.addColumns({ computed: [] }), 'InvalidInput');
    await fails(() => table.addColumns({ computed: [{ name: 'id', expression: '1.0' }] }), 'InvalidInput', 'id');
    await fails(() => table.addColumns({ computed: [{ name: 'x' } as never] }), 'InvalidInput', '"x"');
    await fails(
      () => table.addColumns({ computed: [{ name: 'x', expression: 'nope + 1' }] }),
      'ColumnNotFound',
      'nope',
    );
  });
});

forEachOfOurs('primary keys', (makeCatalog) => {
  test('name one column that can not be null', async () => {
    const { db } = await makeCatalog();
    const schema = new Schema([
      new Field('id', new Int64(), false),
      new Field('price', new Float64(), false),
      new Field('name', new Utf8(), true),
    ]);
    const table = await db.createTable('t', [{ id: 1, price: 2, name: 'a' }], { schema });
    await fails(() => table.setUnenforcedPrimaryKey('name'), 'InvalidInput', '"name" may hold null');
    await fails(() => table.setUnenforcedPrimaryKey('price'), 'InvalidInput', 'double');
    await fails(() => table.setUnenforcedPrimaryKey('nope'), 'ColumnNotFound', '"nope"');
    await fails(() => table.setUnenforcedPrimaryKey(['id', 'name']), 'InvalidInput', 'not 2');
    await table.setUnenforcedPrimaryKey(['id']);
    const { metadata } = (await table.schema()).fields[0]!;
    assert.equal(metadata.get('lance-schema:unenforced-primary-key:position'), '1');
    await fails(() => table.setUnenforcedPrimaryKey('id'), 'InvalidInput', 'already');
  });
});

forEachOfOurs('text indexes', (makeCatalog, { id: subject }) => {
  test('tell how they split a text, and are loaded, in a directory', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.createIndex('text', { type: 'FTS', stem: true, removeStopWords: true });
    if (subject !== 'dir') {
      for (const call of [() => table.tokenize('a', { column: 'text' }), () => table.prewarmIndex('text_idx')])
        await assert.rejects(
          call,
          (error) => isCatalogError(error, 'Unsupported') && error.message.includes('directory'),
        );
      await fails(() => table.prewarmIndex('zz'), 'Unsupported', '"zz"', 'servers have no such operation');
      return;
    }
    const tokens = [
      { text: 'red', position: 0 },
      { text: 'mug', position: 1 },
    ];
    assert.deepEqual(await table.tokenize('The red mugs', { column: 'text' }), tokens);
    assert.deepEqual(await table.tokenize('The red mugs', { indexName: 'text_idx' }), tokens);
    await fails(() => table.tokenize('a', { column: 'id' }), 'InvalidInput', 'id');
    await fails(() => table.tokenize('a', {} as never), 'InvalidInput', 'column or indexName');
    await table.prewarmIndex('text_idx');
    await fails(() => table.prewarmIndex('nope'), 'IndexNotFound', '"nope"');
  });
});

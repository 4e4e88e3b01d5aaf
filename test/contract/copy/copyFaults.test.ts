import assert from 'node:assert/strict';
import { Float64, makeData, makeVector, type RecordBatch, Table as ArrowTable, tableFromIPC, tableToIPC } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import type { Table } from '#catalog/table/table.ts';
import type { TableSource } from '#catalog/table/tableData.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { CatalogError } from '#shared/errors.ts';
import { tempFolder } from '../../harness/temp.ts';
import { fails } from '../expect.ts';
import { rowsOf } from './copySource.ts';

/** Returns an object in which some calls are replaced. */
function withCalls<T extends object>(original: T, calls: Partial<T>): T {
  return new Proxy(original, {
    get: (target, key) => {
      const other = Reflect.get(calls, key) as unknown;
      if (other !== undefined) return other;
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/**
 * Stands in for a server that damages, loses or refuses data, which a real server can't be made to do. It uses a real
 * directory; `change` replaces calls of its tables.
 */
function catalogStandIn(db: Catalog, change: (table: Table) => Partial<Table>, calls: Partial<Catalog> = {}): Catalog {
  const openTable = (async (...args: Parameters<Catalog['openTable']>) => {
    const table = await db.openTable(...args);
    return withCalls(table, change(table));
  }) as Catalog['openTable'];
  const createTable = (async (...args: Parameters<Catalog['createTable']>) => {
    const table = await db.createTable(...args);
    return withCalls(table, change(table));
  }) as Catalog['createTable'];
  return withCalls(db, { openTable, createTable, ...calls });
}

const count = 1000;
/** Eight bytes per row: chunks of a hundred rows. */
const chunkBytes = 800;
const from = ['numbers'];

const numbers = (): ArrowTable =>
  new ArrowTable({
    x: makeVector(makeData({ type: new Float64(), data: Float64Array.from({ length: count }, (_, x) => x) })),
  });

/** Yields the same batches with one flipped bit. */
async function* damaged(batches: AsyncIterable<RecordBatch>): AsyncGenerator<RecordBatch> {
  for await (const batch of batches) {
    const copied = tableFromIPC(tableToIPC(new ArrowTable([batch]), 'stream')).batches[0]!;
    (copied.data.children[0]!.values as Float64Array)[5]! += 1e-9;
    yield copied;
  }
}

const asBatches = (data: TableSource): AsyncIterable<RecordBatch> => {
  assert.ok(Symbol.asyncIterator in data, 'a copy streams');
  return data as AsyncIterable<RecordBatch>;
};

suite('A copy that meets trouble', function () {
  this.timeout(30_000);
  let source: Catalog;
  let db: Catalog;

  setup(async () => {
    source = await openDir({ root: tempFolder() });
    await source.createTable('numbers', numbers());
    db = await openDir({ root: tempFolder() });
  });
  teardown(() => Promise.all([source.close(), db.close()]));

  const to = (catalog: Catalog = db) => ({ catalog, path: ['copied'] });
  const isThere = (name: string) => db.tableExists(name);

  test('detects a damaged value, never lists the copy, and copies again the next time', async () => {
    let adds = 0;
    const damaging = catalogStandIn(db, (table) => ({
      add: (data, options) => table.add(++adds === 4 ? damaged(asBatches(data)) : data, options),
    }));
    await fails(() => source.copy(from, to(damaging), { chunkBytes }), 'Internal', 'copied', 'rows 400 to 499');
    assert.equal(await isThere('copied'), false);
    const { tables } = await source.copy(from, to(), { chunkBytes });
    assert.equal(tables[0]?.how, 'copied');
    assert.deepEqual(await rowsOf(db, ['copied']), await rowsOf(source, from));
  });

  test('notices rows that were lost', async () => {
    const losing = catalogStandIn(db, (table) => ({
      add: async (data, options) => {
        for await (const batch of asBatches(data)) void batch;
        return table.add([], options);
      },
    }));
    await fails(() => source.copy(from, to(losing), { chunkBytes }), 'ConcurrentModification', 'got 100', '200 rows');
    assert.equal(await isThere('copied'), false);
  });

  test('detects that another client writes to the copy', async () => {
    const shared = catalogStandIn(db, (table) => ({
      add: async (data, options) => {
        await table.add(numbers());
        return table.add(data, options);
      },
    }));
    await fails(() => source.copy(from, to(shared), { chunkBytes }), 'ConcurrentModification', 'Another client');
  });

  test('ends with the error of the target, and goes on later', async () => {
    let adds = 0;
    const full = new CatalogError('ServiceUnavailable', 'The disk is full.', 'Make room.');
    const filling = catalogStandIn(db, (table) => ({
      add: (data, options) => (++adds > 5 ? Promise.reject(full) : table.add(data, options)),
    }));
    await assert.rejects(source.copy(from, to(filling), { chunkBytes }), full);
    const { tables } = await source.copy(from, to(), { chunkBytes });
    assert.equal(tables[0]?.how, 'resumed');
    assert.deepEqual(await rowsOf(db, ['copied']), await rowsOf(source, from));
  });

  test('begins again where what an earlier try left is not a part of the source', async () => {
    let adds = 0;
    const full = new CatalogError('ServiceUnavailable', 'The disk is full.', 'Make room.');
    const filling = catalogStandIn(db, (table) => ({
      add: (data, options) => (++adds > 5 ? Promise.reject(full) : table.add(data, options)),
    }));
    await assert.rejects(source.copy(from, to(filling), { chunkBytes }), full);
    await (await db.openTable('copied.copying')).update({ where: 'x = 599', values: { x: -1 } });
    const { tables } = await source.copy(from, to(), { chunkBytes });
    assert.equal(tables[0]?.how, 'copied');
    assert.deepEqual(await rowsOf(db, ['copied']), await rowsOf(source, from));
  });

  test('says which indexes the target can not make, and copies the rows all the same', async () => {
    await (await source.openTable('numbers')).createIndex('x', { type: 'BTREE' });
    const refusal = new CatalogError('Unsupported', 'There are no indexes here.', '');
    const plain = catalogStandIn(db, () => ({ createIndex: () => Promise.reject(refusal) }));
    const { tables } = await source.copy(from, to(plain));
    assert.deepEqual(tables[0]?.indexes, []);
    assert.equal(tables[0]?.warnings.length, 1);
    assert.match(tables[0]?.warnings[0] ?? '', /Can't create the index "x_idx": There are no indexes here/);
    assert.equal(await isThere('copied'), true);
  });

  test('is all or nothing where the target can neither rename nor mark', async () => {
    const poor: Partial<Catalog> = {
      capabilities: async (options) => ({
        ...(await db.capabilities(options)),
        UpdateTableSchemaMetadata: 'no',
      }),
      renameTable: () => Promise.reject(new CatalogError('Unsupported', 'Nothing is renamed here.', '')),
    };
    const stop = new AbortController();
    const stopping = source.copy(from, to(catalogStandIn(db, () => ({}), poor)), {
      chunkBytes,
      signal: stop.signal,
      onProgress: ({ rowsDone }) => rowsDone > 0 && stop.abort(),
    });
    await assert.rejects(stopping);
    assert.deepEqual(await db.tableNames(), []);
    await source.copy(from, to(catalogStandIn(db, () => ({}), poor)), { chunkBytes });
    assert.deepEqual(await rowsOf(db, ['copied']), await rowsOf(source, from));
    assert.equal((await source.copy(from, to(catalogStandIn(db, () => ({}), poor)))).tables[0]?.how, 'there');
  });

  test('drops nothing for a rename that is answered as done and was not', async () => {
    await db.createTable('copied', [{ old: 1 }]);
    const careless = catalogStandIn(db, () => ({}), { renameTable: () => Promise.resolve() });
    const { tables } = await source.copy(from, to(careless), { chunkBytes, overwrite: true });
    assert.equal(tables[0]?.how, 'copied');
    assert.deepEqual(await rowsOf(db, ['copied']), await rowsOf(source, from));
    assert.deepEqual(await db.tableNames(), ['copied']);
  });

  test('leaves a table that is to be replaced as it is, where nothing can be learned about the target', async () => {
    await db.createTable('copied', [{ old: 1 }]);
    const refusal = new CatalogError('PermissionDenied', 'You may not rename.', '');
    const denying = catalogStandIn(db, () => ({}), { renameTable: () => Promise.reject(refusal) });
    await assert.rejects(source.copy(from, to(denying), { chunkBytes, overwrite: true }), refusal);
    assert.equal(await (await db.openTable('copied')).countRows(), 1);
    assert.deepEqual(await db.tableNames(), ['copied']);
  });

  test('names the table that it could not remove', async () => {
    const refusal = new CatalogError('PermissionDenied', 'You may not drop.', '');
    const keeping = catalogStandIn(db, () => ({}), { dropTable: () => Promise.reject(refusal) });
    const { tables } = await source.copy(from, to(keeping), { chunkBytes });
    assert.deepEqual(tables[0]?.warnings, [
      'Can\'t drop the empty table "copied.renamed.copying" that was created to test what the target supports: You may not drop.',
    ]);
    assert.deepEqual(await rowsOf(db, ['copied']), await rowsOf(source, from));
  });

  test('is never copied on while it is half', async () => {
    const stop = new AbortController();
    const stopped = source.copy(
      from,
      { catalog: db, path: ['copied'] },
      {
        chunkBytes,
        signal: stop.signal,
        onProgress: ({ rowsDone }) => rowsDone > 300 && stop.abort(),
      },
    );
    await assert.rejects(stopped);
    const third = await openDir({ root: tempFolder() });
    await fails(
      () => db.copy(['copied.copying'], { catalog: third, path: ['x'] }),
      'InvalidTableState',
      'copied.copying',
      'unfinished',
    );
    await db.createTable('other', [{ a: 1 }]);
    const { tables, skipped } = await db.copy([], { catalog: third, path: [] });
    assert.deepEqual(
      [tables.map(({ to: name }) => name), skipped.map(({ from: name }) => name)],
      [['other'], ['copied.copying']],
    );
    await third.close();
  });

  test('does not touch a table of a person that has the name under which it would grow', async () => {
    await db.createTable('copied.copying', [{ mine: 1 }]);
    await fails(() => source.copy(from, to(), { overwrite: true }), 'TableAlreadyExists', 'copied.copying');
    assert.equal(await (await db.openTable('copied.copying')).countRows(), 1);
  });

  /** Creates the partial result of a copy that stops in the middle. */
  const stopHalfway = async (path: readonly string[]): Promise<void> => {
    const stop = new AbortController();
    const onProgress = ({ rowsDone }: { rowsDone: number }): void => {
      if (rowsDone > 300) stop.abort();
    };
    await assert.rejects(source.copy(path, to(), { chunkBytes, signal: stop.signal, onProgress }));
  };

  test('reports another copy to the same table that is running or was stopped, and does not change it', async () => {
    await source.createTable('others', numbers());
    await stopHalfway(['others']);
    const said = [
      'Can\'t copy to "copied"',
      'a copy of another table',
      'is running or was stopped',
      'of 1000',
      'Run that copy again',
      'drop',
    ];
    await fails(() => source.copy(from, to(), { chunkBytes }), 'TableAlreadyExists', ...said);
    assert.equal((await source.copy(['others'], to(), { chunkBytes })).tables[0]?.how, 'resumed');
  });

  test('replaces another copy that was stopped, if requested', async () => {
    await source.createTable('others', numbers());
    await stopHalfway(['others']);
    assert.equal((await source.copy(from, to(), { chunkBytes, overwrite: true })).tables[0]?.how, 'copied');
    assert.deepEqual(await db.tableNames(), ['copied']);
  });

  test('says that another one was begun at the same moment, and goes on with that the next time', async () => {
    const createTable = (async (...args: Parameters<Catalog['createTable']>) => {
      await stopHalfway(from);
      return db.createTable(...args);
    }) as Catalog['createTable'];
    const late = catalogStandIn(db, () => ({}), { createTable });
    const said = ['another copy to this name', 'at the same time', 'copy again'];
    await fails(() => source.copy(from, to(late), { chunkBytes }), 'ConcurrentModification', ...said);
    assert.equal((await source.copy(from, to(), { chunkBytes })).tables[0]?.how, 'resumed');
  });

  test('says that another one has finished first, and takes that for the copy the next time', async () => {
    const createIndex = async (): Promise<void> => {
      await source.copy(from, to(), { chunkBytes });
    };
    await (await source.openTable('numbers')).createIndex('x', { type: 'BTREE' });
    const late = catalogStandIn(db, () => ({ createIndex }));
    const said = ['another copy to this name', 'has finished', 'copy again'];
    await fails(() => source.copy(from, to(late), { chunkBytes }), 'ConcurrentModification', ...said);
    assert.equal((await source.copy(from, to())).tables[0]?.how, 'there');
  });

  test('is refused into itself, and where nothing is', async () => {
    await fails(() => source.copy(from, from), 'InvalidInput', 'itself');
    await fails(() => source.copy([], ['inside']), 'InvalidInput', 'itself');
    await fails(() => source.copy(['nothing'], to()), 'TableNotFound', 'nothing');
    await fails(() => source.copy(from, { catalog: db, path: ['a b'] }), 'InvalidInput', 'a b');
  });

  test('is made again of a source that was dropped and made again with as many rows', async () => {
    await source.copy(from, to());
    await source.dropTable('numbers');
    const x = makeVector(Float64Array.from({ length: count }, (_, row) => -row));
    await source.createTable('numbers', new ArrowTable({ x }));
    await fails(() => source.copy(from, to()), 'TableAlreadyExists', 'copied');
    const { tables } = await source.copy(from, to(), { overwrite: true });
    assert.equal(tables[0]?.how, 'copied');
    assert.deepEqual(await rowsOf(db, ['copied']), await rowsOf(source, from));
  });

  test('with a name that only other clients create leaves this table out, and says so', async () => {
    const names = source.tableNames.bind(source);
    const odd = withCalls(source, { tableNames: async (path, options) => [...(await names(path, options)), 'a b'] });
    const { copyTables } = await import('#catalog/copy/copyTables.ts');
    const { tables, skipped } = await copyTables({ catalog: odd, identity: 'odd' }, [], { catalog: db, path: [] });
    assert.deepEqual(
      tables.map(({ from: name }) => name),
      ['numbers'],
    );
    assert.deepEqual(
      skipped.map(({ from: name, why }) => [name, why]),
      [['a b', 'failed']],
    );
    assert.deepEqual(await db.tableNames(), ['numbers']);
  });
});

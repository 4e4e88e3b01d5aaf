import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import {
  Binary,
  Bool,
  DataType,
  DateDay,
  Decimal,
  Field,
  Float16,
  Float32,
  Float64,
  Int32,
  Int64,
  Schema,
  type Table as ArrowTable,
  TimestampMicrosecond,
  Uint64,
  Utf8,
} from '#arrow';
import { inferRows } from '#catalog/arrow/inferRows.ts';
import type { Catalog } from '#catalog/catalog.ts';
import type { Ordering } from '#catalog/query/querySpec.ts';
import { Query } from '#catalog/query/query.ts';
import type { Table } from '#catalog/table/table.ts';
import { Decimal as DecimalValue } from '#catalog/values/decimal.ts';
import type { ViewSpec } from '#catalog/view/listRows.ts';
import type { SortSizes } from '#catalog/view/rowIdList.ts';
import { TableView } from '#catalog/view/tableView.ts';
import { CatalogError, isAbort, isCatalogError } from '#shared/errors.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { python } from '../../harness/needs/python.ts';
import { Random } from '../model/random.ts';
import { forEachOfOurs } from '../subjects.ts';

const count = 3_300;

/** Sorts at most 200 numbers at once, and rows with equal keys by 400. */
const sizes: SortSizes = {
  maxBytes: 200 * 32,
  partBytes: 100 * 32,
  tiedRows: 400,
  unmeasuredRows: 0,
  sampledRows: 1_000,
};

const negativeNan = Symbol('NaN with the sign bit');

const doubles = (random: Random): unknown =>
  random.chance(0.5)
    ? random.pick([NaN, negativeNan, -0, 0, Infinity, -Infinity, 1, null, 5e-324, -1.5])
    : random.next() * 10 - 5;
const mostlyOne = (value: unknown, other: (random: Random) => unknown) => (random: Random) =>
  random.chance(0.9) ? value : other(random);

/** The columns, with how a value is made. */
const columns: Readonly<Record<string, { field: Field; make: (random: Random, row: number) => unknown }>> = {
  id: { field: new Field('id', new Int64(), false), make: (_, row) => BigInt(row) },
  double: { field: new Field('double', new Float64(), true), make: doubles },
  single: { field: new Field('single', new Float32(), true), make: doubles },
  half: { field: new Field('half', new Float16(), true), make: doubles },
  zeros: {
    field: new Field('zeros', new Float64(), true),
    make: (random) => random.pick([0, -0, 0, -0, 0, 1, -1, null]),
  },
  nans: { field: new Field('nans', new Float64(), true), make: mostlyOne(NaN, doubles) },
  negativeNans: { field: new Field('negativeNans', new Float64(), true), make: mostlyOne(negativeNan, doubles) },
  nulls: { field: new Field('nulls', new Float64(), true), make: mostlyOne(null, doubles) },
  skewed: {
    field: new Field('skewed', new Int32(), true),
    make: mostlyOne(7, (random) => random.pick([null, random.below(20) - 5])),
  },
  far: {
    field: new Field('far', new Uint64(), true),
    make: (random) => random.pick([2n ** 64n - 1n, 2n ** 63n, BigInt(random.below(1_000)), null]),
  },
  text: {
    field: new Field('text', new Utf8(), true),
    make: (random) =>
      random.pick(['', "it's", 'Ä', '～', '😀', 'z\u0000', null, 'same', 'same', 'same', `row ${random.below(500)}`]),
  },
  bytes: {
    field: new Field('bytes', new Binary(), true),
    make: (random) => random.pick([null, Uint8Array.of(random.below(256), 39), new Uint8Array(0), Uint8Array.of(255)]),
  },
  done: { field: new Field('done', new Bool(), true), make: (random) => random.pick([true, false, null]) },
  money: {
    field: new Field('money', new Decimal(2, 20, 128), true),
    make: (random) => (random.chance(0.1) ? null : DecimalValue.from(`${random.below(2_000) - 1_000}.25`)),
  },
  day: {
    field: new Field('day', new DateDay(), true),
    make: (random) => (random.chance(0.1) ? null : new Date((random.below(400) - 200) * 86_400_000)),
  },
  at: {
    field: new Field('at', new TimestampMicrosecond('UTC'), true),
    make: (random) => (random.chance(0.1) ? null : new Date((random.below(2_000) - 1_000) * 12_345)),
  },
};

/** Sets the sign of NaNs, which JavaScript does not keep. */
function signNans(table: ArrowTable, rows: readonly Record<string, unknown>[]): void {
  let row = 0;
  for (const { data, numRows, schema } of table.batches) {
    for (const [index, { name, type }] of schema.fields.entries()) {
      if (!DataType.isFloat(type)) continue;
      const { buffer, byteOffset, BYTES_PER_ELEMENT: width } = data.children[index]!.values as Float64Array;
      const bytes = new Uint8Array(buffer, byteOffset);
      for (let at = 0; at < numRows; at++)
        if (rows[row + at]![name] === negativeNan) bytes[(at + 1) * width - 1]! |= 0x80;
    }
    row += numRows;
  }
}

async function makeTable(db: Catalog, seed: number): Promise<Table> {
  const random = new Random(seed);
  const made = Array.from({ length: count }, (_, row): Record<string, unknown> =>
    Object.fromEntries(Object.entries(columns).map(([name, { make }]) => [name, make(random, row)])),
  );
  const schema = new Schema(Object.values(columns).map(({ field }) => field));
  const tableOf = (rows: readonly Record<string, unknown>[]): ArrowTable => {
    const plain = rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === negativeNan ? NaN : value])),
    );
    const table = inferRows(plain, schema);
    signNans(table, rows);
    return table;
  };
  const table = await db.createTable('t', tableOf(made.slice(0, 1_100)));
  for (const start of [1_100, 2_200]) await table.add(tableOf(made.slice(start, start + 1_100)));
  await table.delete('id % 10 = 3');
  return db.openTable('t', { version: await table.version() });
}

/** Returns the row ids of a view, in its order. */
async function listIn(table: Table, spec: ViewSpec, sortSizes?: SortSizes): Promise<bigint[]> {
  const view = new TableView(table, spec);
  const list = await view.list({ sortSizes });
  const ids = Array.from(await list.slice(0, list.length));
  await view.close();
  return ids;
}

/** Returns the row ids in the order that pyarrow finds. */
function sortedByPyarrow(root: string, { where, orderBy = [] }: ViewSpec): bigint[] {
  const request = {
    table: join(root, 't.lance'),
    where: where ?? null,
    orderBy: orderBy.map(({ column, descending = false, nullsFirst = false }) => ({ column, descending, nullsFirst })),
  };
  const run = spawnSync(python(), [inRoot('test/contract/python/sortedRows.py')], {
    input: `${JSON.stringify(request)}\n`,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  assert.equal(run.status, 0, run.stderr);
  return (JSON.parse(run.stdout) as number[]).map(BigInt);
}

/** Calls a function for each query of a table before it is sent. */
const watching = (table: Table, onQuery: (query: Query) => void): Table =>
  new Proxy(table, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      if (key === 'query') return () => watchingQuery(target.query(), onQuery);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

const watchingQuery = (query: Query, onQuery: (query: Query) => void): Query =>
  new Proxy(query, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (key === 'execute' || key === 'toArrow') onQuery(target);
        const result: unknown = value.apply(target, args);
        return result instanceof Query ? watchingQuery(result, onQuery) : result;
      };
    },
  });

forEachOfOurs('tables sorted in parts', (makeCatalog) => {
  test('have the order of one sort, for every type, direction and place of nulls', async function () {
    this.timeout(120_000);
    const { db } = await makeCatalog();
    const table = await makeTable(db, 1);
    for (const column of Object.keys(columns))
      for (const descending of [false, true])
        for (const nullsFirst of [false, true]) {
          const spec = { orderBy: [{ column, descending, nullsFirst }] };
          assert.deepEqual(await listIn(table, spec, sizes), await listIn(table, spec), JSON.stringify(spec));
        }
  });

  test('have the order of one sort by several columns of few values, with a filter', async function () {
    this.timeout(120_000);
    const { db } = await makeCatalog();
    const table = await makeTable(db, 2);
    const random = new Random(3);
    for (let round = 0; round < 12; round++) {
      const orderBy = Array.from({ length: 1 + random.below(4) }, (): Ordering => ({
        column: random.pick(Object.keys(columns)),
        descending: random.chance(0.5),
        nullsFirst: random.chance(0.5),
      }));
      const where = random.pick(['', 'id < 900 OR id > 1100', 'skewed = 7 -- seven', 'id < 0']);
      const spec = { orderBy, ...(where !== '' && { where }) };
      assert.deepEqual(await listIn(table, spec, sizes), await listIn(table, spec), JSON.stringify(spec));
    }
  });

  test('have the order of pyarrow, ties and NaN of both signs by the rule of views', async () => {
    const { db, root } = await makeCatalog();
    const table = await makeTable(db, 4);
    for (const spec of [
      { orderBy: [{ column: 'double', nullsFirst: true }] },
      { orderBy: [{ column: 'half', descending: true }] },
      { orderBy: [{ column: 'skewed' }, { column: 'text', descending: true, nullsFirst: true }, { column: 'zeros' }] },
      { orderBy: [{ column: 'negativeNans', descending: true }, { column: 'at' }], where: 'id > 300' },
      { orderBy: [{ column: 'bytes' }, { column: 'done', descending: true }] },
      { orderBy: [{ column: 'far', descending: true, nullsFirst: true }] },
    ])
      assert.deepEqual(await listIn(table, spec, sizes), sortedByPyarrow(root, spec), JSON.stringify(spec));
  });

  test('read the keys alone, in queries of few rows, and rows with equal keys without a sort', async () => {
    const { db } = await makeCatalog();
    const table = await makeTable(db, 5);
    const sent: Query[] = [];
    const watched = watching(table, (query) => void sent.push(query));
    const ids = await listIn(watched, { orderBy: [{ column: 'double' }] }, sizes);
    assert.equal(new Set(ids).size, 2_970);
    let sorted = 0;
    let tied = 0;
    for (const query of sent) {
      const plan = await query.explainPlan();
      const projections = [...plan.matchAll(/projection=\[([^\]]*)\]/g)].map(([, names]) => names);
      for (const names of projections) assert.ok(['double', 'double, _rowid', '', '_rowid'].includes(names!), plan);
      if (!plan.includes('SortExec')) tied++;
      else if (!/fetch=|limit=/i.test(plan)) {
        sorted++;
        assert.ok((await query.toArrow()).numRows < 300, plan);
      }
    }
    assert.ok(sorted >= 10, `${sorted} sorts`);
    assert.ok(tied >= 8, `${tied} other queries`);
  });

  test('are sorted in parts after the table had too little memory or time for one sort', async () => {
    const { db } = await makeCatalog();
    const table = await makeTable(db, 6);
    const spec = { orderBy: [{ column: 'single' }, { column: 'id' }] };
    const wanted = await listIn(table, spec);
    // Stands in for a server that stops large sorts, because a real one needs millions of rows for that.
    let stopped = 0;
    let isFirst = true;
    const weak = watching(table, () => {
      if (!isFirst) return;
      isFirst = false;
      stopped++;
      throw new CatalogError('ServiceUnavailable', 'The request was stopped.', 'Ask for fewer rows.');
    });
    assert.deepEqual(await listIn(weak, spec), wanted);
    assert.equal(stopped, 1);
    const broken = watching(table, () => {
      throw new CatalogError('ServiceUnavailable', `Stopped ${++stopped}.`, 'Ask for fewer rows.');
    });
    await assert.rejects(listIn(broken, spec), /Stopped 2\./);
  });

  test('can be read from the start while later parts are sorted, and stop when they are aborted', async () => {
    const { db } = await makeCatalog();
    const table = await makeTable(db, 7);
    const spec = { orderBy: [{ column: 'text', descending: true }] };
    const wanted = await listIn(table, spec);
    const view = new TableView(table, spec);
    const controller = new AbortController();
    const settled: number[] = [];
    const onProgress = (_: number, rows: number): void => {
      settled.push(rows);
      if (rows > 1_000) controller.abort();
    };
    await assert.rejects(view.list({ sortSizes: sizes, signal: controller.signal, onProgress }), isAbort);
    assert.ok(settled.filter((rows, index) => rows > (settled[index - 1] ?? 0)).length >= 3, settled.join(' '));
    assert.deepEqual(
      settled.toSorted((a, b) => a - b),
      settled,
    );
    assert.deepEqual(Array.from(await view.rowIds(900, 1_000)), wanted.slice(900, 1_000));
    await view.close();
  });

  test('name a wrong filter or column', async () => {
    const { db } = await makeCatalog();
    const table = await makeTable(db, 8);
    for (const spec of [{ where: 'nope = 1', orderBy: [{ column: 'id' }] }, { orderBy: [{ column: 'nope' }] }])
      await assert.rejects(listIn(table, spec, sizes), (error) => isCatalogError(error) && /nope/.test(error.message));
  });
});

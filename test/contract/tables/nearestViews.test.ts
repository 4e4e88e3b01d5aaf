import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Field, FixedSizeList, Float16, Float32, Float64, Int64, Int8, List, Schema, Uint8, Utf8 } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import type { Table } from '#catalog/table/table.ts';
import type { NearestSpec } from '#catalog/view/nearestSpec.ts';
import { readTableRows, readViewRows } from '#catalog/view/tableRows.ts';
import { TableView } from '#catalog/view/tableView.ts';
import type { DistanceType } from '#shared/vectorTypes.ts';
import { tempFolder } from '../../harness/temp.ts';
import { fails } from '../expect.ts';
import { forEachSubject } from '../subjects.ts';

// A server of upstream makes indexes of 16 parts.
const dimension = 16;
const count = 400;
const nullRow = 10;
const nanRow = 20;
const zeroRow = 30;
/** The same vector as row 5. */
const twinRow = 40;

const numbersOf = (row: number): number[] =>
  Array.from({ length: dimension }, (_, at) => Math.fround(Math.sin(row * 12.9898 + at * 78.233)));

const vectorOf = (row: number): number[] | null => {
  if (row === nullRow) return null;
  if (row === nanRow) return [Number.NaN, ...numbersOf(row).slice(1)];
  if (row === zeroRow) return numbersOf(row).fill(0);
  return numbersOf(row === twinRow ? 5 : row);
};
const bytesOf = (row: number): number[] => numbersOf(row).map((value) => Math.floor((value + 1) * 127));

const vectors = (type: Float16 | Float32 | Float64 | Uint8 | Int8) =>
  new FixedSizeList(dimension, new Field('item', type, true));
const schema = new Schema([
  new Field('id', new Int64(), false),
  new Field('kind', new Utf8(), true),
  new Field('embedding', vectors(new Float32()), true),
  new Field('half', vectors(new Float16()), true),
  new Field('double', vectors(new Float64()), true),
  new Field('bytes', vectors(new Uint8()), true),
  new Field('signed', vectors(new Int8()), true),
  new Field('several', new List(new Field('item', vectors(new Float32()), true)), true),
]);

const kindOf = (row: number): string | null => (row % 5 === 4 ? null : `kind ${row % 5}`);

const isLateOfKind1 = (row: number): boolean => kindOf(row) === 'kind 1' && row > 200;

async function makeTable(db: Catalog): Promise<Table> {
  const rows = Array.from({ length: count }, (_, row) => ({
    id: BigInt(row),
    kind: kindOf(row),
    embedding: vectorOf(row),
    half: vectorOf(row),
    double: vectorOf(row),
    bytes: bytesOf(row),
    signed: numbersOf(row).map((value) => Math.floor(value * 100)),
    several: row % 3 === 0 ? null : [numbersOf(row), numbersOf(row + 1)],
  }));
  const table = await db.createTable('t', rows.slice(0, 300), { schema });
  await table.add(rows.slice(300));
  return db.openTable('t', { version: await table.version() });
}

const dotOf = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, at) => sum + value * b[at]!, 0);

/** The distances of the documentation, written once more without the code under test. */
const distances: Readonly<Record<DistanceType, (a: readonly number[], b: readonly number[]) => number>> = {
  l2: (a, b) => a.reduce((sum, value, at) => sum + (value - b[at]!) ** 2, 0),
  cosine: (a, b) => 1 - dotOf(a, b) / Math.sqrt(dotOf(a, a) * dotOf(b, b)),
  dot: (a, b) => 1 - dotOf(a, b),
  hamming: (a, b) => a.reduce((sum, value, at) => sum + (value ^ b[at]!).toString(2).replaceAll('0', '').length, 0),
};

type Found = { id: number; distance: number };

/** Compares with every row. Rows without a distance are left out. */
function bruteForce(
  vector: readonly number[],
  distanceType: DistanceType,
  isIn: (row: number) => boolean = () => true,
  read: (row: number) => readonly number[] | null = vectorOf,
): Found[] {
  return Array.from({ length: count }, (_, row) => row)
    .filter((row) => isIn(row))
    .flatMap((id) => {
      const values = read(id);
      const distance = values ? distances[distanceType](vector, values) : Number.NaN;
      return Number.isNaN(distance) ? [] : [{ id, distance }];
    })
    .toSorted((a, b) => a.distance - b.distance || a.id - b.id);
}

async function readView(view: TableView, rows: number): Promise<Found[]> {
  const table = await view.rows(0, rows, { columns: ['_distance', 'id'] });
  assert.deepEqual(
    table.schema.fields.map(({ name }) => name),
    ['_distance', 'id'],
  );
  return table.toArray().map((row) => ({ id: Number(row['id']), distance: Number(row['_distance']) }));
}

/** Rows of one distance may be in any order. */
function assertNearest(found: readonly Found[], wanted: readonly Found[], tolerance = 1e-5): void {
  assert.equal(found.length, wanted.length);
  assert.equal(new Set(found.map(({ id }) => id)).size, found.length, 'no row twice');
  const exact = new Map(wanted.map(({ id, distance }) => [id, distance]));
  for (const [at, { id, distance }] of found.entries()) {
    assert.ok(
      Math.abs(distance - wanted[at]!.distance) <= tolerance,
      `row ${at}: ${distance}, not ${wanted[at]!.distance}`,
    );
    const own = exact.get(id);
    // The last rows may be others of the same distance.
    if (own !== undefined) assert.ok(Math.abs(distance - own) <= tolerance, `the distance of ${id} is ${own}`);
    else assert.ok(Math.abs(distance - wanted.at(-1)!.distance) <= tolerance, `${id} is not among the nearest`);
  }
}

const query = numbersOf(5);

async function withView(
  table: Table,
  nearest: NearestSpec,
  run: (view: TableView, rows: number) => Promise<void>,
  spec: { where?: string; orderBy?: { column: string; descending?: boolean }[] } = {},
): Promise<void> {
  const view = new TableView(table, { nearest, ...spec });
  const { numRows, isAll } = await view.find(500);
  assert.equal(isAll, true);
  try {
    await run(view, numRows);
  } finally {
    await view.close();
  }
}

forEachSubject('nearest rows', (makeCatalog) => {
  test('of some positions are read in parts with their distances', async () => {
    const { db } = await makeCatalog();
    await withView(await makeTable(db), { column: 'embedding', vector: query, k: 100 }, async (view) => {
      const range = { start: 20, end: 90, columns: ['id', '_distance'] };
      const { schema: found, batches } = await readViewRows(view, range);
      const ids: number[] = [];
      for await (const batch of batches) for (const row of batch) ids.push(Number(row['id']));
      assert.deepEqual(
        [found.fields.map(({ name }) => name), ids],
        [['id', '_distance'], (await readView(view, 100)).slice(20, 90).map(({ id }) => id)],
      );
    });
  });

  for (const [column, distanceType, tolerance] of [
    ['embedding', 'l2', 1e-5],
    ['embedding', 'cosine', 1e-5],
    ['embedding', 'dot', 1e-5],
    ['half', 'cosine', 2e-3],
    ['double', 'l2', 1e-5],
  ] as const)
    test(`of ${column} by ${distanceType} are those of a comparison with every row`, async () => {
      const { db } = await makeCatalog();
      const table = await makeTable(db);
      for (const k of [1, 50, 10_000]) {
        await withView(table, { column, vector: query, k, distanceType }, async (view, rows) => {
          const wanted = bruteForce(query, distanceType).slice(0, k);
          assertNearest(await readView(view, rows), wanted, tolerance);
          assert.equal(view.nearest?.usesIndex, false);
          assert.equal(view.nearest?.distanceType, distanceType);
          assert.ok(view.nearest.milliseconds > 0);
        });
      }
    });

  test('of bytes are measured by their bits', async () => {
    const { db } = await makeCatalog();
    const vector = bytesOf(7);
    await withView(await makeTable(db), { column: 'bytes', vector, k: 30 }, async (view, rows) => {
      assertNearest(await readView(view, rows), bruteForce(vector, 'hamming', () => true, bytesOf).slice(0, 30));
    });
  });

  test('of lists of vectors are those that are nearest to all of the vectors', async () => {
    const { db } = await makeCatalog();
    const vector = [numbersOf(7), numbersOf(8)];
    await withView(await makeTable(db), { column: 'several', vector, k: 3 }, async (view, rows) => {
      const found = await readView(view, rows);
      assert.equal(found[0]!.id, 7);
      assert.ok(Math.abs(found[0]!.distance) < 1e-4);
    });
  });

  test('are found among the rows that pass the filter, also if few do', async () => {
    const { db } = await makeCatalog();
    const table = await makeTable(db);
    const where = "kind = 'kind 1' AND id > 200";
    await withView(
      table,
      { column: 'embedding', vector: query, k: 1_000, distanceType: 'l2' },
      async (view, rows) => {
        assertNearest(await readView(view, rows), bruteForce(query, 'l2', isLateOfKind1));
      },
      { where },
    );
    await withView(
      table,
      { column: 'embedding', vector: query, k: 5 },
      async (view, rows) => {
        assert.equal(rows, 0);
        const none = await view.rows(0, 5);
        assert.deepEqual([none.numRows, none.schema.fields.at(-1)!.name], [0, '_distance']);
      },
      { where: 'id < 0' },
    );
  });

  test('are sorted among themselves, rows of one value by their distance', async () => {
    const { db } = await makeCatalog();
    const table = await makeTable(db);
    const nearest = { column: 'embedding', vector: query, k: 40, distanceType: 'cosine' } as const;
    const wanted = bruteForce(query, 'cosine').slice(0, 40);
    const ids = new Set(wanted.map(({ id }) => id));
    await withView(
      table,
      nearest,
      async (view, rows) => {
        const found = await readView(view, rows);
        assert.deepEqual(new Set(found.map(({ id }) => id)), ids);
        const byKind = wanted.toSorted((a, b) => {
          const [x, y] = [kindOf(a.id), kindOf(b.id)];
          return x === y ? 0 : x === null ? 1 : y === null ? -1 : x < y ? 1 : -1;
        });
        assert.deepEqual(
          found.map(({ id }) => kindOf(id)),
          byKind.map(({ id }) => kindOf(id)),
        );
        for (const [at, { id, distance }] of found.entries())
          if (at > 0 && kindOf(id) === kindOf(found[at - 1]!.id)) assert.ok(distance >= found[at - 1]!.distance);
      },
      { orderBy: [{ column: 'kind', descending: true }] },
    );
    await withView(
      table,
      nearest,
      async (view, rows) => {
        const found = await readView(view, rows);
        assert.deepEqual(
          found.map(({ distance }) => distance),
          found.map(({ distance }) => distance).toSorted((a, b) => b - a),
        );
      },
      { orderBy: [{ column: '_distance', descending: true }] },
    );
  });

  test('have the distance after the other columns, on every page and in an export', async () => {
    const { db } = await makeCatalog();
    const table = await makeTable(db);
    const nearest = { column: 'embedding', vector: query, k: 30, distanceType: 'l2' } as const;
    await withView(table, nearest, async (view, rows) => {
      const whole = await readView(view, rows);
      const pages: Found[] = [];
      for (let at = 0; at < rows; at += 7)
        pages.push(...(await readView({ rows: (_, __, options) => view.rows(at, at + 7, options) } as TableView, 7)));
      assert.deepEqual(pages, whole);
      const { schema: all } = await view.rows(0, 3);
      assert.deepEqual(
        all.fields.map(({ name }) => name),
        [...schema.fields.map(({ name }) => name), '_distance'],
      );
      assert.equal((await view.rows(3, 9, { columns: ['_distance'] })).numRows, 6);
    });
    const { schema: read, batches } = await readTableRows(table, { nearest, columns: ['id', '_distance'], limit: 20 });
    const rows: number[] = [];
    for await (const batch of batches) for (const row of batch) rows.push(Number(row['id']));
    assert.deepEqual(
      read.fields.map(({ name }) => name),
      ['id', '_distance'],
    );
    assert.deepEqual(
      rows,
      bruteForce(query, 'l2')
        .slice(0, 20)
        .map(({ id }) => id),
    );
  });

  test('are exported with their distances', async () => {
    const { db } = await makeCatalog();
    await makeTable(db);
    const file = join(tempFolder(), 'near.jsonl');
    const nearest = { column: 'double', vector: query, k: 5 };
    const { rows } = await db.export(['t'], file, { nearest, where: 'id <> 5', columns: ['id', '_distance'] });
    const written = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Found);
    assert.equal(rows, 5);
    const wanted = bruteForce(query, 'l2', (row) => row !== 5).slice(0, 5);
    assert.deepEqual(
      written.map(({ id }) => id),
      wanted.map(({ id }) => id),
    );
    await fails(
      () => db.export(['t'], file, { nearest: { ...nearest, metric: 'l2' } as NearestSpec, overwrite: true }),
      'InvalidInput',
      'metric',
    );
  });

  test('of a column with an index are found by it, with true distances, or exactly', async () => {
    const { db } = await makeCatalog();
    const made = await makeTable(db);
    const writer = await db.openTable('t');
    await writer.createIndex('embedding', {
      type: 'IVF_PQ',
      distanceType: 'cosine',
      numPartitions: 2,
      numSubVectors: 2,
    });
    const table = await db.openTable('t', { version: await writer.version() });
    assert.notEqual(await table.version(), await made.version());
    const wanted = bruteForce(query, 'cosine');
    const trueDistances = new Map(wanted.map(({ id, distance }) => [id, distance]));
    await withView(table, { column: 'embedding', vector: query, k: 20 }, async (view, rows) => {
      const { usesIndex, index, distanceType } = view.nearest!;
      assert.deepEqual([usesIndex, index, distanceType], [true, { type: 'IVF_PQ', distanceType: 'cosine' }, 'cosine']);
      const found = await readView(view, rows);
      assert.equal(found.length, 20);
      for (const { id, distance } of found) assert.ok(Math.abs(distance - trueDistances.get(id)!) < 1e-5);
      assert.ok(found[0]!.id === 5 || found[0]!.id === twinRow);
    });
    for (const [change, by] of [
      [{ useIndex: false }, 'cosine'],
      [{ distanceType: 'l2' }, 'l2'],
    ] as const)
      await withView(table, { column: 'embedding', vector: query, k: 20, ...change }, async (view, rows) => {
        assert.deepEqual([view.nearest?.usesIndex, view.nearest?.distanceType], [false, by]);
        assert.equal(view.nearest?.index?.type, 'IVF_PQ');
        assertNearest(await readView(view, rows), bruteForce(query, by).slice(0, 20));
      });
  });

  test('say why a vector or a column can not be searched', async () => {
    const { db } = await makeCatalog();
    const table = await makeTable(db);
    const find = (nearest: Partial<NearestSpec>) => () =>
      new TableView(table, { nearest: { column: 'embedding', vector: query, k: 5, ...nearest } }).find(5);
    await fails(find({ vector: [1, 2] }), 'InvalidInput', 'Expected 16 numbers, got 2');
    await fails(find({ vector: [Number.NaN, ...query.slice(1)] }), 'InvalidInput', 'NaN at position 1');
    await fails(find({ vector: query.map(() => 0), distanceType: 'cosine' }), 'InvalidInput', 'The vector is zero');
    await fails(find({ vector: [query, query] }), 'InvalidInput', 'Expected one vector, got 2');
    await fails(find({ column: 'bytes', vector: query }), 'InvalidInput', 'whole numbers from 0 to 255');
    await fails(find({ column: 'bytes', vector: bytesOf(1), distanceType: 'l2' }), 'InvalidInput', 'Use hamming');
    await fails(find({ column: 'signed' }), 'Unsupported', 'not fixed_size_list<int8>[16]');
    await fails(find({ column: 'kind' }), 'Unsupported', 'Can\'t search "kind"');
    await fails(find({ column: 'nope' }), 'ColumnNotFound', '"nope"');
    await fails(find({ k: 10_001 }), 'InvalidInput', '10001');
    await fails(find({ k: 0 }), 'InvalidInput', '0');
    const own = await db.createTable('own', [{ id: 1, _distance: 2, vector: [1, 2] }]);
    const search = new TableView(own, { nearest: { column: 'vector', vector: [1, 2], k: 1 } });
    await fails(() => search.find(1), 'Unsupported', 'it has a column "_distance"');
  });
});

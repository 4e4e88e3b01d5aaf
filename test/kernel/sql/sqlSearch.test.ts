import assert from 'node:assert/strict';
import type { Catalog } from '#catalog/catalog.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import type { Progress } from '#session/display/displayTypes.ts';
import { createSql } from '#session/sql/sql.ts';
import { tempFolder } from '../../harness/temp.ts';

const ids = async (query: Promise<{ toArray(): unknown[] }>): Promise<number[]> =>
  ((await query).toArray() as { id: number }[]).map(({ id }) => id);

suite('Searches and versions in SQL', function () {
  this.timeout(60_000);
  let db: Catalog;
  const sql = createSql({
    catalog: () => db,
    signal: () => new AbortController().signal,
    progress: ((source: unknown) => source) as Progress,
  });

  suiteSetup(async () => {
    db = await openDir({ root: tempFolder() });
    await db.createNamespace(['shop']);
    const rows = Array.from({ length: 50 }, (_, id) => ({
      id,
      name: id % 10 === 3 ? `a red mug ${id}` : `a blue plate ${id}`,
      vector: [id, 0.5, -id],
    }));
    const products = await db.createTable('products', rows, { namespacePath: ['shop'] });
    await products.createIndex('name', { type: 'FTS' });
    await products.delete('id >= 40');
  });
  suiteTeardown(() => db?.close());

  test('nearest gives the rows nearest to a vector, with their distances', async () => {
    const vector = [7, 0.5, -7];
    const rows =
      await sql`select id, _distance from nearest('shop.products', ${vector}, k := 3) order by _distance, id`.toArray();
    assert.deepEqual(rows, [
      { id: 7, _distance: 0 },
      { id: 6, _distance: 2 },
      { id: 8, _distance: 2 },
    ]);
    const single = new Float32Array([7, 0.5, -7]);
    assert.equal((await sql`from nearest('shop.products', ${single}, k := 1)`).numRows, 1);
    const all = await sql`select id from nearest('shop.products', [7, 0.5, -7]) n join shop.products p using (id)`;
    assert.equal(all.numRows, 10);
  });

  test('nearest takes the column, the distance, a filter, the way to search and a version', async () => {
    const vector = [7, 0.5, -7];
    assert.deepEqual(
      await ids(
        sql`select id from nearest('shop.products', ${vector}, k := 2, vector_column := 'vector', filter := 'id > 7 AND name LIKE ''%plate%''') order by _distance`,
      ),
      [8, 9],
    );
    const found =
      await sql`select id, _distance from nearest('shop.products', [0.0, 1.0, 0.0], k := 1, distance_type := 'cosine', use_index := false)`.toArray();
    assert.deepEqual(found, [{ id: 0, _distance: 0 }]);
    assert.deepEqual(
      await ids(
        sql`select id from nearest('shop.products', [49, 0.5, -49], k := 1, table_version := 1, refine_factor := 2)`,
      ),
      [49],
    );
    assert.deepEqual(await ids(sql`select id from nearest('shop.products', [49, 0.5, -49], k := 1)`), [39]);
    await assert.rejects(
      async () => sql`from nearest('shop.products', ${vector}, distance_type := 'far')`,
      /"far" is not a valid distance_type of nearest/,
    );
  });

  test('search gives the rows with the words, with their scores', async () => {
    const rows = await sql`select id from search('shop.products', ${'mug'}, k := 2) where _score > 0`.toArray();
    assert.equal(rows.length, 2);
    assert.ok(rows.every(({ id }) => Number(id) % 10 === 3));
  });

  test('version gives the rows of an earlier version', async () => {
    const rows =
      await sql`select (select count(*) from version('shop.products', 1)) as before, count(*) as now from shop.products`.toArray();
    assert.deepEqual(rows, [{ before: 50, now: 40 }]);
  });

  test('vectors have the functions of arrays', async () => {
    const rows =
      await sql`select array_distance(vector, ${[3, 0.5, -3]}) as d, array_inner_product(vector, ${new Float32Array([1, 0, 0])}) as p from shop.products where id = 3`.toArray();
    assert.deepEqual(rows, [{ d: 0, p: 3 }]);
  });

  test('a mistake in a search is the error of the table', async () => {
    await assert.rejects(sql`select * from nearest('shop.nothing', [1.0])`, /There is no table shop\.nothing/);
    await assert.rejects(sql`select * from nearest('shop.products', [1.0])`, /CatalogError: /);
    await assert.rejects(sql`select * from search('shop.products', '')`, /The search text is empty/);
    await assert.rejects(sql`select * from version('shop.products', 99)`, /version/i);
  });
});

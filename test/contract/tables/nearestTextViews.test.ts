import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Field, FixedSizeList, Float32, Int64, Schema, Utf8 } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { writeExport } from '#catalog/export/exportTable.ts';
import type { Table } from '#catalog/table/table.ts';
import { maxFoundRows } from '#catalog/view/foundRows.ts';
import type { ViewSpec } from '#catalog/view/listRows.ts';
import { planSearch } from '#catalog/view/searchRows.ts';
import { readTableRows, readViewRows } from '#catalog/view/tableRows.ts';
import { TableView } from '#catalog/view/tableView.ts';
import { tempFolder } from '../../harness/temp.ts';
import { forEachSubject } from '../subjects.ts';

const dimension = 4;
const vectorOf = (row: number): number[] =>
  Array.from({ length: dimension }, (_, at) => Math.fround(Math.sin(row * 12.9898 + at * 78.233)));

const schema = new Schema([
  new Field('id', new Int64(), false),
  new Field('caption', new Utf8(), true),
  new Field('embedding', new FixedSizeList(dimension, new Field('item', new Float32(), true)), true),
]);

const colors = ['red', 'blue', 'green', 'infrared'];
const captionOf = (row: number): string | null => (row % 11 === 0 ? null : `Item ${colors[row % 4]} ${row % 3}`);

async function makeTable(db: Catalog, count: number, isIndexed: boolean): Promise<Table> {
  const rows = Array.from({ length: count }, (_, row) => ({
    id: BigInt(row),
    caption: captionOf(row),
    embedding: row % 13 === 5 ? null : vectorOf(row),
  }));
  const table = await db.createTable('t', rows.slice(0, count - 50), { schema });
  if (isIndexed) await table.createIndex('caption', { type: 'FTS', stem: false, removeStopWords: false });
  // Rows that the index does not have yet.
  await table.add(rows.slice(count - 50));
  return db.openTable('t', { version: await table.version() });
}

const query = vectorOf(7).map((value) => value * 0.9);

/** Compares the vector with every row, without the code under test. */
const bruteForce = (count: number, isIn: (row: number, caption: string) => boolean): number[] =>
  Array.from({ length: count }, (_, row) => row)
    .filter((row) => row % 13 !== 5 && captionOf(row) !== null && isIn(row, captionOf(row)!))
    .map((row) => ({ row, distance: vectorOf(row).reduce((sum, value, at) => sum + (value - query[at]!) ** 2, 0) }))
    .toSorted((a, b) => a.distance - b.distance)
    .map(({ row }) => row);

const hasWord = (caption: string, word: string): boolean => caption.toLowerCase().split(' ').includes(word);

const nearest = { column: 'embedding', vector: query, k: 40, distanceType: 'l2' } as const;

/** Returns the rows of a view, which are also those of its pages and of an export. */
async function idsOf(table: Table, spec: ViewSpec): Promise<{ ids: number[]; view: TableView }> {
  const view = new TableView(table, spec);
  const { numRows, isAll } = await view.find(10);
  assert.equal(isAll, true);
  const read = await view.rows(0, numRows, { columns: ['id', '_distance'] });
  const ids = read.toArray().map((row) => Number(row['id']));
  const distances = read.toArray().map((row) => Number(row['_distance']));
  for (const [at, id] of ids.entries()) {
    const exact = vectorOf(id).reduce((sum, value, index) => sum + (value - query[index]!) ** 2, 0);
    assert.ok(Math.abs(exact - distances[at]!) < 1e-5);
  }
  const exported = await readTableRows(table, { ...spec, columns: ['id'] });
  const written: number[] = [];
  for await (const batch of exported.batches) for (const row of batch) written.push(Number(row['id']));
  assert.deepEqual(written, ids);
  await view.close();
  return { ids, view };
}

forEachSubject('nearest rows with a text', (makeCatalog) => {
  test('are the nearest of those that contain it, with a filter too', async () => {
    const { db } = await makeCatalog();
    const count = 500;
    const table = await makeTable(db, count, false);
    const search = await planSearch(table, 'RED');
    const all = bruteForce(count, (_, caption) => caption.includes('red'));
    const { ids, view } = await idsOf(table, { search, nearest });
    assert.deepEqual(ids, all.slice(0, 40));
    assert.deepEqual([view.search?.isIndex, view.search?.columns], [false, ['caption']]);
    const where = 'id < 100 OR id > 400';
    assert.deepEqual(
      (await idsOf(table, { search, nearest, where })).ids,
      all.filter((id) => id < 100 || id > 400).slice(0, 40),
    );
    const none = await planSearch(table, 'nothing');
    assert.deepEqual((await idsOf(table, { search: none, nearest })).ids, []);
  });

  test('are found by a full-text index: whole words, also of rows that it lacks', async () => {
    const { db } = await makeCatalog();
    const count = 500;
    const table = await makeTable(db, count, true);
    const all = bruteForce(count, (_, caption) => hasWord(caption, 'red'));
    const spec = { search: await planSearch(table, 'red'), nearest: { ...nearest, k: 500 } };
    const { ids, view } = await idsOf(table, spec);
    assert.deepEqual(ids, all);
    assert.ok(ids.some((id) => id >= count - 50));
    assert.deepEqual([view.search?.isIndex, view.search?.indexLimit], [true, undefined]);
    const where = 'id < 100 OR id > 400';
    const some = all.filter((id) => id < 100 || id > 400);
    assert.deepEqual((await idsOf(table, { ...spec, where })).ids, some);
    const sorted = await idsOf(table, { ...spec, where, orderBy: [{ column: 'id', descending: true }] });
    assert.deepEqual(
      sorted.ids,
      some.toSorted((a, b) => b - a),
    );
    assert.deepEqual((await idsOf(table, { ...spec, search: await planSearch(table, 'nothing') })).ids, []);
    // What the panel exports are the rows of its view.
    const file = join(tempFolder(), 'near.csv');
    const open = new TableView(table, { ...spec, nearest });
    await writeExport(file, {}, () => readViewRows(open, { start: 0, end: 40, columns: ['id', '_distance'] }));
    const [head, ...lines] = readFileSync(file, 'utf8').trim().split(/\r?\n/);
    assert.equal(head, 'id,_distance');
    assert.deepEqual(
      lines.map((line) => Number(line.split(',')[0])),
      all.slice(0, 40),
    );
    await open.close();
  });

  test('are found by comparing the text if the index finds more rows than a filter can have', async () => {
    const { db } = await makeCatalog();
    const count = Math.ceil(maxFoundRows * 1.2);
    const table = await makeTable(db, count, true);
    const spec = { search: await planSearch(table, 'item'), nearest };
    const { ids, view } = await idsOf(table, spec);
    assert.deepEqual(ids, bruteForce(count, () => true).slice(0, 40));
    assert.deepEqual([view.search?.isIndex, view.search?.indexLimit], [false, maxFoundRows]);
    // With a filter the index finds few enough.
    const filtered = await idsOf(table, { ...spec, where: 'id % 5 <> 0' });
    assert.deepEqual(filtered.ids, bruteForce(count, (row) => row % 5 !== 0).slice(0, 40));
    assert.equal(filtered.view.search?.isIndex, true);
  });
});

import assert from 'node:assert/strict';
import { Field, Float64, Int64, LargeUtf8, Schema, Utf8 } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import type { Ordering } from '#catalog/query/querySpec.ts';
import type { Table } from '#catalog/table/table.ts';
import { countValues } from '#catalog/view/countValues.ts';
import type { ViewSpec } from '#catalog/view/listRows.ts';
import { planSearch } from '#catalog/view/searchRows.ts';
import { readTableRows } from '#catalog/view/tableRows.ts';
import { TableView } from '#catalog/view/tableView.ts';
import { isCatalogError } from '#shared/errors.ts';
import { forEachSubject } from '../subjects.ts';

type Row = { id: number; score: number | null; title: string | null; body: string };

const schema = new Schema([
  new Field('id', new Int64(), false),
  new Field('score', new Float64(), true),
  new Field('title', new Utf8(), true),
  new Field('body', new LargeUtf8(), true),
]);
const words = ['Red', 'mug', 'BLUE', 'cup', "it's", 'Äpfel', '100%', 'under_score'];
const rows: readonly Row[] = Array.from({ length: 900 }, (_, id) => ({
  id,
  score: id % 7 === 0 ? null : id % 5 === 0 ? Number.NaN : (id * 37) % 11,
  title: id % 9 === 0 ? null : `${words[id % 8]} ${words[(id * 3 + 1) % 8]}`,
  body: `${words[(id >> 3) % 8]}${id % 4}`,
}));
/** Rows that stay in the table. */
const left = rows.filter(({ id }) => id % 10 !== 3);

const contains = (row: Row, text: string): boolean =>
  [row.title, row.body].some((value) => value?.toLowerCase().includes(text.toLowerCase()) === true);

/** Whether a title has all of some words, as an index finds them: letters and digits, in upper and lower case. */
const hasWords = ({ title }: Row, ...wanted: string[]): boolean => {
  const found = new Set(title?.toLowerCase().split(/[^\p{L}\p{N}]+/u));
  return wanted.every((word) => found.has(word));
};

/** Sorts as the documentation says: NaN is the largest number, nulls are last, equal values stay. */
function sorted(some: readonly Row[], { descending = false }: Ordering): number[] {
  const rank = ({ score }: Row): number => (score === null ? 2 : Number.isNaN(score) === descending ? 0 : 1);
  return some
    .toSorted((a, b) => {
      const [first, second] = [rank(a), rank(b)];
      const isSame = first !== second ? first - second : 0;
      if (isSame !== 0) return isSame;
      const order = a.score === null || Number.isNaN(a.score) ? 0 : a.score - b.score!;
      return (descending ? -order : order) || a.id - b.id;
    })
    .map(({ id }) => id);
}

async function makeTable(db: Catalog, isIndexed: boolean): Promise<Table> {
  const table = await db.createTable('t', rows.slice(0, 500), { schema });
  if (isIndexed)
    await table.createIndex('title', { type: 'FTS', stem: false, removeStopWords: false, asciiFolding: false });
  // Rows that the index does not have yet.
  await table.add(rows.slice(500));
  await table.delete('id % 10 = 3');
  return db.openTable('t', { version: await table.version() });
}

async function idsOf(table: Table, spec: ViewSpec): Promise<number[]> {
  const view = new TableView(table, spec);
  try {
    const { numRows } = await view.find(20);
    const first = (await view.rows(0, numRows, { columns: ['id'] })).toArray().map((row) => Number(row['id']));
    const list = await view.list();
    const ids: number[] = [];
    for (let at = 0; at < list.length; at += 170)
      ids.push(
        ...(await view.rows(at, Math.min(at + 170, list.length), { columns: ['id'] }))
          .toArray()
          .map((row) => Number(row['id'])),
      );
    assert.deepEqual(first, ids.slice(0, first.length), 'the first rows');
    assert.equal(first.length, Math.min(20, ids.length));
    const exported = await readTableRows(table, { ...spec, columns: ['id'] });
    assert.deepEqual(
      exported.schema.fields.map(({ name }) => name),
      ['id'],
    );
    const read: number[] = [];
    for await (const batch of exported.batches) for (const row of batch) read.push(Number(row['id']));
    assert.deepEqual(read, ids, 'the exported rows');
    return ids;
  } finally {
    await view.close();
  }
}

forEachSubject('the search of a view', (makeCatalog) => {
  test('finds a string in all columns of text without an index, in upper and lower case', async () => {
    const { db } = await makeCatalog();
    const table = await makeTable(db, false);
    for (const text of ['mug', 'RED', "it's", 'äPF', '100%', 'r_s', 'cup2', 'g B', 'nothing']) {
      const search = await planSearch(table, text);
      assert.deepEqual([search.columns, search.isIndex], [['title', 'body'], false]);
      const wanted = left.filter((row) => contains(row, text));
      assert.deepEqual(
        await idsOf(table, { search }),
        wanted.map(({ id }) => id),
        text,
      );
      const orderBy = [{ column: 'score', descending: true }];
      const some = wanted.filter(({ id }) => id < 300 || id > 600);
      assert.deepEqual(
        await idsOf(table, { search, where: 'id < 300 OR id > 600', orderBy }),
        sorted(some, orderBy[0]!),
      );
    }
    assert.ok(
      left.some((row) => contains(row, 'äpf')),
      'letters beyond ASCII are found',
    );
  });

  test('uses a full-text index for whole words, with a filter and an order, also for rows that it lacks', async () => {
    const { db } = await makeCatalog();
    const table = await makeTable(db, true);
    for (const text of ['mug', 'red MUG', 'äpfel', 'mu', 'blue cup']) {
      const search = await planSearch(table, text);
      assert.deepEqual([search.columns, search.isIndex], [['title'], true]);
      const wanted = left.filter((row) => hasWords(row, ...text.toLowerCase().split(' ')));
      assert.deepEqual(
        await idsOf(table, { search }),
        wanted.map(({ id }) => id),
        text,
      );
      for (const descending of [false, true]) {
        const orderBy = [{ column: 'score', descending }];
        const some = wanted.filter(({ id }) => id > 200);
        assert.deepEqual(await idsOf(table, { search, where: 'id > 200', orderBy }), sorted(some, orderBy[0]!), text);
      }
    }
    assert.ok(left.filter((row) => hasWords(row, 'red', 'mug')).length > 10);
    const scan = await planSearch(table, 'mu', { isScan: true });
    assert.equal(scan.isIndex, false);
    assert.deepEqual(
      await idsOf(table, { search: scan }),
      left.filter((row) => contains(row, 'mu')).map(({ id }) => id),
    );
    const search = await planSearch(table, 'mug');
    const { values } = await countValues(table, { search, where: 'id < 400' }, 'score', { maxValues: 100 });
    const found = left.filter((row) => row.id < 400 && hasWords(row, 'mug'));
    assert.equal(
      values.reduce((total, { count }) => total + count, 0),
      found.length,
    );
    assert.equal(values.find(({ kind }) => kind === 'null')?.count, found.filter(({ score }) => score === null).length);
  });

  test('needs a column of text', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', [{ id: 1 }]);
    await assert.rejects(planSearch(table, 'x'), (error) => isCatalogError(error, 'Unsupported'));
  });
});

import assert from 'node:assert/strict';
import { Bool, Field, Float64, Int64, Schema, Struct, Utf8 } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { Query } from '#catalog/query/query.ts';
import type { Ordering } from '#catalog/query/querySpec.ts';
import type { Table } from '#catalog/table/table.ts';
import type { ViewSpec } from '#catalog/view/listRows.ts';
import { TableView } from '#catalog/view/tableView.ts';
import { isCatalogError } from '#shared/errors.ts';
import { forEachSubject } from '../subjects.ts';

type Row = { id: bigint; score: number | null; kind: string; text: string | null; done: boolean | null };

const schema = new Schema([
  new Field('id', new Int64(), false),
  new Field('score', new Float64(), true),
  new Field('kind', new Utf8(), false),
  new Field('text', new Utf8(), true),
  new Field('done', new Bool(), true),
  new Field('at', new Struct([new Field('x', new Float64(), true)]), true),
]);

const scores = [NaN, null, -0, 0, Infinity, -Infinity, 1.5, -1.5, 1e300, 5e-324];
// In UTF-16 the character U+FF5E comes after the emoji, and in UTF-8 before it.
const words = ['', 'a', 'A', 'Ä', '～', '😀', 'zz', null, 'z\u0000'];
const count = 1_200;

const rows: readonly Row[] = Array.from({ length: count }, (_, index) => ({
  id: BigInt(index),
  score: index % 3 === 0 ? scores[(index / 3) % scores.length]! : Math.sin(index),
  kind: `kind ${(index * 7) % 4}`,
  text: words[index % words.length]!,
  done: [true, false, null][index % 3]!,
}));

/** The rule of the documentation, written once more without the code under test. */
function compare(a: unknown, b: unknown, { descending = false, nullsFirst = false }: Ordering): number {
  if (a === null || b === null) return a === b ? 0 : (a === null) === nullsFirst ? -1 : 1;
  const sign = descending ? -1 : 1;
  if (typeof a === 'string') return sign * Buffer.compare(Buffer.from(a), Buffer.from(b as string));
  if (Number.isNaN(a) || Number.isNaN(b)) return sign * (Number(Number.isNaN(a)) - Number(Number.isNaN(b)));
  if (a === 0 && b === 0) return sign * (Number(Object.is(b, -0)) - Number(Object.is(a, -0)));
  return sign * (Number(a) < Number(b) ? -1 : Number(a) > Number(b) ? 1 : 0);
}

/** Returns the ids of the rows that a view must have, in order. Row ids rise with `id`. */
function expected(isIn: (row: Row) => boolean, orderBy: readonly Ordering[] = []): number[] {
  const left = rows.filter((row) => row.id % 10n !== 3n && isIn(row));
  return left
    .toSorted((a, b) => {
      for (const ordering of orderBy) {
        const result = compare(a[ordering.column as keyof Row], b[ordering.column as keyof Row], ordering);
        if (result !== 0) return result;
      }
      return Number(a.id - b.id);
    })
    .map(({ id }) => Number(id));
}

async function makeTable(db: Catalog): Promise<Table> {
  const withPoint = rows.map((row) => ({ ...row, at: { x: 1 } }));
  const table = await db.createTable('t', withPoint.slice(0, 700), { schema });
  await table.add(withPoint.slice(700));
  await table.delete('id % 10 = 3');
  return db.openTable('t', { version: await table.version() });
}

/** Stands in for a table of a server that ignores the wish for row ids, because no such server runs here. */
const withoutRowIds = (table: Table): Table =>
  new Proxy(table, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      if (key === 'query') return () => ignoringRowIds(target.query());
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

const ignoringRowIds = (query: Query): Query =>
  new Proxy(query, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (key === 'withRowId') return ignoringRowIds(target);
        const isForIds = key === 'select' && String(args[0]) === '_rowid';
        const result: unknown = value.apply(target, isForIds ? [['id']] : args);
        return result instanceof Query ? ignoringRowIds(result) : result;
      };
    },
  });

const idsOf = async (view: TableView, start: number, end: number): Promise<number[]> =>
  (await view.rows(start, end, { columns: ['id'] })).toArray().map((row) => Number(row['id']));

const orders: Readonly<Record<string, readonly Ordering[]>> = {
  'by a number with NaN, null and zeros of both signs': [{ column: 'score' }],
  'by a number, descending and nulls first': [{ column: 'score', descending: true, nullsFirst: true }],
  'by text': [{ column: 'text' }],
  'by a column of four values': [{ column: 'kind', descending: true }],
  'by three columns': [{ column: 'done' }, { column: 'kind', descending: true }, { column: 'score' }],
};

forEachSubject('sorted and filtered views', (makeCatalog) => {
  for (const [title, orderBy] of Object.entries(orders)) {
    test(`${title}: every row is on one page, ties in the order of the table`, async () => {
      const { db } = await makeCatalog();
      const table = await makeTable(db);
      const view = new TableView(table, { orderBy, where: 'id < 1000' });
      const wanted = expected(({ id }) => id < 1000n, orderBy);
      for (const size of [1, 7, 50, 2_000]) {
        const { rows: first, isFinal } = await view.firstRows(size, { columns: ['id'] });
        assert.deepEqual(
          first.toArray().map((row) => Number(row['id'])),
          wanted.slice(0, size),
        );
        assert.equal(isFinal, true);
      }
      const list = await view.list();
      assert.equal(list.length, wanted.length);
      const pages: number[] = [];
      for (let at = 0; at < list.length; at += 170) pages.push(...(await idsOf(view, at, at + 170)));
      assert.deepEqual(pages, wanted);
      await view.close();
    });
  }

  test('without an order have the rows of the table that fit the filter', async () => {
    const { db } = await makeCatalog();
    const view = new TableView(await makeTable(db), { where: "kind = 'kind 1' AND NOT isnan(score)" });
    const wanted = expected(({ kind, score }) => kind === 'kind 1' && score !== null && !Number.isNaN(score));
    assert.equal((await view.list()).length, wanted.length);
    assert.deepEqual(await idsOf(view, 0, wanted.length), wanted);
    const { rows: first } = await view.firstRows(5, { columns: ['kind', 'id'] });
    assert.deepEqual(
      first.schema.fields.map(({ name }) => name),
      ['kind', 'id'],
    );
    assert.deepEqual(
      first.toArray().map((row) => Number(row['id'])),
      wanted.slice(0, 5),
    );
    await view.close();
  });

  test('of a server without row ids are filtered by position, and are not sorted', async () => {
    const { db } = await makeCatalog();
    const table = withoutRowIds(await makeTable(db));
    const view = new TableView(table, { where: "kind = 'kind 1'" });
    const wanted = expected(({ kind }) => kind === 'kind 1');
    assert.deepEqual(await view.find(10), { numRows: wanted.length, isAll: true, isFinal: true });
    assert.equal(view.isByPosition, true);
    const pages: number[] = [];
    for (let at = 0; at < wanted.length; at += 70)
      pages.push(...(await idsOf(view, at, Math.min(at + 70, wanted.length))));
    assert.deepEqual(pages, wanted);
    const sorted = new TableView(table, { orderBy: [{ column: 'kind' }] });
    await assert.rejects(
      sorted.find(10),
      (error) =>
        isCatalogError(error, 'Unsupported') && /without their row ids, which sorting needs/.test(error.message),
    );
  });

  test('of no row have the columns', async () => {
    const { db } = await makeCatalog();
    const view = new TableView(await makeTable(db), { where: 'id < 0', orderBy: [{ column: 'id' }] });
    assert.equal((await view.list()).length, 0);
    for (const none of [(await view.firstRows(5)).rows, await view.rows(0, 5)])
      assert.deepEqual([none.numRows, none.schema.fields.length], [0, 6]);
    await view.close();
  });

  test('name a wrong filter or column, and can be asked again after a failure', async () => {
    const { db } = await makeCatalog();
    const table = await makeTable(db);
    for (const spec of [{ where: 'nope = 1' }, { orderBy: [{ column: 'nope' }] }] satisfies ViewSpec[]) {
      const view = new TableView(table, spec);
      for (const call of [() => view.list(), () => view.list(), () => view.firstRows(3)])
        await assert.rejects(call, (error) => isCatalogError(error) && /nope/.test(error.message));
    }
    await assert.rejects(new TableView(table, { orderBy: [{ column: 'at' }] }).list(), /"at"/);
  });

  test('stop when they are aborted', async () => {
    const { db } = await makeCatalog();
    const view = new TableView(await makeTable(db), { orderBy: [{ column: 'id' }] });
    const reason = new Error('on purpose');
    await assert.rejects(view.list({ signal: AbortSignal.abort(reason) }), reason);
    assert.equal((await view.list()).length, expected(() => true).length);
    await view.close();
  });
});

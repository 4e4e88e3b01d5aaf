import assert from 'node:assert/strict';
import { connect } from '@lancedb/lancedb';
import type { Catalog } from '#catalog/catalog.ts';
import { compareTables } from '#catalog/view/compareTables.ts';
import type { RowAt, RowChange } from '#catalog/view/rowChange.ts';
import type { Table } from '#catalog/table/table.ts';
import { isCatalogError } from '#shared/errors.ts';
import { forEachSubject } from '../subjects.ts';

const idOf = ({ batch, row }: RowAt): number => Number(batch.getChild('id')!.get(row));

const refuses = (kind: 'InvalidInput' | 'ColumnNotFound') => (error: unknown) => isCatalogError(error, kind);

const textOf = (change: RowChange): string =>
  change.kind === 'changed'
    ? `~${idOf(change.after)} ${change.columns.join(' ')}`
    : change.kind === 'added'
      ? `+${idOf(change.after)}`
      : `-${idOf(change.before)}`;

async function differences(before: Table, after: Table, key: string[] | null = ['id']): Promise<string[]> {
  const texts: string[] = [];
  const { changes } = await compareTables(before, after, { key: key ?? undefined });
  for await (const change of changes) texts.push(textOf(change));
  return texts;
}

const rows = Array.from({ length: 700 }, (_, index) => ({
  id: BigInt(index),
  name: index % 5 === 0 ? null : `row ${index}`,
  price: index % 7 === 0 ? Number.NaN : index / 4,
  vector: [index, 0.5],
}));

/** JSON has no bigint and no NaN. */
const plain = (value: unknown): unknown =>
  typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value)) ? String(value) : value;

forEachSubject('comparison of tables', (makeCatalog) => {
  async function makeVersions(): Promise<{ db: Catalog; at: (version: number) => Promise<Table>; last: number }> {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', rows);
    await table.delete('id IN (0, 350)');
    await table.update({ where: 'id = 699', values: { price: 1 } });
    await table.update({ where: 'id = 5', values: { name: 'five', vector: [5, 0.25] } });
    await table.add([
      { ...rows[1]!, id: 1000n },
      { ...rows[1]!, id: -1n },
    ]);
    return { db, at: (version) => db.openTable('t', { version }), last: await table.version() };
  }

  test('finds the rows that were added, removed and changed between two versions, in the order of the key', async () => {
    const { at, last } = await makeVersions();
    const [before, after] = [await at(1), await at(last)];
    assert.deepEqual(await differences(before, after), ['+-1', '-0', '~5 name vector', '-350', '~699 price', '+1000']);
    assert.deepEqual(await differences(after, before), ['--1', '+0', '~5 name vector', '+350', '~699 price', '-1000']);
    assert.deepEqual(await differences(after, after), []);
  });

  test('compares two tables by several columns, and names columns that only one has', async () => {
    const { db, at } = await makeVersions();
    const other = await db.createTable(
      'other',
      rows.map(({ vector, ...row }) => ({ ...row, more: vector.length })).toReversed(),
    );
    const { changes, columnChanges, columns } = await compareTables(await at(1), other, { key: ['name', 'id'] });
    const found: RowChange[] = [];
    for await (const change of changes) found.push(change);
    assert.deepEqual([found, columns], [[], ['name', 'id', 'price']]);
    assert.deepEqual(
      columnChanges.map(({ name, before, after }) => [name, before !== undefined, after !== undefined]),
      [
        ['vector', true, false],
        ['more', false, true],
      ],
    );
  });

  test('refuses a key that several rows have, that is missing, or that is empty', async () => {
    const { at } = await makeVersions();
    const table = await at(1);
    await assert.rejects(differences(table, table, ['name']), refuses('InvalidInput'));
    await assert.rejects(differences(table, table, ['nope']), refuses('ColumnNotFound'));
    await assert.rejects(differences(table, table, []), refuses('InvalidInput'));
  });

  test('compares two versions of a table with stable row ids without a key, also after it was optimized', async () => {
    const { db, root } = await makeCatalog();
    const native = await connect(root, { storageOptions: { new_table_enable_stable_row_ids: 'true' } });
    await native.createTable(
      't',
      rows.map(({ id, price }) => ({ id: Number(id), price })),
    );
    native.close();
    const at = (version?: number): Promise<Table> => db.openTable('t', { version });
    const table = await at();
    await table.update({ where: 'id = 5', values: { price: 7 } });
    await table.delete('id IN (0, 350)');
    await table.add([{ id: 1000, price: 1 }]);
    const changed = await table.version();
    const all = ['-0', '~5 price', '-350', '+1000'];
    assert.deepEqual(await differences(await at(1), await at(changed), null), all);
    assert.deepEqual(await differences(await at(changed), await at(changed), null), []);
    assert.deepEqual(await differences(await at(changed), await at(1), null), ['+0', '~5 price', '+350', '-1000']);
    const optimizer = await connect(root);
    await (await optimizer.openTable('t')).optimize();
    optimizer.close();
    const newest = await db.openTable('t');
    assert.ok((await newest.version()) > changed);
    assert.deepEqual(await differences(await at(1), newest, null), all);
    const { rowsRead, changes, key } = await compareTables(await at(1), newest, {});
    for await (const change of changes) assert.ok(change.rowId !== undefined);
    assert.deepEqual([rowsRead, key], [{ before: 700, after: 699 }, undefined]);
    const compared = await db.compare({ path: ['t'], version: 1 }, ['t']);
    const found = compared.rows.toArray().map((row) => row.toJSON() as Record<string, unknown>);
    assert.deepEqual(
      compared.rows.schema.fields.map(({ name }) => name),
      ['change', '_rowid', 'id', 'price', 'changed', 'id_before', 'price_before'],
    );
    assert.deepEqual(
      found.map(({ change, _rowid: id }) => `${String(change)} ${String(id)}`),
      ['removed 0', 'changed 5', 'removed 350', 'added 700'],
    );
  });

  test('needs a key for rows whose ids are not stable, and for two tables', async () => {
    const { db, at, last } = await makeVersions();
    await assert.rejects(differences(await at(1), await at(last), null), (error) =>
      isCatalogError(error, 'Unsupported'),
    );
    const other = await db.createTable('other', rows);
    await assert.rejects(differences(await at(1), other, null), refuses('InvalidInput'));
  });

  test('is counted and returned with rows by db.compare, as a comparison of all rows in memory finds it', async () => {
    const { db, last } = await makeVersions();
    const all = async (version: number) => {
      const found = await (await db.openTable('t', { version })).query().toArray();
      return new Map(found.map((row) => [Number(row.id), JSON.stringify(row, (_, value: unknown) => plain(value))]));
    };
    const [before, after] = [await all(1), await all(last)];
    const ids = [...new Set([...before.keys(), ...after.keys()])].toSorted((a, b) => a - b);
    const expected = ids.flatMap((id) => {
      const [was, is] = [before.get(id), after.get(id)];
      return was === is ? [] : [`${was === undefined ? 'added' : is === undefined ? 'removed' : 'changed'} ${id}`];
    });
    const seen: number[] = [];
    const result = await db.compare({ path: ['t'], version: 1 }, ['t'], {
      key: 'id',
      onProgress: ({ rows: read }) => seen.push(read),
    });
    const { rows: table, ...facts } = result;
    assert.deepEqual(facts, {
      added: 2,
      removed: 2,
      changed: 2,
      compared: 702,
      columnChanges: [],
      key: ['id'],
      isWhole: true,
      before: 1,
      after: last,
    });
    assert.ok(seen.length > 0 && seen.every((read) => read <= 1400));
    const names = table.schema.fields.map(({ name }) => name);
    assert.deepEqual(names, [
      'change',
      'id',
      'name',
      'price',
      'vector',
      'changed',
      'name_before',
      'price_before',
      'vector_before',
    ]);
    const found = table.toArray().map((row) => row.toJSON() as Record<string, unknown>);
    assert.deepEqual(
      found.map(({ change, id }) => `${String(change)} ${String(id)}`),
      expected,
    );
    const five = found.find(({ id }) => id === 5n)!;
    assert.deepEqual(
      [five['name'], five['name_before'], five['price_before'], [...(five['vector_before'] as Iterable<number>)]],
      ['five', null, null, [5, 0.5]],
    );
    assert.deepEqual([...(five['changed'] as Iterable<string>)], ['name', 'vector']);
    const removed = found.find(({ id }) => id === 350n)!;
    assert.deepEqual([removed['price'], removed['vector_before']], [Number.NaN, null]);
  });

  test('returns a bounded number of rows by db.compare, and counts all', async () => {
    const { db } = await makeVersions();
    await db.createTable(
      'other',
      rows.map(({ id, name }) => ({ id: id + 600n, name, change: 1 })),
    );
    const { rows: some, isWhole, ...result } = await db.compare(['t'], ['other'], { key: ['id'], limit: 3 });
    const { added, removed, changed } = result;
    assert.deepEqual([some.numRows, isWhole, added, removed, changed], [3, false, 599, 599, 81]);
    assert.deepEqual(
      result.columnChanges.map(({ name }) => name),
      ['price', 'vector', 'change'],
    );
    const only = await db.compare(['t'], { path: ['other'], catalog: db }, { key: 'id', columns: ['name'], limit: 0 });
    assert.deepEqual([only.changed, only.rows.numRows, only.isWhole, only.columnChanges], [81, 0, false, []]);
    const one = await db.compare(['t'], ['other'], { key: 'id', kind: 'changed', limit: 81 });
    assert.deepEqual([one.changed, one.rows.numRows, one.isWhole], [81, 81, true]);
    assert.ok([...one.rows.getChild('change')!].every((kind) => kind === 'changed'));
    await assert.rejects(db.compare(['t'], ['other'], { key: 'id', kind: 'all' as never }), refuses('InvalidInput'));
    await assert.rejects(db.compare(['t'], ['other']), refuses('InvalidInput'));
    await assert.rejects(db.compare({ path: ['t'], version: 1, tag: 'a' }, ['t']), refuses('InvalidInput'));
    await assert.rejects(db.compare(['t'], ['t'], { keys: ['id'] } as never), refuses('InvalidInput'));
  });
});

import assert from 'node:assert/strict';
import type { RememberedColumns } from '../../../../extension/host/state.ts';
import { ColumnMemory, isColumnSettings, maxTables } from '../../../../extension/panels/columnMemory.ts';

const settings = { order: [], pinned: ['id'], hidden: [], widths: [{ name: 'id', width: 90 }], rowHeight: 'small' };
const placeOf = (table: string) => ({ connection: 'shop', path: ['a'], table });

function memoryOf(kept: unknown) {
  const state = {
    kept,
    tableColumns: () => state.kept,
    setTableColumns: (tables: readonly RememberedColumns[]) => {
      state.kept = tables;
      return Promise.resolve();
    },
  };
  return { state, memory: new ColumnMemory(state) };
}

suite('The memory of columns', () => {
  test('finds what was set on a table, and forgets what is set back', async () => {
    const { state, memory } = memoryOf(undefined);
    assert.equal(memory.find(placeOf('orders')), undefined);
    await memory.keep(placeOf('orders'), settings);
    assert.deepEqual(memory.find(placeOf('orders')), settings);
    assert.equal(memory.find({ ...placeOf('orders'), path: [] }), undefined);
    await memory.keep(placeOf('orders'), { ...settings, pinned: [], widths: [], expanded: ['address'] });
    assert.deepEqual(memory.find(placeOf('orders'))?.expanded, ['address']);
    await memory.keep(placeOf('orders'), { ...settings, pinned: [], widths: [] });
    assert.deepEqual(state.kept, []);
  });

  test('forgets the tables that were set first, and does not keep what is too long', async () => {
    const { state, memory } = memoryOf(undefined);
    for (let table = 0; table < maxTables + 5; table++) await memory.keep(placeOf(String(table)), settings);
    assert.equal((state.kept as unknown[]).length, maxTables);
    assert.equal(memory.find(placeOf('4')), undefined);
    assert.deepEqual(memory.find(placeOf('5')), settings);
    await memory.keep(placeOf('5'), { ...settings, order: ['x'.repeat(300_000)] });
    assert.equal(memory.find(placeOf('5')), undefined);
    for (let table = 0; table < 20; table++)
      await memory.keep(placeOf(String(table)), { ...settings, order: ['x'.repeat(200_000)] });
    assert.ok(JSON.stringify(state.kept).length <= 2 ** 20);
  });

  test('follows a table and a connection that were renamed', async () => {
    const { state, memory } = memoryOf(undefined);
    await memory.keep(placeOf('orders'), settings);
    await memory.keep(placeOf('old'), { ...settings, pinned: ['x'] });
    await memory.keep({ ...placeOf('orders'), connection: 'shop,' }, settings);
    await memory.move(placeOf('orders'), placeOf('old'));
    assert.equal(memory.find(placeOf('orders')), undefined);
    assert.deepEqual(memory.find(placeOf('old')), settings);
    assert.equal((state.kept as unknown[]).length, 2);
    await memory.renameConnection('shop', 'a "shop"');
    assert.deepEqual(memory.find({ ...placeOf('old'), connection: 'a "shop"' }), settings);
    assert.deepEqual(memory.find({ ...placeOf('orders'), connection: 'shop,' }), settings);
    assert.equal(memory.find(placeOf('old')), undefined);
  });

  test('ignores a state that another version of the extension has written', () => {
    const { memory } = memoryOf([null, { table: '["shop",["a"],"orders"]', settings: { pinned: [1] } }]);
    assert.equal(memory.find(placeOf('orders')), undefined);
    assert.equal(isColumnSettings({ ...settings, widths: [{ name: 'id', width: Number.NaN }] }), false);
    assert.equal(isColumnSettings({ ...settings, expanded: [1] }), false);
  });
});

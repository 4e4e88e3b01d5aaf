import assert from 'node:assert/strict';
import type { SavedView } from '#shared/protocol/panelViews.ts';
import type { Connection } from '../../../../extension/explorer/node.ts';
import type { TableViews } from '../../../../extension/host/state.ts';
import {
  isSameShown,
  maxViews,
  SavedViews,
  standardColumns,
  viewNameProblem,
} from '../../../../extension/panels/savedViews.ts';

const placeOf = (table: string, connection = 'shop') => ({ connection, path: ['a'], table });
const named = (name: string, where = ''): SavedView => ({ name, view: { where, orderBy: [] } });

const shop: Connection = { name: 'shop', kind: 'dir', root: '/data/shop', source: 'person' };

function viewsOf(kept?: unknown, connections: Connection[] = [shop]) {
  const state = {
    kept,
    savedViews: () => state.kept,
    setSavedViews: (views: readonly TableViews[]) => {
      state.kept = JSON.parse(JSON.stringify(views));
      return Promise.resolve();
    },
  };
  return { state, connections, views: new SavedViews(state, { list: () => connections }) };
}

const namesOf = (views: readonly SavedView[]): string[] => views.map(({ name }) => name);

suite('The saved views of a table', () => {
  test('are listed by name, replaced, renamed and deleted, with every field of a view', async () => {
    const { views, state } = viewsOf();
    const orders = placeOf('orders');
    await views.save(orders, named('b'));
    await views.save(orders, named('a', 'x > 1'));
    const view = { where: '', orderBy: [], search: { text: 'mug', isScan: false } };
    await views.save(orders, { ...named('b'), view });
    assert.deepEqual(namesOf(views.list(orders)), ['a', 'b']);
    assert.deepEqual(views.find(orders, 'b')?.view, view);
    assert.deepEqual(views.list(placeOf('others')), []);
    await views.rename(orders, 'a', ' c ');
    assert.deepEqual(namesOf(views.list(orders)), ['b', 'c']);
    await assert.rejects(views.rename(orders, 'a', 'd'), /has no saved view "a"/);
    await assert.rejects(views.rename(orders, 'c', 'b'), /already has a view "b"/);
    for (const name of ['b', 'c']) await views.delete(orders, name);
    assert.deepEqual(state.kept, []);
  });

  test('belong to what a connection opens, whatever its name', async () => {
    const { views, connections } = viewsOf();
    await views.save(placeOf('orders'), named('big'));
    connections.push({ ...shop, name: 'other name' }, { ...shop, name: 'elsewhere', root: '/data/else' });
    assert.deepEqual(namesOf(views.list(placeOf('orders', 'other name'))), ['big']);
    assert.deepEqual(views.list(placeOf('orders', 'elsewhere')), []);
  });

  test('follow a table that was renamed and a connection that has moved', async () => {
    const { views, connections } = viewsOf();
    await views.save(placeOf('orders'), named('big', 'x > 1'));
    await views.save(placeOf('sales'), named('big', 'x > 2'));
    await views.save(placeOf('sales'), named('old'));
    await views.move(placeOf('orders'), placeOf('sales'));
    assert.deepEqual(views.list(placeOf('orders')), []);
    assert.deepEqual(
      views.list(placeOf('sales')).map(({ name, view }) => [name, view.where]),
      [
        ['big', 'x > 1'],
        ['old', ''],
      ],
    );
    const moved: Connection = { ...shop, root: '/moved' };
    await views.moveConnection(shop, moved);
    connections[0] = moved;
    assert.deepEqual(namesOf(views.list(placeOf('sales'))), ['big', 'old']);
  });

  test('are refused beyond the limits, and none is lost then', async () => {
    const { views } = viewsOf();
    const orders = placeOf('orders');
    for (let at = 0; at < maxViews; at++) await views.save(orders, named(`view ${at}`));
    await assert.rejects(views.save(orders, named('one more')), /no more are kept. Delete one first/);
    await views.save(orders, named('view 7', 'x > 1'));
    assert.equal(views.list(orders).length, maxViews);
    await assert.rejects(views.save(placeOf('other'), named('long', 'x'.repeat(200_000))), /Save it as a file/);
  });

  test('of another version of the extension are ignored if they have another shape', () => {
    const id = JSON.stringify(['dir', '/data/shop', '', ['a'], 'orders']);
    assert.deepEqual(viewsOf([null, { table: id, views: [{ name: 'x' }] }]).views.list(placeOf('orders')), []);
    assert.deepEqual(viewsOf({ table: id }).views.list(placeOf('orders')), []);
    assert.equal(viewsOf([{ table: id, views: [named('x')] }]).views.list(placeOf('orders')).length, 1);
  });

  test('have names that can be read', () => {
    for (const name of ['', '  ', 'x'.repeat(101), 'a\nb', 'a\u202Eb', 'a\u0007'])
      assert.notEqual(viewNameProblem(name), undefined, JSON.stringify(name));
    for (const name of ['Größe > 3', 'שלום', '👩‍👩‍👧', '__proto__']) assert.equal(viewNameProblem(name), undefined, name);
    assert.match(viewNameProblem(' a ', [named('a')]) ?? '', /already has a view "a"/);
  });

  test('are the same if filter, order and shown columns are', () => {
    const view = { where: 'x > 1', orderBy: [] };
    assert.ok(isSameShown({ view }, { view: { ...view, where: ' x > 1 ' }, columns: standardColumns }));
    const wide = { ...standardColumns, widths: [{ name: 'x', width: 90 }], rowHeight: 'large' };
    assert.ok(isSameShown({ view }, { view, columns: wide }));
    for (const change of [{ hidden: ['x'] }, { pinned: ['x'] }, { order: ['x'] }])
      assert.equal(isSameShown({ view }, { view, columns: { ...standardColumns, ...change } }), false);
    assert.equal(isSameShown({ view }, { view: { ...view, orderBy: [{ column: 'x', descending: true }] } }), false);
  });
});

import assert from 'node:assert/strict';
import { CatalogError, isAbort } from '#shared/errors.ts';
import type { ViewState } from '#shared/protocol/viewsMessages.ts';
import type { NearestFacts, PanelNearest, PanelTable, PanelView } from '#shared/protocol/webviewMessages.ts';
import { type BlobsById, lostSource } from '../../../../extension/panels/tableSource.ts';
import { isWholeTable, tableKey, type ViewDeps, ViewSource } from '../../../../extension/panels/viewSource.ts';

const place = { connection: 'sample', path: ['shop'], table: 'orders' };
const table: PanelTable = {
  title: 'sample/shop/orders',
  key: JSON.stringify({ ...place, version: 3 }),
  columns: [
    { name: 'id', type: 'int64', nullable: false },
    { name: 'media', type: 'struct<>', nullable: true, blob: 'lance.blob.v2' },
  ],
  numRows: 1_000,
  version: 3,
  hasViews: true,
  readsBlobs: true,
};
const view: PanelView = { where: 'id > 1', orderBy: [] };
const facts: NearestFacts = { distanceType: 'l2', index: undefined, usesIndex: false, milliseconds: 3 };

const blobsById: BlobsById = {
  heads: (column, rowIds) => Promise.resolve(Buffer.from(`heads ${column} ${rowIds.join()}`)),
  range: (column, { rowId, start, end }) => Promise.resolve(Buffer.from(`bytes ${column} ${rowId} ${start}-${end}`)),
};

/**
 * Stands in for the views process, which would need a table and time to fail at the right moment.
 * @param early the state that it reports before it responds
 */
function world({ early, shown = view }: { early?: ViewState; shown?: PanelView } = {}) {
  const asked: [method: string, id: string][] = [];
  const listeners = new Map<string, (state: ViewState | undefined) => void>();
  let failure: Error | undefined;
  const failWith = (error: Error | undefined): void => void (failure = error);
  const request = (method: string, params: { id: string }) => {
    asked.push([method, params.id]);
    if (method === 'openView') {
      if (early) listeners.get(params.id)?.(early);
      return Promise.resolve({ rows: 500, listed: 0, end: 'running', ...(shown.nearest && { nearest: facts }) });
    }
    const error = failure;
    failure = undefined;
    if (method === 'readView' && error) return Promise.reject(error);
    if (method === 'readRowIds') return Promise.resolve(['7', '3']);
    return Promise.resolve(Buffer.from(`rows of ${params.id}`).toString('base64'));
  };
  const views = {
    request,
    onView: (id: string, listener: (state: ViewState | undefined) => void) => {
      listeners.set(id, listener);
      return { dispose: () => void listeners.delete(id) };
    },
  } as unknown as ViewDeps['views'];
  const deps = { views, viewsCatalog: () => Promise.resolve({ implementation: 'rest', uri: 'https://a.example' }) };
  const source = new ViewSource(
    deps as unknown as ViewDeps,
    { source: { ...lostSource('orders', new CatalogError('Internal', '', '')), blobsById }, place, table },
    shown,
  );
  const report = (state: ViewState | undefined): void => [...listeners.values()].at(-1)?.(state);
  return { asked, source, report, listeners, failWith };
}

const { signal } = new AbortController();

suite('the source of a sorted or filtered table', () => {
  test('has the key of its table and view, and the rows that are known', async () => {
    const { source, report } = world();
    const opened = await source.open(signal);
    assert.deepEqual(JSON.parse(opened.key), { ...place, version: 3, view });
    const { numRows, totalRows, isGrowing, readsBlobs } = opened;
    assert.deepEqual(
      { numRows, totalRows, isGrowing, readsBlobs },
      { numRows: 500, totalRows: 1_000, isGrowing: true, readsBlobs: true },
    );
    report({ rows: 600, listed: 650, end: 'running' });
    assert.match(source.growing.growth.note, /650 so far/);
    report({ rows: 999, listed: 999, end: 'complete', isMoved: true });
    assert.deepEqual(source.growing.growth, {
      key: opened.key,
      numRows: 999,
      note: '',
      isGrowing: false,
      isMoved: true,
    });
    report({ rows: 999, listed: 999, end: 'canceled' });
    assert.equal(source.growing.growth.isMoved, undefined, 'rows are read again once');
  });

  test('is complete if its list ends before the response that it runs, and says how far a sort here is', async () => {
    const { source } = world({ early: { rows: 800, listed: 800, end: 'complete' } });
    const { numRows, isGrowing, note } = await source.open(signal);
    assert.deepEqual([numRows, isGrowing, note], [800, false, '']);
    const notes: string[] = [];
    const { source: other } = world({ early: { rows: 0, listed: 70_000, end: 'running' } });
    other.onDidChange(() => notes.push(other.growth.note));
    await other.open(signal);
    assert.deepEqual(notes, ["The server can't sort, so the rows are sorted here… 70,000 read", 'Finding rows…']);
  });

  test('says that the process has ended, keeps its rows, and opens the view again for the next ones', async () => {
    const { source, report, asked } = world();
    await source.open(signal);
    report({ rows: 800, listed: 800, end: 'running' });
    report(undefined);
    const { note, numRows, isGrowing } = source.growing.growth;
    assert.match(note, /has ended. It starts again/);
    assert.deepEqual([numRows, isGrowing], [800, false]);
    await source.rows(0, 5, signal);
    assert.deepEqual(
      asked.map(([method]) => method),
      ['openView', 'openView', 'readView'],
    );
    assert.notEqual(asked[0]![1], asked[1]![1]);
    assert.equal(source.growing.growth.numRows, 800);
  });

  test('opens the view again once if the engine has ended, and reports other failures', async () => {
    const { source, asked, failWith } = world();
    await source.open(signal);
    failWith(new CatalogError('ServiceUnavailable', 'The engine did not answer.', ''));
    const rows = Buffer.from(await source.rows(0, 5, signal)).toString();
    assert.equal(rows, `rows of ${asked.at(-1)![1]}`);
    assert.deepEqual(
      asked.map(([method]) => method),
      ['openView', 'readView', 'closeView', 'openView', 'readView'],
    );
    failWith(new CatalogError('InvalidInput', 'No.', ''));
    await assert.rejects(source.rows(0, 5, signal), /No\./);
  });

  test('reads the blobs of its rows by their ids', async () => {
    const { source } = world();
    await source.open(signal);
    assert.equal(String(Buffer.from(await source.rows(4, 6, signal, ['media']))), 'heads media 7,3');
    const bytes = await source.blob('media', { row: 4, start: 10, end: 20 }, signal);
    assert.equal(String(Buffer.from(bytes)), 'bytes media 7 10-20');
    assert.match(String(Buffer.from(await source.rows(4, 6, signal, ['id', 'media']))), /^rows of/);
  });

  test('is closed with the panel, and can not be read then', async () => {
    const { source, asked, listeners } = world();
    const controller = new AbortController();
    await source.open(controller.signal);
    controller.abort();
    assert.deepEqual(asked.at(-1), ['closeView', asked[0]![1]]);
    assert.equal(listeners.size, 0);
    await assert.rejects(source.rows(0, 5, signal), isAbort);
  });

  test('has the key of its table, and another one for another vector', async () => {
    const nearest: PanelNearest = {
      column: 'embedding',
      vectors: [[0.5, 1]],
      from: { kind: 'row', row: 4, version: 3 },
      k: 10,
    };
    const keyOf = async (change: Partial<PanelNearest>): Promise<string> =>
      (await world({ shown: { ...view, nearest: { ...nearest, ...change } } }).source.open(signal)).key;
    const key = await keyOf({});
    assert.equal(tableKey(key), table.key);
    assert.equal(tableKey(table.key), table.key);
    assert.equal(tableKey('sql:1'), 'sql:1');
    assert.doesNotMatch(key, /0\.5/, 'the key is short');
    assert.equal(await keyOf({ from: { kind: 'pasted' } }), key);
    for (const change of [{ vectors: [[0.5, 2]] }, { k: 20 }, { useIndex: false }])
      assert.notEqual(await keyOf(change), key);
  });

  test('has the distances after the other columns if it is a search, and how its rows were found', async () => {
    const nearest: PanelNearest = { column: 'embedding', vectors: [[1]], from: { kind: 'pasted' }, k: 10 };
    const { columns, nearest: found } = await world({ shown: { ...view, nearest } }).source.open(signal);
    assert.deepEqual(
      columns.map(({ name }) => name),
      ['id', 'media', '_distance'],
    );
    assert.deepEqual(found, facts);
  });

  test('is not needed for all rows in the order of the table', () => {
    assert.ok(isWholeTable({ where: ' ', orderBy: [] }));
    assert.ok(!isWholeTable({ where: '', orderBy: [{ column: 'id', descending: false }] }));
    const nearest: PanelNearest = { column: 'v', vectors: [[1]], from: { kind: 'pasted' }, k: 1 };
    assert.ok(!isWholeTable({ where: '', orderBy: [], nearest }));
  });
});

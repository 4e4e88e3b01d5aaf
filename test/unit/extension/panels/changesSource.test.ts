import assert from 'node:assert/strict';
import { CatalogError } from '#shared/errors.ts';
import type { ChangeKind, ChangesState } from '#shared/protocol/changes.ts';
import type { PanelTable } from '#shared/protocol/webviewMessages.ts';
import { changesOfTables, ChangesSource } from '../../../../extension/panels/changesSource.ts';
import { lostSource } from '../../../../extension/panels/tableSource.ts';
import { isWholeTable, type ViewDeps } from '../../../../extension/panels/viewSource.ts';

const place = { connection: 'sample', path: ['shop'], table: 'orders' };
const table: PanelTable = {
  title: 'sample/shop/orders',
  key: JSON.stringify({ ...place, version: 7 }),
  columns: [{ name: 'id', type: 'int64', nullable: false }],
  numRows: 1_000,
  version: 7,
  hasViews: true,
  readsBlobs: true,
};
const viewOf = (kind: ChangeKind | null, version = 3) => ({
  where: '',
  orderBy: [],
  changes: { path: ['shop', 'orders'], version, isBefore: true, key: ['id'], kind },
});

const counts = { added: 3, removed: 2, changed: 1 };
const none = { added: 0, removed: 0, changed: 0 };
const running: ChangesState = {
  counts: none,
  readable: none,
  rowsRead: 0,
  rowsTotal: 2_000,
  compared: 0,
  end: 'running',
};
const complete: ChangesState = { ...running, counts, readable: counts, compared: 1_000, end: 'complete' };

/** Stands in for the views process, which would need tables and time to end at the right moment. */
function world() {
  const asked: [method: string, params: Record<string, unknown>][] = [];
  const listeners = new Map<string, (state: ChangesState | undefined) => void>();
  const request = (method: string, params: Record<string, unknown>) => {
    asked.push([method, params]);
    const columns = ['change', 'id', 'changed'].map((name) => ({ name, type: 'utf8', nullable: true }));
    if (method === 'openChanges') return Promise.resolve({ columns, numShown: 2, columnChanges: [], state: running });
    return Promise.resolve(Buffer.from(`rows of ${String(params['kind'])}`).toString('base64'));
  };
  const views = {
    request,
    onChanges: (id: string, listener: (state: ChangesState | undefined) => void) => {
      listeners.set(id, listener);
      return { dispose: () => void listeners.delete(id) };
    },
  } as unknown as ViewDeps['views'];
  const deps = {
    views,
    viewsCatalog: () => Promise.resolve({ implementation: 'rest', uri: 'https://a.example' }),
  } as unknown as ViewDeps;
  const base = { source: lostSource('orders', new CatalogError('Internal', '', '')), place, table };
  const report = (state: ChangesState | undefined): void => [...listeners.values()].at(-1)?.(state);
  const methods = (): string[] => asked.map(([method]) => method);
  return { asked, deps, base, report, methods };
}

suite('the source of the differences between two tables', () => {
  test('has the key of its table and view, what is compared, and the rows of its kind', async () => {
    const { deps, base, report, asked } = world();
    const source = ChangesSource.of(deps, base, viewOf('removed'), base.source);
    const opened = await source.open(new AbortController().signal);
    assert.deepEqual(JSON.parse(opened.key), { ...place, version: 7, view: viewOf('removed') });
    assert.deepEqual(asked[0]![1]['before'], { path: ['shop', 'orders'], version: 3 });
    assert.deepEqual(asked[0]![1]['after'], { path: ['shop', 'orders'], version: 7 });
    assert.deepEqual(
      [opened.readsBlobs, opened.isGrowing, opened.columnSettings?.pinned],
      [undefined, true, ['change']],
    );
    const { before, after } = opened.changes!;
    assert.deepEqual([before, after], ['version 3', 'version 7']);
    report(complete);
    const { numRows, isGrowing, changes } = source.growth;
    assert.deepEqual([numRows, isGrowing, changes?.state.counts], [2, false, counts]);
    report({ ...complete, readable: { ...counts, added: 1 } });
    assert.match(source.growth.note, /^The first 4 differences are shown; all are counted$/);
  });

  test('shares the comparison with its other kinds, and closes it with the last one', async () => {
    const { deps, base, methods } = world();
    const [first, second] = [new AbortController(), new AbortController()];
    const all = ChangesSource.of(deps, base, viewOf(null), base.source);
    await all.open(first.signal);
    const added = ChangesSource.of(deps, base, viewOf('added'), all);
    await added.open(second.signal);
    first.abort();
    assert.deepEqual(methods(), ['openChanges']);
    assert.equal(Buffer.from(await added.rows(0, 1, second.signal)).toString(), 'rows of added');
    second.abort();
    assert.deepEqual(methods(), ['openChanges', 'readChanges', 'closeChanges']);
    const other = ChangesSource.of(deps, base, viewOf(null, 4), all);
    await other.open(new AbortController().signal);
    assert.equal(methods().at(-1), 'openChanges');
  });

  test('says that the process has ended, and compares again for the next rows', async () => {
    const { deps, base, report, methods } = world();
    const { signal } = new AbortController();
    const source = ChangesSource.of(deps, base, viewOf(null), base.source);
    await source.open(signal);
    report(complete);
    report(undefined);
    const { note, numRows, isGrowing } = source.growth;
    assert.match(note, /has ended. It starts again/);
    assert.deepEqual([numRows, isGrowing], [6, false]);
    await source.rows(0, 6, signal);
    assert.deepEqual(methods(), ['openChanges', 'openChanges', 'readChanges']);
  });

  test('is exported by the comparison that is shown, with its tables, key and kind', async () => {
    const { deps, base, asked } = world();
    const { signal } = new AbortController();
    const source = ChangesSource.of(deps, base, viewOf('added'), base.source);
    await source.open(signal);
    const { path } = viewOf(null).changes;
    assert.deepEqual(await source.exported(signal), {
      id: asked[0]![1]['id'],
      before: { path, version: 3 },
      after: { path, version: 7 },
      key: ['id'],
      kind: 'added',
    });
  });

  test('is not the whole table, and is written as code with its compared columns', () => {
    assert.equal(isWholeTable(viewOf(null)), false);
    const columns = ['change', '_rowid', 'id', 'changed', 'id_before'].map((name) => {
      return { name, type: 'utf8', nullable: true };
    });
    const changes = { before: '', after: '', columnChanges: [], numShown: 3, state: complete };
    const view = { ...viewOf('changed').changes, key: null, isBefore: false };
    assert.deepEqual(changesOfTables(place, { ...table, columns, changes }, view), {
      namespacePath: ['shop'],
      name: 'orders',
      before: { path: ['shop', 'orders'], version: 7 },
      after: { path: ['shop', 'orders'], version: 3 },
      key: null,
      kind: 'changed',
      columns: ['id'],
    });
  });
});

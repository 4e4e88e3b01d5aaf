import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { CatalogError, isAbort } from '#shared/errors.ts';
import { wholeTable } from '#shared/protocol/panelViews.ts';
import type { ViewState } from '#shared/protocol/viewsMessages.ts';
import type { PanelTable, PanelView } from '#shared/protocol/webviewMessages.ts';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { ColumnMemory } from '../../../extension/panels/columnMemory.ts';
import { PanelFailures } from '../../../extension/panels/panelFailure.ts';
import { SavedViews } from '../../../extension/panels/savedViews.ts';
import { TablePanel } from '../../../extension/panels/tablePanel.ts';
import type { TableSource } from '../../../extension/panels/tableSource.ts';
import { eventually, extensionApi, repository } from '../support.ts';
import { PanelStandIn, type PageStandIn } from './panelStandIn.ts';

const place = { connection: 'nowhere', path: ['shop'], table: 'orders' };
const filtered: PanelView = { where: 'id > 3', orderBy: [] };
const complete: ViewState = { rows: 5, listed: 5, end: 'complete' };

/** Returns a table at a version, whose rows are one byte. */
function tableAt(version: number, change: Partial<TableSource> = {}): TableSource {
  const key = JSON.stringify({ connection: 'nowhere', path: ['shop'], table: 'orders', version });
  const table: PanelTable = {
    title: 'nowhere/shop/orders',
    key,
    columns: [{ name: 'id', type: 'int64', nullable: true }],
    numRows: 9,
    version,
    selectsColumns: true,
    hasViews: true,
  };
  return {
    title: `orders (version ${version})`,
    place,
    open: () => Promise.resolve(table),
    rows: (start) => Promise.resolve(Uint8Array.of(start)),
    versions: {
      at: (chosen) => tableAt(chosen ?? version),
      list: () => Promise.resolve({ versions: [], tags: {} }),
      newest: () => Promise.resolve(version),
    },
    ...change,
  };
}

/** Stands in for the views process, because the tests decide when a view is found. */
class ViewsStandIn {
  readonly opening: { found: (state: ViewState) => void; signal: AbortSignal | undefined }[] = [];
  readonly #listeners = new Set<(state: ViewState) => void>();

  readonly deps = {
    viewsCatalog: () => Promise.resolve({ implementation: 'rest', id: 'nowhere', uri: 'http://127.0.0.1' }),
    views: {
      onView: (_: string, listener: (state: ViewState) => void) => {
        this.#listeners.add(listener);
        return { dispose: () => void this.#listeners.delete(listener) };
      },
      onChanges: () => ({ dispose: () => undefined }),
      request: (method: string, _: unknown, signal?: AbortSignal): Promise<unknown> => {
        if (method === 'readView') return Promise.resolve(Buffer.of(7).toString('base64'));
        if (method !== 'openView') return Promise.resolve(null);
        return new Promise((resolve, reject) => {
          this.opening.push({ found: resolve, signal });
          signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        });
      },
    },
  } as unknown as ConstructorParameters<typeof TablePanel>[2]['views'];

  change(state: ViewState): void {
    for (const listener of this.#listeners) listener(state);
  }

  /** Waits until a view is asked for. */
  next(count = 1): Promise<ViewsStandIn['opening'][number]> {
    return eventually('a view is asked for', () => this.opening[count - 1]);
  }
}

/** Waits until the messages that were sent have arrived, which no part of these tests delays. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

suite('the pages of a table panel', () => {
  let api: ExtensionApi;
  let standIn: PanelStandIn;
  let views: ViewsStandIn;
  let panel: TablePanel;

  suiteSetup(async () => {
    api = await extensionApi();
  });
  setup(() => {
    standIn = new PanelStandIn();
    views = new ViewsStandIn();
  });
  teardown(() => panel.dispose());

  function open(source: TableSource): void {
    const none = { list: () => [] };
    const state = {
      tableColumns: () => [],
      setTableColumns: () => Promise.resolve(),
      savedViews: () => [],
      setSavedViews: () => Promise.resolve(),
      comparisonKeys: () => [],
      setComparisonKeys: () => Promise.resolve(),
    };
    panel = new TablePanel(standIn.panel, source, {
      dist: vscode.Uri.file(`${repository}/dist`),
      log: api.log,
      failures: new PanelFailures({ ...none, moveDirectory: () => Promise.resolve(), remove: () => Promise.resolve() }),
      views: views.deps,
      comparing: { catalogOf: () => Promise.reject(new Error('No catalog.')), state },
      columns: new ColumnMemory(state),
      saved: new SavedViews(state, none),
      onDidShow: () => undefined,
    });
  }

  /** Loads a page, which asks for its table. */
  async function loadPage(): Promise<{ page: PageStandIn; table: PanelTable }> {
    const page = standIn.load();
    return { page, table: await page.host.request('ready', null) };
  }

  /** Requests a view, and waits until the views process is asked for it. */
  async function requestView({ page, table }: Awaited<ReturnType<typeof loadPage>>, count = 1) {
    const requested = page.host.request('view', { key: table.key, view: filtered });
    requested.catch(() => undefined);
    return { requested, ...(await views.next(count)) };
  }

  test('get no results of requests of the page before them', async () => {
    const reads: ((bytes: Uint8Array) => void)[] = [];
    open(tableAt(1, { rows: () => new Promise((resolve) => void reads.push(resolve)) }));
    const before = await loadPage();
    void before.page.host.request('rows', { key: before.table.key, start: 5, end: 6 });
    await eventually('rows are read', () => reads[0]);
    standIn.hide();
    const { page, table } = await loadPage();
    const rows = page.host.request('rows', { key: table.key, start: 0, end: 1 });
    await eventually('rows are read again', () => reads[1]);
    reads[0]!(Uint8Array.of(5));
    await settled();
    reads[1]!(Uint8Array.of(0));
    assert.deepEqual([...(await rows)], [0]);
  });

  test('keep the rows that they show when a view is found that another page has asked for', async () => {
    open(tableAt(1));
    const view = await requestView(await loadPage());
    standIn.hide();
    const { page, table } = await loadPage();
    view.found(complete);
    await settled();
    assert.deepEqual([...(await page.host.request('rows', { key: table.key, start: 2, end: 3 }))], [2]);
  });

  test('show a view that was found while the panel was hidden', async () => {
    open(tableAt(1));
    const view = await requestView(await loadPage());
    standIn.hide();
    view.found(complete);
    await settled();
    assert.deepEqual((await loadPage()).table.view, filtered);
  });

  test('ask again for the view that a cell wants, if the panel was hidden before it was found', async () => {
    open(tableAt(1, { startView: filtered }));
    const first = await loadPage();
    assert.deepEqual(first.table.startView, filtered);
    await requestView(first);
    standIn.hide();
    const second = await loadPage();
    assert.deepEqual(second.table.startView, filtered);
    const { requested, found } = await requestView(second, 2);
    found(complete);
    await requested;
    standIn.hide();
    assert.equal((await loadPage()).table.startView, undefined);
  });

  test('give up the view that they wait for when another table is shown', async () => {
    open(tableAt(1));
    const { requested, signal } = await requestView(await loadPage());
    await panel.show(tableAt(2));
    assert.equal(signal?.aborted, true, 'the search for the rows has ended');
    await assert.rejects(requested, isAbort);
  });

  test('never get a closed table back by a view of all rows', async () => {
    open(tableAt(1));
    const { page, table } = await loadPage();
    let opened: (() => void) | undefined;
    // The same version, so the key of the page is that of this table.
    const again = tableAt(1, { open: () => new Promise((resolve) => (opened = () => resolve(table))) });
    void panel.show(again);
    const requested = page.host.request('view', { key: table.key, view: wholeTable });
    requested.catch(() => undefined);
    await settled();
    await panel.show(tableAt(2));
    opened!();
    await assert.rejects(requested, /shows another table now/);
    assert.equal((await panel.table).version, 2);
  });

  test('show again why the rows are gone, after the panel was hidden', async () => {
    const gone = new CatalogError('VersionNotFound', 'Version 1 is gone.', 'Open another one.');
    open(tableAt(1, { rows: () => Promise.reject(gone) }));
    const first = await loadPage();
    await assert.rejects(first.page.host.request('rows', { key: first.table.key, start: 0, end: 1 }));
    await eventually('the page says why', () => first.page.failures[0]);
    standIn.hide();
    const page = standIn.load();
    await assert.rejects(page.host.request('ready', null));
    assert.deepEqual(page.failures, first.page.failures);
    await panel.show(tableAt(2));
    assert.equal(page.shown.at(-1)?.version, 2);
  });

  test('keep the reason why the rows are gone while a list of rows still grows', async () => {
    let isGone = false;
    const gone = new CatalogError('VersionNotFound', 'Version 1 is gone.', 'Open another one.');
    open(tableAt(1, { confirm: () => (isGone ? Promise.reject(gone) : Promise.resolve()) }));
    const first = await loadPage();
    const { requested, found } = await requestView(first);
    found({ rows: 1, listed: 1, end: 'running' });
    const { key } = await requested;
    isGone = true;
    await first.page.host.request('rows', { key, start: 0, end: 1 });
    await eventually('the page says why', () => first.page.failures[0]);
    views.change({ rows: 2, listed: 2, end: 'running' });
    await settled();
    assert.deepEqual(first.page.grown, []);
  });

  test('still say that there is a newer version when all rows are shown again', async () => {
    const { versions, ...others } = tableAt(1);
    let newest = 1;
    open({ ...others, versions: { ...versions!, newest: () => Promise.resolve(newest) } });
    const first = await loadPage();
    const { requested, found } = await requestView(first);
    found(complete);
    const view = await requested;
    newest = 2;
    await panel.lookForNewer();
    assert.deepEqual(first.page.newer, [{ key: view.key, newest: 2 }]);
    const whole = await first.page.host.request('view', { key: view.key, view: wholeTable });
    assert.deepEqual([whole.view, whole.newest], [undefined, 2]);
  });

  test('look for a newer version when they show a view again', async () => {
    const { versions, ...others } = tableAt(1);
    open({ ...others, versions: { ...versions!, newest: () => Promise.resolve(2) } });
    const { requested, found } = await requestView(await loadPage());
    found(complete);
    const { key } = await requested;
    standIn.hide();
    const { page } = await loadPage();
    assert.deepEqual(await eventually('the newer version is told', () => page.newer[0]), { key, newest: 2 });
  });
});

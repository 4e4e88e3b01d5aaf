import { posix } from 'node:path';
import * as vscode from 'vscode';
import { CatalogError, isAbort } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import type {
  ColumnValues,
  PanelAction,
  PanelFailure,
  PanelHostMethods,
  PanelTable,
  PanelView,
  PanelViewMethods,
} from '#shared/protocol/webviewMessages.ts';
import type { ExportedChanges, RowSelection } from '#shared/protocol/viewsMessages.ts';
import { Endpoint } from '#shared/protocol/rpc.ts';
import { runCommand } from '../host/commands.ts';
import { setting } from '../host/settings.ts';
import { FileDrafts } from '../host/fileDrafts.ts';
import { logFailure, type Log } from '../host/log.ts';
import { wholeTable } from '#shared/protocol/panelViews.ts';
import { timeZoneChoices } from '#shared/format/times.ts';
import { asRecord } from '#shared/records.ts';
import { type ColumnMemory, isColumnSettings, onlyColumns } from './columnMemory.ts';
import { type SavedViews, standardColumns } from './savedViews.ts';
import { ShownView, type StartView } from './shownView.ts';
import { webviewHtml } from './html.ts';
import type { PanelFailures } from './panelFailure.ts';
import { ChangesSource, hasChanges } from './changesSource.ts';
import { chooseChanges, type ChooseChangesDeps } from './chooseChanges.ts';
import { chooseVersion } from './chooseVersion.ts';
import type { VersionChoice } from './tableVersions.ts';
import { exactBytes, type TablePlace, type TableSource } from './tableSource.ts';
import { VersionWatch } from './versionWatch.ts';
import {
  countValues,
  filterByCell,
  isWholeTable,
  tableKey,
  type ViewBase,
  type ViewDeps,
  ViewSource,
} from './viewSource.ts';
import {
  checkAction,
  checkRows,
  checkBlob,
  checkView,
  checkCell,
  checkSelection,
  checkValues,
  columnName,
  namesOf,
} from './panelRequests.ts';

/** What a panel needs. */
export type TablePanelDeps = {
  dist: vscode.Uri;
  log: Log;
  failures: PanelFailures;
  views: ViewDeps;
  comparing: Omit<ChooseChangesDeps, 'views'>;
  columns: ColumnMemory;
  saved: SavedViews;
  /** The view that the panel shows first. */
  start?: StartView | undefined;
  /** Called after the user has chosen another version. */
  onDidShow: () => void;
};

type Showing = { source: TableSource; table: Promise<PanelTable>; controller: AbortController; watch?: VersionWatch };

/** A webview panel and the table that it shows. */
export class TablePanel implements vscode.Disposable {
  readonly panel: vscode.WebviewPanel;
  readonly #log: Log;
  readonly #failures: PanelFailures;
  readonly shownView: ShownView;
  readonly #onDidShow: () => void;
  readonly #endpoint: Endpoint<PanelHostMethods, PanelViewMethods>;
  readonly #files = new FileDrafts();
  readonly #subscriptions: vscode.Disposable[] = [];
  readonly #views: ViewDeps;
  readonly #comparing: ChooseChangesDeps;
  #showing: Showing;
  /** The table itself, if the panel shows a view of it. */
  #base: Showing | undefined;
  /** The view that the page waits for. */
  #finding: TableSource | undefined;
  /**
   * Whether the webview has requested its table. Before this request, the webview can't receive another table. A hidden
   * panel loses its content, so its webview requests the table again when the panel is shown.
   */
  #isListening = false;
  /** Aborts when the webview loses its content, because it never answers a request from before. */
  #page = new AbortController();
  #isPinned = false;
  #hasFailed = false;
  #rowsSent = 0;
  /** Whether the newest version was read when the table was opened, and the page has not been shown since. */
  #isFresh = false;
  /** The view that the page has to request first. */
  #startView: PanelView | undefined;

  constructor(
    panel: vscode.WebviewPanel,
    source: TableSource,
    { dist, log, failures, views, comparing, columns, saved, start, onDidShow }: TablePanelDeps,
  ) {
    this.#onDidShow = onDidShow;
    this.panel = panel;
    this.#log = log;
    this.#failures = failures;
    this.#views = views;
    this.#comparing = { ...comparing, views };
    this.#showing = this.#open(source);
    this.shownView = new ShownView(
      {
        log,
        saved,
        columns,
        view: () => this.#showing.table.then(({ view }) => view ?? wholeTable).catch(() => undefined),
        showVersion: (version) => this.#showVersion(version),
        apply: async (view, settings) => (await this.#tell('applyView', { view, columns: settings })) === true,
        tell: async (state) => void (await this.#tell('savedView', state)),
      },
      source.place,
      start,
    );
    this.#endpoint = new Endpoint<PanelHostMethods, PanelViewMethods>(
      (frame) => void panel.webview.postMessage(frame),
      {
        ready: () => this.#ready(),
        act: async (params) => (await this.#act(checkAction(asRecord(params)['action'])), null),
        rows: (params, signal) => this.#rows(params, signal),
        blob: (params, signal) => this.#blob(params, signal),
        view: (params, signal) => this.#view(params, signal),
        filterByCell: (params, signal) => this.#filterByCell(params, signal),
        columnValues: (params, signal) => this.#columnValues(params, signal),
        keepColumns: async (params) => (await this.#keepColumns(params), null),
        createFile: (params, signal) => this.#files.create(params, signal),
        writeFile: (params) => this.#files.write(params),
        closeFile: (params) => this.#files.close(params),
      },
    );
    this.#subscriptions.push(
      panel.webview.onDidReceiveMessage((frame: unknown) => void this.#endpoint.receive(frame)),
      panel.onDidDispose(() => this.dispose()),
      panel.onDidChangeViewState(() => {
        if (!panel.visible) this.#forgetPage();
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('lanceCatalog.timeZone')) void this.#redraw();
      }),
    );
    panel.webview.options = { enableScripts: true, localResourceRoots: [dist] };
    panel.webview.html = webviewHtml(panel.webview, dist, 'table', source.title, source.place ? 'table' : 'rows');
    panel.title = this.tabTitle;
  }

  /** The table in the panel. @throws the reason if it can't be opened */
  get table(): Promise<PanelTable> {
    return grown(this.#showing.source, this.#showing.table);
  }

  get rowsSent(): number {
    return this.#rowsSent;
  }

  get title(): string {
    return this.#showing.source.title;
  }

  /** Title of the tab: the name of the view file, or else of the table. */
  get tabTitle(): string {
    const { fileUri } = this.shownView;
    return fileUri ? posix.basename(fileUri.path) : this.title;
  }

  /** Location of the table; `undefined` if it is not in a catalog. */
  get place(): TablePlace | undefined {
    return this.#showing.source.place;
  }

  get isPinned(): boolean {
    return this.#isPinned;
  }

  /** Pins the panel, so that the next preview opens another panel. */
  pin(): void {
    this.#isPinned = true;
  }

  /** Whether the panel shows why it has no table. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Shows another table in this panel, and cancels pending reads of the old table. */
  async show(source: TableSource): Promise<void> {
    this.#stop();
    this.#showing = this.#open(source);
    // A view that a cell has asked for is not the saved one.
    if (source.startView) this.shownView.showTable(undefined);
    this.shownView.showTable(source.place);
    this.#hasFailed = false;
    this.panel.title = this.tabTitle;
    if (!this.#isListening) return;
    const { table, controller } = this.#showing;
    const page = this.#page.signal;
    try {
      const opened = this.#withColumns(await grown(source, table));
      if (controller.signal.aborted || page.aborted) return;
      await this.#endpoint.request('show', opened, AbortSignal.any([controller.signal, page]));
      void this.shownView.tell();
      if (!this.#isFresh) void this.lookForNewer();
      this.#isFresh = false;
    } catch (error) {
      if (isAbort(error) || controller.signal.aborted) return;
      await this.#fail(await this.#failures.explain(source, error), controller.signal);
    }
  }

  /** Opens the box for the number of a row, once the page shows a table. */
  async goToRow(): Promise<void> {
    this.panel.reveal();
    await this.#showing.table;
    await this.#endpoint.request('goToRow', null, this.#showing.controller.signal);
  }

  /**
   * Returns the selected rows, in a view that is open, after a check that they still are those of their version.
   * @throws CatalogError InvalidInput (13) if no rows are selected, or as `TableSource.confirm`
   */
  async selection(): Promise<RowSelection> {
    const { source, table, controller } = this.#showing;
    const { signal } = controller;
    const answer = await this.#endpoint.request('selection', null, AbortSignal.any([signal, this.#page.signal]));
    const selected = checkSelection(answer, await grown(source, table));
    await source.confirm?.(signal);
    return source instanceof ViewSource ? { ...selected, view: await source.openedId(signal) } : selected;
  }

  /** Returns what an export of the differences needs that the panel shows; `undefined` if it shows no comparison. */
  async exportedChanges(): Promise<ExportedChanges | undefined> {
    const { source, controller } = this.#showing;
    return source instanceof ChangesSource ? source.exported(controller.signal) : undefined;
  }

  /** Returns all rows of the view that is open, whose number is known. */
  async wholeView(): Promise<RowSelection> {
    const { source, table, controller } = this.#showing;
    const { numRows } = await grown(source, table);
    const view = source instanceof ViewSource ? await source.openedId(controller.signal) : null;
    return { view, start: 0, end: numRows, columns: null };
  }

  async rows(start: number, end: number, signal: AbortSignal): Promise<Uint8Array> {
    const { source, watch } = this.#showing;
    const bytes = exactBytes(await source.rows(start, end, signal));
    watch?.afterRows();
    return bytes;
  }

  dispose(): void {
    // The endpoint is closed first, because it can't send the cancellation of a call to a closed panel.
    this.#endpoint.close();
    this.#stop();
    this.#files.dispose();
    for (const subscription of this.#subscriptions.splice(0)) subscription.dispose();
  }

  /**
   * Returns the table for the webview. If the table can't be opened, tells the webview what the user can do, and then
   * throws the error.
   */
  async #ready(): Promise<PanelTable> {
    this.#forgetPage();
    this.#isListening = true;
    const { source, table, controller } = this.#showing;
    try {
      const opened = this.#withColumns(await grown(source, table));
      void this.shownView.tell();
      // A page that is shown again may show a version from long ago.
      if (!this.#isFresh) void this.lookForNewer();
      this.#isFresh = false;
      return opened;
    } catch (error) {
      if (!isAbort(error)) await this.#fail(await this.#failures.explain(source, error), controller.signal);
      throw error;
    }
  }

  #withColumns(table: PanelTable): PanelTable {
    const { columns } = (this.#base ?? this.#showing).source;
    const kept = this.shownView.columns;
    // Without columns, a view of a cell has those of the table, and not those of a view before.
    const others = kept ?? (this.#startView && standardColumns);
    const columnSettings = columns ? onlyColumns(columns, table, kept) : others;
    if (columns && columnSettings) this.shownView.takeColumns(columnSettings);
    return {
      ...this.#named(table),
      ...(columnSettings && { columnSettings }),
      ...(this.#startView && { startView: this.#startView }),
    };
  }

  /** Returns a table with its name if the tab has the name of a view file. */
  #named(table: PanelTable): PanelTable {
    const { place } = this;
    if (!place || !this.shownView.fileUri) return table;
    return { ...table, tableName: `${displayPath(place.path, place.table)} (${place.connection})` };
  }

  async #keepColumns(params: PanelHostMethods['keepColumns'][0]): Promise<void> {
    const { table } = this.#showing;
    const { key, settings } = asRecord(params);
    if (typeof key !== 'string' || !isColumnSettings(settings))
      throw new CatalogError('InvalidInput', 'The columns to remember are not valid.', 'Open the table again.');
    await sameTable(table, key);
    // Columns that a cell has chosen are not those that the user wants next time.
    if ((this.#base ?? this.#showing).source.columns) this.shownView.takeColumns(settings);
    else await this.shownView.keepColumns(settings);
  }

  async #fail(failure: PanelFailure, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#hasFailed = true;
    if (!this.#isListening) return;
    try {
      await this.#endpoint.request('fail', failure, AbortSignal.any([signal, this.#page.signal]));
    } catch (error) {
      if (!isAbort(error)) throw error;
    }
  }

  /** Shows the same table again, because a setting that its values depend on has changed. */
  async #redraw(): Promise<void> {
    const { source, table, controller } = this.#showing;
    if (!this.#isListening || this.#hasFailed) return;
    try {
      const opened = this.#withColumns(await grown(source, table));
      await this.#endpoint.request('show', opened, AbortSignal.any([controller.signal, this.#page.signal]));
    } catch (error) {
      if (!isAbort(error)) logFailure(this.#log, `time zone of ${source.title}`, error);
    }
  }

  #forgetPage(): void {
    this.#isListening = false;
    this.#page.abort();
    this.#page = new AbortController();
  }

  async #act(action: PanelAction): Promise<void> {
    const { source } = this.#base ?? this.#showing;
    if (action === 'cancel') return this.#showing.source.growing?.cancel();
    if (action === 'showNewest') return this.#showVersion('newest');
    if (action === 'chooseVersion') return this.chooseVersion();
    if (action === 'exportSelected')
      return void (await vscode.commands.executeCommand('lanceCatalog.table.exportSelectedRows'));
    if (action === 'chooseView') return this.chooseView();
    if (action === 'compare') return this.compare();
    const next = await runCommand(this.#log, `${action} of ${source.title}`, () =>
      this.#failures.act(action, source.place),
    );
    if (next === 'open') await this.show(source);
    if (next === 'close') this.panel.dispose();
  }

  /** Lets the user choose the version of the table that is shown. */
  async chooseVersion(): Promise<void> {
    const { source, table, controller } = this.#base ?? this.#showing;
    const { versions, place } = source;
    if (!versions || !place)
      throw new CatalogError('Unsupported', 'These rows have no versions.', 'Open a table of the Lance Catalog view.');
    const shown = await table.then(({ version }) => version ?? undefined).catch(() => undefined);
    const title = `Version of ${displayPath(place.path, place.table)}`;
    const chosen = await chooseVersion(title, shown, (signal) => versions.list(signal), controller.signal);
    if (chosen !== undefined) await this.#showVersion(chosen);
  }

  /** Lets the user choose the view of the table that is shown. */
  async chooseView(): Promise<void> {
    const { source, controller } = this.#base ?? this.#showing;
    await runCommand(this.#log, `view of ${source.title}`, () => this.shownView.choose(controller.signal));
  }

  /** Sends a request to the page, if it shows a table. */
  async #tell<M extends 'applyView' | 'savedView'>(
    method: M,
    params: PanelViewMethods[M][0],
  ): Promise<PanelViewMethods[M][1] | undefined> {
    if (!this.#isListening) return undefined;
    try {
      return await this.#endpoint.request(method, params, this.#page.signal);
    } catch (error) {
      if (!isAbort(error)) throw error;
      return undefined;
    }
  }

  /** Lets the user choose what the table is compared with, and shows the differences. */
  async compare(): Promise<void> {
    await runCommand(this.#log, `comparison of ${this.title}`, () => this.#compare());
  }

  async #compare(): Promise<void> {
    const { source, table, controller } = this.#base ?? this.#showing;
    if (!source.versions || !source.place)
      throw new CatalogError('Unsupported', 'These rows have no versions.', 'Open a table of the Lance Catalog view.');
    const base = await viewBase({ source, table });
    const changes = await chooseChanges(this.#comparing, base, controller.signal);
    if (!changes) return;
    const { key } = await this.#showing.table;
    const view = { where: '', orderBy: [], changes };
    await this.#endpoint.request('showChanges', { key, view }, AbortSignal.any([controller.signal, this.#page.signal]));
  }

  async #showVersion(chosen: VersionChoice): Promise<void> {
    const { versions } = (this.#base ?? this.#showing).source;
    if (versions) await this.show(versions.at(chosen === 'newest' ? undefined : chosen));
    this.#onDidShow();
  }

  /** Reads which version is the newest, and tells the page. A failure is only logged: rows that are read will show it. */
  async lookForNewer(): Promise<void> {
    const showing = this.#showing;
    const { table, controller } = showing;
    const { source } = this.#base ?? showing;
    if (!source.versions || !this.#isListening) return;
    const signal = AbortSignal.any([controller.signal, this.#page.signal]);
    try {
      const [{ key, version }, newest] = await Promise.all([table, source.versions.newest(signal)]);
      if (newest === undefined || version === null || signal.aborted || newest < version) return;
      showing.table = table.then((opened) => ({ ...opened, newest }));
      await this.#endpoint.request('newest', { key, newest }, signal);
    } catch (error) {
      if (!isAbort(error)) logFailure(this.#log, `newest version of ${source.title}`, error);
    }
  }

  #open(source: TableSource): Showing {
    // The version of a pinned table says nothing about the newest one.
    this.#isFresh = source.place?.version === undefined;
    if (!(source instanceof ViewSource)) this.#startView = source.startView;
    const controller = new AbortController();
    const table = source.open(controller.signal);
    // Handle a failure now: the webview may request the table only after `open` has failed.
    table.catch((error: unknown) => {
      if (!isAbort(error)) logFailure(this.#log, `opening ${source.title}`, error);
    });
    const growing = source.growing?.onDidChange(() => void this.#grow(source, table, controller.signal));
    controller.signal.addEventListener('abort', () => growing?.dispose(), { once: true });
    const { signal } = controller;
    const confirm = source.confirm?.bind(source);
    const onLost = (error: unknown): void => void this.#lose(source, error, signal);
    return { source, table, controller, ...(confirm && { watch: new VersionWatch(confirm, { signal, onLost }) }) };
  }

  /** Shows why rows that were read, or could not be read, are gone. Other failures say so at the rows. */
  async #lose(source: TableSource, error: unknown, signal: AbortSignal): Promise<void> {
    if (isAbort(error) || this.#hasFailed) return;
    logFailure(this.#log, `rows of ${source.title}`, error);
    const lost = await this.#failures.lost(source, error);
    if (lost) await this.#fail(lost, signal);
  }

  /** Tells the webview how far a table has come that grows, or why it could not be completed. */
  async #grow(source: TableSource, table: Promise<PanelTable>, signal: AbortSignal): Promise<void> {
    const { growing } = source;
    if (!growing || !this.#isListening || signal.aborted) return;
    const requested = AbortSignal.any([signal, this.#page.signal]);
    try {
      // A view is not shown yet while its first rows are found.
      if (this.#finding === source && growing.growth.note !== '')
        return void (await this.#endpoint.request('finding', { note: growing.growth.note }, requested));
      if (this.#showing.source !== source) return;
      // If the table can't be opened, the caller of `open` shows why.
      if (growing.failure) {
        const opened = await table.catch(() => undefined);
        if (opened && !this.#hasFailed) await this.#fail(await this.#failures.explain(source, growing.failure), signal);
      } else await this.#endpoint.request('grow', growing.growth, requested);
    } catch (error) {
      if (!isAbort(error)) logFailure(this.#log, `rows of ${source.title}`, error);
    }
  }

  async #rows(params: PanelHostMethods['rows'][0], signal: AbortSignal): Promise<Uint8Array> {
    const { source, table, controller, watch } = this.#showing;
    const { key, start, end, columns } = checkRows(params);
    const opened = await sameTable(table, key);
    try {
      const bytes = exactBytes(await source.rows(start, end, signal, columns && namesOf(opened, columns)));
      this.#rowsSent += end - start;
      watch?.afterRows();
      return bytes;
    } catch (error) {
      // Every further page would fail, too, so the panel shows one message instead of many failed cells.
      await this.#lose(source, error, controller.signal);
      throw error;
    }
  }

  /**
   * Shows the table filtered or sorted, or as it is. If that fails, the panel continues to show what it has, unless the
   * table or its version is gone.
   * @throws CatalogError as `ViewSource.open`, InvalidInput (13) if the table has no views
   */
  async #view(params: PanelHostMethods['view'][0], signal: AbortSignal): Promise<PanelTable> {
    const { key, view } = checkView(params);
    this.#startView = undefined;
    const before = this.#showing;
    const base = this.#base ?? before;
    // The page may have given up a view that this process has shown already, so the view before doesn't matter.
    await sameTable(base.table, tableKey(key));
    if (isWholeTable(view)) {
      this.#replaceView(base);
      void this.shownView.tell();
      return this.#withColumns(await grown(base.source, base.table));
    }
    const source = hasChanges(view)
      ? ChangesSource.of(this.#views, await viewBase(base), view, before.source)
      : new ViewSource(this.#views, await viewBase(base), view);
    this.#finding = source;
    const next = this.#open(source);
    const cancel = (): void => next.controller.abort();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      await next.table.finally(() => {
        if (this.#finding === source) this.#finding = undefined;
      });
      signal.throwIfAborted();
      if (this.#showing !== before)
        throw new CatalogError('InvalidInput', 'The panel shows another table now.', 'Filter again.');
    } catch (error) {
      cancel();
      // A comparison may lack the other table or version.
      if (source instanceof ViewSource && this.#showing === before)
        await this.#lose(base.source, error, before.controller.signal);
      throw error;
    }
    signal.removeEventListener('abort', cancel);
    this.#replaceView(next, base);
    void this.shownView.tell();
    return this.#named(await grown(source, next.table));
  }

  /** @throws CatalogError as `narrowedFilter`, InvalidInput (13) if the table has no views */
  async #filterByCell(params: PanelHostMethods['filterByCell'][0], signal: AbortSignal): Promise<string> {
    const { key, column, ...cell } = checkCell(params);
    const { source, table } = this.#showing;
    const name = columnName((await sameTable(table, key)).columns, column);
    if (name === undefined) throw new CatalogError('InvalidInput', 'The table has no such column.', 'Open it again.');
    const base = await viewBase(this.#base ?? this.#showing);
    return filterByCell(this.#views, base, source, { ...cell, column: name }, signal);
  }

  /** @throws CatalogError as `countValues`, InvalidInput (13) if the table has no views */
  async #columnValues(params: PanelHostMethods['columnValues'][0], signal: AbortSignal): Promise<ColumnValues> {
    const { key, column, ...request } = checkValues(params);
    const name = columnName((await sameTable(this.#showing.table, key)).columns, column);
    if (name === undefined) throw new CatalogError('InvalidInput', 'The table has no such column.', 'Open it again.');
    return countValues(this.#views, await viewBase(this.#base ?? this.#showing), { ...request, column: name }, signal);
  }

  /** Shows a view of a table, or the table itself, which stays open. */
  #replaceView(next: Showing, base?: Showing): void {
    if (this.#showing !== next && this.#base) this.#showing.controller.abort();
    this.#showing = next;
    this.#base = base;
  }

  #stop(): void {
    this.#showing.controller.abort();
    this.#base?.controller.abort();
    this.#base = undefined;
  }

  async #blob(params: PanelHostMethods['blob'][0], signal: AbortSignal): Promise<Uint8Array> {
    const { source, table, watch } = this.#showing;
    const { key, column, row, start, end } = checkBlob(params);
    const name = columnName((await sameTable(table, key)).columns, column);
    if (name === undefined || !source.blob)
      throw new CatalogError('InvalidInput', 'The table has no such column of blobs.', 'Open the table again.');
    const bytes = exactBytes(await source.blob(name, { row, start, end }, signal));
    watch?.afterRows();
    return bytes;
  }
}

/** @throws CatalogError InvalidInput (13) if the panel shows another table than the webview expects */
async function sameTable(table: Promise<PanelTable>, key: string): Promise<PanelTable> {
  const opened = await table;
  if (opened.key === key) return opened;
  throw new CatalogError('InvalidInput', 'The panel shows another table now.', 'Open this one again.');
}

/** Returns a table with the rows that it has by now. @throws the reason if it could not be completed */
async function grown({ growing }: TableSource, table: Promise<PanelTable>): Promise<PanelTable> {
  const opened = await table;
  if (growing?.failure) throw growing.failure;
  const timeZone = timeZoneChoices.find((one) => one === setting('lanceCatalog.timeZone'));
  return { ...opened, ...growing?.growth, ...(timeZone && { timeZone }) };
}

/** @throws CatalogError InvalidInput (13) if the rows can't be filtered and sorted */
async function viewBase({ source, table }: Pick<Showing, 'source' | 'table'>): Promise<ViewBase> {
  const opened = await table;
  const { place } = source;
  if (place && opened.hasViews === true) return { source, place, table: opened };
  throw new CatalogError('InvalidInput', `The rows of "${opened.title}" can't be filtered or sorted.`, 'Use SQL.');
}

import { posix } from 'node:path';
import * as vscode from 'vscode';
import { CatalogError, isAbort } from '#shared/errors.ts';
import { timeZoneChoices } from '#shared/format/times.ts';
import { displayPath } from '#shared/names.ts';
import { wholeTable } from '#shared/protocol/panelViews.ts';
import type { ExportedChanges, RowSelection } from '#shared/protocol/viewsMessages.ts';
import type { PanelAction, PanelHostMethods, PanelTable } from '#shared/protocol/webviewMessages.ts';
import { asRecord } from '#shared/records.ts';
import { runCommand } from '../host/commands.ts';
import { FileDrafts } from '../host/fileDrafts.ts';
import type { Log } from '../host/log.ts';
import { onDidChangeSetting, setting } from '../host/settings.ts';
import { ChangesSource } from './changesSource.ts';
import { chooseChanges, type ChooseChangesDeps } from './chooseChanges.ts';
import { chooseVersion } from './chooseVersion.ts';
import { type ColumnMemory, isColumnSettings, onlyColumns } from './columnMemory.ts';
import { webviewHtml } from './html.ts';
import type { PanelFailures } from './panelFailure.ts';
import { PanelPage } from './panelPage.ts';
import { checkAction, checkSelection } from './panelRequests.ts';
import { type SavedViews, standardColumns } from './savedViews.ts';
import { ShownTable } from './shownTable.ts';
import { ShownView, type StartView } from './shownView.ts';
import type { SourceVersions, TablePlace, TableSource } from './tableSource.ts';
import type { VersionChoice } from './tableVersions.ts';
import type { ViewDeps } from './viewSource.ts';

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

/** A webview panel with a table: its tab, its commands, and what its page gets. */
export class TablePanel implements vscode.Disposable {
  readonly panel: vscode.WebviewPanel;
  readonly shownView: ShownView;
  readonly #log: Log;
  readonly #failures: PanelFailures;
  readonly #comparing: ChooseChangesDeps;
  readonly #onDidShow: () => void;
  readonly #page: PanelPage;
  readonly #table: ShownTable;
  readonly #files = new FileDrafts();
  readonly #subscriptions: readonly vscode.Disposable[];
  #isPinned = false;

  constructor(
    panel: vscode.WebviewPanel,
    source: TableSource,
    { dist, log, failures, views, comparing, columns, saved, start, onDidShow }: TablePanelDeps,
  ) {
    this.panel = panel;
    this.#log = log;
    this.#failures = failures;
    this.#comparing = { ...comparing, views };
    this.#onDidShow = onDidShow;
    this.#page = new PanelPage(panel, {
      ready: () => this.#ready(),
      act: async (params) => (await this.#act(checkAction(asRecord(params)['action'])), null),
      rows: (params, signal) => this.#table.rows(params, signal),
      blob: (params, signal) => this.#table.blob(params, signal),
      view: (params, signal) => this.#view(params, signal),
      filterByCell: (params, signal) => this.#table.filterByCell(params, signal),
      columnValues: (params, signal) => this.#table.columnValues(params, signal),
      keepColumns: async (params) => (await this.#keepColumns(params), null),
      createFile: (params, signal) => this.#files.create(params, signal),
      writeFile: (params) => this.#files.write(params),
      closeFile: (params) => this.#files.close(params),
    });
    this.#table = new ShownTable({ page: this.#page, failures, views, log }, source);
    this.shownView = new ShownView(
      {
        log,
        saved,
        columns,
        view: () => this.#table.shown.opened.then(({ view }) => view ?? wholeTable).catch(() => undefined),
        showVersion: (version) => this.#showVersion(version),
        apply: async (view, settings) => (await this.#page.tell('applyView', { view, columns: settings })) === true,
        tell: async (state) => void (await this.#page.tell('savedView', state)),
      },
      source.place,
      start,
    );
    this.#subscriptions = [
      panel.onDidDispose(() => this.dispose()),
      onDidChangeSetting('lanceCatalog.timeZone', () => {
        if (!this.hasFailed) void this.#send();
      }),
    ];
    panel.webview.options = { enableScripts: true, localResourceRoots: [dist] };
    panel.webview.html = webviewHtml(panel.webview, dist, 'table', source.title, source.place ? 'table' : 'rows');
    panel.title = this.tabTitle;
  }

  /** The table in the panel. @throws the reason if it can't be opened */
  get table(): Promise<PanelTable> {
    return this.#table.current();
  }

  get rowsSent(): number {
    return this.#table.rowsSent;
  }

  get title(): string {
    return this.#table.base.source.title;
  }

  /** Title of the tab: the name of the view file, or else of the table. */
  get tabTitle(): string {
    const { fileUri } = this.shownView;
    return fileUri ? posix.basename(fileUri.path) : this.title;
  }

  /** Location of the table; `undefined` if it is not in a catalog. */
  get place(): TablePlace | undefined {
    return this.#table.base.source.place;
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
    return this.#table.failure !== undefined;
  }

  /** Shows another table in this panel, and cancels pending reads of the old table. */
  async show(source: TableSource): Promise<void> {
    this.#table.open(source);
    // A view that a cell has asked for is not the saved one.
    if (source.startView) this.shownView.showTable(undefined);
    this.shownView.showTable(source.place);
    this.panel.title = this.tabTitle;
    await this.#send();
  }

  /** Opens the box for the number of a row, once the page shows a table. */
  async goToRow(): Promise<void> {
    const { shown } = this.#table;
    this.panel.reveal();
    await shown.opened;
    await this.#page.request('goToRow', null, shown.signal);
  }

  /**
   * Returns the selected rows, in a view that is open, after a check that they still are those of their version.
   * @throws CatalogError InvalidInput (13) if no rows are selected, or as `TableSource.confirm`
   */
  async selection(): Promise<RowSelection> {
    const { shown } = this.#table;
    const answer = await this.#page.request('selection', null, shown.signal);
    const selected = checkSelection(answer, await shown.current());
    await shown.source.confirm?.(shown.signal);
    return { ...selected, view: await shown.viewId() };
  }

  /** Returns what an export of the differences needs that the panel shows; `undefined` if it shows no comparison. */
  async exportedChanges(): Promise<ExportedChanges | undefined> {
    const { source, signal } = this.#table.shown;
    return source instanceof ChangesSource ? source.exported(signal) : undefined;
  }

  /** Returns all rows of the view that is open, whose number is known. */
  async wholeView(): Promise<RowSelection> {
    const { shown } = this.#table;
    const { numRows } = await shown.current();
    return { view: await shown.viewId(), start: 0, end: numRows, columns: null };
  }

  rows(start: number, end: number, signal: AbortSignal): Promise<Uint8Array> {
    return this.#table.shown.rows(start, end, signal);
  }

  /** Lets the user choose the version of the table that is shown. */
  async chooseVersion(): Promise<void> {
    const { opened, signal, source } = this.#table.base;
    const { versions, place } = versionsOf(source);
    const shown = await opened.then(({ version }) => version ?? undefined).catch(() => undefined);
    const title = `Version of ${displayPath(place.path, place.table)}`;
    const chosen = await chooseVersion(title, shown, (reading) => versions.list(reading), signal);
    if (chosen !== undefined) await this.#showVersion(chosen);
  }

  /** Lets the user choose the view of the table that is shown. */
  async chooseView(): Promise<void> {
    const { signal } = this.#table.base;
    await runCommand(this.#log, `view of ${this.title}`, () => this.shownView.choose(signal));
  }

  /** Lets the user choose what the table is compared with, and shows the differences. */
  async compare(): Promise<void> {
    await runCommand(this.#log, `comparison of ${this.title}`, () => this.#compare());
  }

  /** Looks for a newer version, because the table may have changed. */
  async lookForNewer(): Promise<void> {
    await this.#table.lookForNewer();
  }

  dispose(): void {
    this.#page.dispose();
    this.#table.close();
    this.#files.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  /**
   * Returns the table for a page. If it has failed, tells the page what the user can do, and then throws the reason.
   */
  async #ready(): Promise<PanelTable> {
    const { shown, failure } = this.#table;
    if (failure) {
      await this.#page.tell('fail', failure, shown.signal);
      throw new CatalogError('InvalidTableState', failure.title, failure.message);
    }
    try {
      const table = this.#withColumns(await this.#table.current());
      this.#onSent();
      return table;
    } catch (error) {
      if (!isAbort(error)) await this.#table.fail(shown, error);
      throw error;
    }
  }

  /** Shows the table in the page, if there is one, or why it can't be opened. */
  async #send(): Promise<void> {
    if (!this.#page.isListening) return;
    const { shown } = this.#table;
    const signal = AbortSignal.any([shown.signal, this.#page.signal]);
    try {
      const table = this.#withColumns(await this.#table.current());
      if (signal.aborted) return;
      await this.#page.request('show', table, signal);
      this.#onSent();
    } catch (error) {
      if (!isAbort(error) && !shown.signal.aborted) await this.#table.fail(shown, error);
    }
  }

  /** The page has got the table, but it may be a version from long ago. */
  #onSent(): void {
    void this.shownView.tell();
    void this.#table.lookAgain();
  }

  async #view(params: PanelHostMethods['view'][0], signal: AbortSignal): Promise<PanelTable> {
    await this.#table.showView(params, signal);
    void this.shownView.tell();
    const table = await this.#table.current();
    // A view keeps the columns of the page.
    return table.view ? this.#named(table) : this.#withColumns(table);
  }

  #withColumns(table: PanelTable): PanelTable {
    const { startView, base } = this.#table;
    const { columns } = base.source;
    const kept = this.shownView.columns;
    // Without columns, a view of a cell has those of the table, and not those of a view before.
    const others = kept ?? (startView && standardColumns);
    const columnSettings = columns ? onlyColumns(columns, table, kept) : others;
    if (columns && columnSettings) this.shownView.takeColumns(columnSettings);
    return { ...this.#named(table), ...(columnSettings && { columnSettings }), ...(startView && { startView }) };
  }

  /** Returns a table as this window shows it: with its name if the tab has that of a view file, and with the time zone. */
  #named(table: PanelTable): PanelTable {
    const { place } = this;
    const timeZone = timeZoneChoices.find((one) => one === setting('lanceCatalog.timeZone'));
    const hasName = place && this.shownView.fileUri;
    return {
      ...table,
      ...(hasName && { tableName: `${displayPath(place.path, place.table)} (${place.connection})` }),
      ...(timeZone && { timeZone }),
    };
  }

  async #keepColumns(params: PanelHostMethods['keepColumns'][0]): Promise<void> {
    const { base, shown } = this.#table;
    const { key, settings } = asRecord(params);
    if (typeof key !== 'string' || !isColumnSettings(settings))
      throw new CatalogError('InvalidInput', 'The columns to remember are not valid.', 'Open the table again.');
    await shown.withKey(key);
    // Columns that a cell has chosen are not those that the user wants next time.
    if (base.source.columns) this.shownView.takeColumns(settings);
    else await this.shownView.keepColumns(settings);
  }

  async #act(action: PanelAction): Promise<void> {
    const { source } = this.#table.base;
    if (action === 'cancel') return this.#table.shown.source.growing?.cancel();
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

  async #compare(): Promise<void> {
    const { base } = this.#table;
    versionsOf(base.source);
    const changes = await chooseChanges(this.#comparing, await base.viewBase(), base.signal);
    if (!changes) return;
    const { key } = await this.#table.shown.opened;
    await this.#page.request('showChanges', { key, view: { ...wholeTable, changes } }, base.signal);
  }

  async #showVersion(chosen: VersionChoice): Promise<void> {
    const { versions } = this.#table.base.source;
    if (versions) await this.show(versions.at(chosen === 'newest' ? undefined : chosen));
    this.#onDidShow();
  }
}

/** @throws CatalogError Unsupported (0) if the rows are not those of a table with versions */
function versionsOf({ versions, place }: TableSource): { versions: SourceVersions; place: TablePlace } {
  if (versions && place) return { versions, place };
  throw new CatalogError('Unsupported', 'These rows have no versions.', 'Open a table of the Lance Catalog view.');
}

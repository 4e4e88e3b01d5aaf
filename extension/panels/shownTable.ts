import { CatalogError, isAbort } from '#shared/errors.ts';
import type {
  ColumnValues,
  PanelFailure,
  PanelHostMethods,
  PanelTable,
  PanelView,
} from '#shared/protocol/webviewMessages.ts';
import { logFailure, type Log } from '../host/log.ts';
import { ChangesSource, hasChanges } from './changesSource.ts';
import { OpenedTable } from './openedTable.ts';
import type { PanelFailures } from './panelFailure.ts';
import type { PanelPage } from './panelPage.ts';
import { checkBlob, checkCell, checkRows, checkValues, checkView, columnName, namesOf } from './panelRequests.ts';
import type { TableSource } from './tableSource.ts';
import { countValues, filterByCell, isWholeTable, tableKey, type ViewDeps, ViewSource } from './viewSource.ts';

type ShownTableDeps = {
  /** Is told how the rows grow, that there is a newer version, and why rows are gone. */
  readonly page: PanelPage;
  readonly failures: PanelFailures;
  readonly views: ViewDeps;
  readonly log: Log;
};

/**
 * The table that a panel shows: all its rows, or a view of it, below which the table stays open. At most one further view
 * is awaited. Answers the requests of the page for rows and views.
 */
export class ShownTable {
  readonly #deps: ShownTableDeps;
  #base: OpenedTable;
  #view: OpenedTable | undefined;
  /** The view that the page waits for. Another view, another table and another page end it. */
  #awaited: OpenedTable | undefined;
  /** The view that the page has to request first, until it has got it or its failure. */
  #startView: PanelView | undefined;
  #failure: PanelFailure | undefined;
  /** The newest version, once it was read after the table was opened. */
  #newest: number | undefined;
  /** Whether the newest version was read when the table was opened, and no page has shown it yet. */
  #isFresh = false;
  #rowsSent = 0;

  constructor(deps: ShownTableDeps, source: TableSource) {
    this.#deps = deps;
    this.#base = this.#openTable(source);
  }

  /** The table itself, also if a view of it is shown. */
  get base(): OpenedTable {
    return this.#base;
  }

  /** The view that is shown, or else the table. */
  get shown(): OpenedTable {
    return this.#view ?? this.#base;
  }

  get startView(): PanelView | undefined {
    return this.#startView;
  }

  /** Why the panel shows no rows; undefined if it shows some, or opens the table. */
  get failure(): PanelFailure | undefined {
    return this.#failure;
  }

  get rowsSent(): number {
    return this.#rowsSent;
  }

  /** Returns what is shown, as far as it is known by now. @throws the reason if it can't be opened or completed */
  async current(): Promise<PanelTable> {
    const table = await this.shown.current();
    return this.#newest === undefined ? table : { ...table, newest: this.#newest };
  }

  /** Opens another table instead of this one, whose reads are canceled. */
  open(source: TableSource): void {
    this.close();
    this.#view = undefined;
    this.#base = this.#openTable(source);
  }

  close(): void {
    this.#awaited?.close();
    this.#view?.close();
    this.#base.close();
  }

  /** Returns rows for the page. */
  async rows(params: PanelHostMethods['rows'][0], signal: AbortSignal): Promise<Uint8Array> {
    const { shown } = this;
    const { key, start, end, columns } = checkRows(params);
    const table = await shown.withKey(key);
    try {
      const bytes = await shown.rows(start, end, signal, columns && namesOf(table, columns));
      this.#rowsSent += end - start;
      return bytes;
    } catch (error) {
      // Every further page would fail, too, so the panel shows one message instead of many failed cells.
      await this.#lose(shown, error);
      throw error;
    }
  }

  async blob(params: PanelHostMethods['blob'][0], signal: AbortSignal): Promise<Uint8Array> {
    const { shown } = this;
    const { key, column, ...range } = checkBlob(params);
    const { columns } = await shown.withKey(key);
    return shown.blob(columnName(columns, column), range, signal);
  }

  /**
   * Shows the table filtered or sorted, or as it is. If that fails, the panel continues to show what it has, unless the
   * table or its version is gone.
   * @throws CatalogError as `ViewSource.open`, InvalidInput (13) if the table has no views; AbortError
   */
  async showView(params: PanelHostMethods['view'][0], signal: AbortSignal): Promise<void> {
    const { key, view } = checkView(params);
    const base = this.#base;
    // The page may have given up a view that this process has shown already, so the view before doesn't matter.
    await base.withKey(tableKey(key));
    signal.throwIfAborted();
    if (this.#base !== base)
      throw new CatalogError('InvalidInput', 'The panel shows another table now.', 'Filter again.');
    this.#awaited?.close();
    if (isWholeTable(view)) this.#replaceView(undefined);
    else await this.#findView(base, view, signal);
  }

  /** @throws CatalogError as `narrowedFilter`, InvalidInput (13) if the table has no views */
  async filterByCell(params: PanelHostMethods['filterByCell'][0], signal: AbortSignal): Promise<string> {
    const { key, column, ...cell } = checkCell(params);
    const { base, shown } = this;
    const name = knownColumn(await shown.withKey(key), column);
    const { views } = this.#deps;
    return filterByCell(views, await base.viewBase(), shown.source, { ...cell, column: name }, signal);
  }

  /** @throws CatalogError as `countValues`, InvalidInput (13) if the table has no views */
  async columnValues(params: PanelHostMethods['columnValues'][0], signal: AbortSignal): Promise<ColumnValues> {
    const { key, column, ...request } = checkValues(params);
    const { base, shown } = this;
    const name = knownColumn(await shown.withKey(key), column);
    return countValues(this.#deps.views, await base.viewBase(), { ...request, column: name }, signal);
  }

  /** Looks for a newer version for a page that shows the table, unless its version was the newest just now. */
  async lookAgain(): Promise<void> {
    const isFresh = this.#isFresh;
    this.#isFresh = false;
    if (!isFresh) await this.lookForNewer();
  }

  /**
   * Reads which version is the newest, and tells the page. A failure is only logged: rows that are read will show it.
   * Also checks whether the version that is shown still exists, because the page may have all its rows already.
   */
  async lookForNewer(): Promise<void> {
    const { page, log } = this.#deps;
    const { source, opened, signal } = this.#base;
    if (!source.versions || !page.isListening) return;
    const reading = AbortSignal.any([signal, page.signal]);
    try {
      const { version } = await opened;
      this.shown.checkSoon();
      const newest = await source.versions.newest(reading);
      if (newest === undefined || version === null || reading.aborted || newest < version) return;
      this.#newest = newest;
      const { key } = await this.shown.opened;
      await page.tell('newest', { key, newest }, reading);
    } catch (error) {
      if (!isAbort(error)) logFailure(log, `newest version of ${source.title}`, error);
    }
  }

  /** Shows why a table can't be opened or completed. */
  async fail(opened: OpenedTable, error: unknown): Promise<void> {
    await this.#showFailure(opened, await this.#deps.failures.explain(opened.source, error));
  }

  #openTable(source: TableSource): OpenedTable {
    this.#startView = source.startView;
    this.#failure = undefined;
    this.#newest = undefined;
    // The version of a pinned table says nothing about the newest one.
    this.#isFresh = source.place?.version === undefined;
    return this.#open(source);
  }

  #open(source: TableSource): OpenedTable {
    const table: OpenedTable = new OpenedTable(source, {
      onGrown: () => void this.#grow(table),
      onLost: (error) => void this.#lose(table, error),
    });
    // Handle a failure now: the webview may request the table only after `open` has failed.
    table.opened.catch((error: unknown) => {
      if (!isAbort(error)) logFailure(this.#deps.log, `opening ${source.title}`, error);
    });
    return table;
  }

  /** Opens a view of the table, and shows it once its first rows are found. */
  async #findView(base: OpenedTable, view: PanelView, signal: AbortSignal): Promise<void> {
    const { views } = this.#deps;
    const viewBase = await base.viewBase();
    const source = hasChanges(view)
      ? ChangesSource.of(views, viewBase, view, this.shown.source)
      : new ViewSource(views, viewBase, view);
    const next = this.#open(source);
    this.#awaited = next;
    const close = (): void => next.close();
    signal.addEventListener('abort', close, { once: true });
    try {
      await next.opened;
      next.signal.throwIfAborted();
      this.#replaceView(next);
    } catch (error) {
      close();
      if (!isAbort(error)) this.#startView = undefined;
      // A comparison may lack the other table or version.
      if (source instanceof ViewSource) await this.#lose(base, error);
      throw error;
    } finally {
      signal.removeEventListener('abort', close);
      if (this.#awaited === next) this.#awaited = undefined;
    }
  }

  /** Shows a view of the table, or the table itself. */
  #replaceView(view: OpenedTable | undefined): void {
    this.#view?.close();
    this.#view = view;
    this.#startView = undefined;
    this.#failure = undefined;
  }

  /** Tells the page how far a table has come that grows, or why it could not be completed. */
  async #grow(table: OpenedTable): Promise<void> {
    const { page, log } = this.#deps;
    const { growing, title } = table.source;
    if (!growing || this.#failure || table.signal.aborted) return;
    const { growth } = growing;
    try {
      // A view is not shown yet while its first rows are found.
      if (table === this.#awaited && growth.note !== '')
        return void (await page.tell('finding', { note: growth.note }, table.signal));
      if (table !== this.shown) return;
      if (!growing.failure) return void (await page.tell('grow', growth, table.signal));
      // If the table can't be opened, the page says why already.
      const opened = await table.opened.catch(() => undefined);
      if (opened && !this.#failure) await this.fail(table, growing.failure);
    } catch (error) {
      logFailure(log, `rows of ${title}`, error);
    }
  }

  /** Shows why rows that were read, or could not be read, are gone. Other failures say so at the rows. */
  async #lose(table: OpenedTable, error: unknown): Promise<void> {
    if (isAbort(error) || this.#failure) return;
    const { failures, log } = this.#deps;
    logFailure(log, `rows of ${table.source.title}`, error);
    const lost = await failures.lost(table.source, error);
    if (lost) await this.#showFailure(table, lost);
  }

  async #showFailure(table: OpenedTable, failure: PanelFailure): Promise<void> {
    if (table.signal.aborted) return;
    this.#failure = failure;
    await this.#deps.page.tell('fail', failure, table.signal);
  }
}

/** @throws CatalogError InvalidInput (13) if the table has no column at a position */
function knownColumn({ columns }: PanelTable, position: Parameters<typeof columnName>[1]): string {
  const name = columnName(columns, position);
  if (name !== undefined) return name;
  throw new CatalogError('InvalidInput', 'The table has no such column.', 'Open it again.');
}

import { tableToIPC } from '#arrow';
import { narrowedFilter } from '#catalog/view/valueCondition.ts';
import { countValues } from '#catalog/view/countValues.ts';
import type { ViewSpec } from '#catalog/view/listRows.ts';
import type { NearestSpec } from '#catalog/view/nearestSpec.ts';
import { planSearch, type RowSearch } from '#catalog/view/searchRows.ts';
import { TableView } from '#catalog/view/tableView.ts';
import type { Table } from '#catalog/table/table.ts';
import { CatalogError, isAbort, messageOf } from '#shared/errors.ts';
import { pageRows } from '#shared/mime.ts';
import type { FilterRequest, ValuesRequest, ViewRequest, ViewState } from '#shared/protocol/viewsMessages.ts';
import {
  type ColumnValues,
  maxColumnValues,
  type PanelNearest,
  type PanelView,
  type SearchedColumns,
} from '#shared/protocol/webviewMessages.ts';
import { type OpenCatalogs, openTable } from './openCatalogs.ts';

/** Minimum time between two reports of a list that grows. */
const reportMs = 250;

type OpenView = {
  readonly view: TableView;
  readonly controller: AbortController;
  readonly close: () => Promise<void>;
  /** Number of callers of `use`. The view is closed after the last one. */
  users: number;
};

/** The sorted and filtered tables of a window. */
export class TableViews {
  readonly #catalogs: OpenCatalogs;
  readonly #report: (id: string, state: ViewState) => void;
  readonly #views = new Map<string, OpenView>();

  constructor(deps: {
    catalogs: OpenCatalogs;
    /** Called with the state of a view after each change. */
    report: (id: string, state: ViewState) => void;
  }) {
    this.#catalogs = deps.catalogs;
    this.#report = deps.report;
  }

  /**
   * Finds the first rows of a view, then starts the list of all rows, whose progress is reported. If the server can't sort, this
   * reads the keys of all rows first, which is reported, too.
   * @throws CatalogError as `TableView.find`, InvalidInput (13) if the id is used
   */
  async open(request: ViewRequest, signal: AbortSignal): Promise<ViewState> {
    const { id, view: wanted } = request;
    if (this.#views.has(id))
      throw new CatalogError('InvalidInput', `There is already a view "${id}".`, 'Choose another id.');
    const { catalog, release } = await this.#catalogs.hold(request.catalog);
    try {
      const table = await openTable(catalog, request, signal);
      const view = new TableView(table, await specOf(table, wanted, signal));
      let reportedAt = performance.now();
      const onProgress = (listed: number): void => {
        if (performance.now() - reportedAt < reportMs) return;
        reportedAt = performance.now();
        this.#report(id, { rows: 0, listed, end: 'running' });
      };
      const { numRows, isAll } = await view.find(pageRows, { signal, onProgress }).catch(async (error: unknown) => {
        await view.close();
        throw error;
      });
      signal.throwIfAborted();
      const controller = new AbortController();
      const close = async (): Promise<void> => {
        controller.abort();
        await view.close();
        release();
      };
      this.#views.set(id, { view, controller, close, users: 0 });
      const { nearest, isByPosition, search } = view;
      const searched = search && { searched: searchedColumns(search) };
      const facts = { ...searched, ...(nearest && { nearest }), ...(isByPosition && { isByPosition }) };
      if (isAll) return { rows: numRows, listed: numRows, end: 'complete', ...facts };
      // The list starts after the response.
      setImmediate(() => void this.#list(id, view, numRows, controller.signal));
      return { rows: numRows, listed: 0, end: 'running', ...searched };
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * Returns rows [start, end) of a view as an Arrow stream. Waits for the list if they are not known yet.
   * @throws CatalogError as `TableView.rows`, InvalidInput (13) if the view is closed
   */
  async read(
    { id, start, end, columns }: { id: string; start: number; end: number; columns?: readonly string[] | undefined },
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const rows = await this.#viewOf(id).rows(start, end, { signal, ...(columns && { columns }) });
    return tableToIPC(rows, 'stream');
  }

  /** Returns the ids of rows [start, end) of a view as decimal strings. @throws CatalogError as `read` */
  async rowIds({ id, start, end }: { id: string; start: number; end: number }, signal: AbortSignal): Promise<string[]> {
    return Array.from(await this.#viewOf(id).rowIds(start, end, { signal }), String);
  }

  /** Returns the filter of a request, together with the condition of its cell. @throws CatalogError as `narrowedFilter` */
  async filterByCell(request: FilterRequest, signal: AbortSignal): Promise<string> {
    const { id, row, column, where } = request;
    if (id !== null) {
      const view = this.#viewOf(id);
      return narrowedFilter(() => view.rows(row, row + 1, { columns: [column], signal }), where, request);
    }
    return this.#catalogs.with(request, async ({ catalog }) => {
      const table = await openTable(catalog, request, signal);
      const query = table.query().select([column]).offset(row).limit(1);
      return narrowedFilter(() => query.toArrow({ signal }), where, request);
    });
  }

  /** Counts the values of a column in the rows of a view. @throws CatalogError as `countValues` */
  countValues(request: ValuesRequest, signal: AbortSignal): Promise<ColumnValues> {
    return this.#catalogs.with(request, async ({ catalog }) => {
      const table = await openTable(catalog, request, signal);
      const { column, start, timeZone } = request;
      const options = { start, timeZone, maxValues: maxColumnValues, signal };
      return countValues(table, await specOf(table, request.view, signal), column, options);
    });
  }

  /** Stops the list of rows, and keeps those that were listed. */
  cancel(id: string): void {
    this.#views.get(id)?.controller.abort();
  }

  async close(id: string): Promise<void> {
    const open = this.#views.get(id);
    this.#views.delete(id);
    if (open?.users === 0) await open.close();
  }

  /**
   * Runs a callback with a view, which stays open meanwhile, also if the window closes it.
   * @throws CatalogError InvalidInput (13) if the view is closed
   */
  async use<T>(id: string, call: (view: TableView) => Promise<T>): Promise<T> {
    const open = this.#openView(id);
    open.users++;
    try {
      return await call(open.view);
    } finally {
      open.users--;
      if (open.users === 0 && this.#views.get(id) !== open) await open.close();
    }
  }

  #viewOf(id: string): TableView {
    return this.#openView(id).view;
  }

  #openView(id: string): OpenView {
    const open = this.#views.get(id);
    if (open) return open;
    throw new CatalogError('InvalidInput', 'The rows are no longer sorted or filtered.', 'Sort or filter again.');
  }

  async #list(id: string, view: TableView, first: number, signal: AbortSignal): Promise<void> {
    let state: ViewState = { rows: first, listed: 0, end: 'running' };
    let reportedAt = performance.now();
    const report = (change: Partial<ViewState>): void => {
      state = { ...state, ...change };
      if (this.#views.has(id)) this.#report(id, state);
    };
    try {
      const list = await view.list({
        signal,
        onProgress: (listed, settled) => {
          if (performance.now() - reportedAt < reportMs) return;
          reportedAt = performance.now();
          report({ listed, rows: Math.max(state.rows, settled) });
        },
      });
      const isMoved = await view.hasOtherFirstRows();
      report({ rows: list.length, listed: list.length, end: 'complete', ...(isMoved && { isMoved }) });
    } catch (error) {
      if (signal.aborted || isAbort(error)) report({ end: 'canceled' });
      else report({ end: 'failed', problem: messageOf(error) });
    }
  }
}

/** Returns the search of a panel as that of a view. */
export const toNearestSpec = ({ column, vectors, k, distanceType, useIndex }: PanelNearest): NearestSpec => ({
  column,
  vector: vectors,
  k,
  distanceType,
  useIndex,
});

const searchedColumns = ({ columns, isIndex, indexLimit }: RowSearch): SearchedColumns => ({
  columns: [...columns],
  isIndex,
  ...(indexLimit !== undefined && { indexLimit }),
});

/** Returns what a view of the panel is for a table. @throws CatalogError as `planSearch` */
async function specOf(
  table: Table,
  { where, orderBy, search, nearest }: PanelView,
  signal: AbortSignal,
): Promise<ViewSpec> {
  const filter = where.trim();
  const text = search?.text.trim() ?? '';
  const found = text === '' ? undefined : await planSearch(table, text, { isScan: search?.isScan === true, signal });
  return {
    ...(filter !== '' && { where: filter }),
    ...(found && { search: found }),
    orderBy,
    ...(nearest && { nearest: toNearestSpec(nearest) }),
  };
}

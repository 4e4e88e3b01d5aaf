import { createHash } from 'node:crypto';
import { CatalogError } from '#shared/errors.ts';
import { countText } from '#shared/format/numbers.ts';
import type { ViewedTable, ViewsCatalog, ViewState } from '#shared/protocol/viewsMessages.ts';
import type { TimeZoneChoice } from '#shared/format/times.ts';
import type {
  ColumnValues,
  NearestFacts,
  PanelGrowth,
  PanelTable,
  PanelView,
  SearchedColumns,
} from '#shared/protocol/webviewMessages.ts';
import { distanceColumn } from '#shared/vectorTypes.ts';
import { asRecord } from '#shared/records.ts';
import type { ViewsHost } from '../host/viewsHost.ts';
import { OpenedView } from './openedView.ts';
import { type GrowingTable, readableBlobs, type TablePlace, type TableSource } from './tableSource.ts';

/** What sorts and filters tables: the views process, and how it opens the catalog of a connection. */
export type ViewDeps = {
  readonly views: Pick<ViewsHost, 'request' | 'onView' | 'onChanges'>;
  readonly viewsCatalog: (connection: string) => Promise<ViewsCatalog>;
};

/** The table that a view shows: its source, and what `open` has returned. */
export type ViewBase = { readonly source: TableSource; readonly place: TablePlace; readonly table: PanelTable };

/** Whether a view has all rows in the order of the table. */
export const isWholeTable = ({ where, orderBy, search, nearest, changes }: PanelView): boolean =>
  !nearest &&
  !changes &&
  where.trim() === '' &&
  orderBy.length === 0 &&
  (search === undefined || search.text.trim() === '');

/** Returns the key of the table that a view shows; other keys are those of tables. */
export function tableKey(key: string): string {
  if (!key.startsWith('{')) return key;
  const { view: _, ...table } = asRecord(JSON.parse(key));
  return JSON.stringify(table);
}

/** Returns the key of a view of a table, which `tableKey` leads back to the table. */
export const keyOfView = (table: PanelTable, view: object): string =>
  JSON.stringify({ ...asRecord(JSON.parse(table.key)), view });

/** Identifies a view. Vectors are replaced by a hash, because each request for rows has the key. */
function viewKey({ nearest, ...view }: PanelView): object {
  if (!nearest) return view;
  const { vectors, from: _, ...search } = nearest;
  const hash = createHash('sha256').update(JSON.stringify(vectors)).digest('base64');
  return { ...view, nearest: { ...search, vectors: hash } };
}

/** @throws CatalogError InvalidInput (13) if the version of the table is not known */
export async function viewedTable({ viewsCatalog }: ViewDeps, { place, table }: ViewBase): Promise<ViewedTable> {
  const version = knownVersion(table);
  const catalog = await viewsCatalog(place.connection);
  return { catalog, path: [...place.path, place.table], version };
}

/** @throws CatalogError InvalidInput (13) if the version of the table is not known */
export function knownVersion({ version, title }: Pick<PanelTable, 'version' | 'title'>): number {
  if (version !== null) return version;
  throw new CatalogError('InvalidInput', `"${title}" has no versions.`, 'Use SQL instead.');
}

const byPositionNote = "The server has no row ids, so the rows are found by their positions and can't be sorted.";

/** No row can be read before the end of a list only if its rows are sorted on this machine. */
function runningNote(rows: number, listed: number): string {
  if (listed === 0) return 'Finding rows…';
  if (rows > 0) return `Finding rows… ${countText(listed)} so far`;
  return `The server can't sort, so the rows are sorted here… ${countText(listed)} read`;
}

/** Returns the filter `where` together with the condition that a column has the value of a row, or another one. */
export async function filterByCell(
  deps: ViewDeps,
  base: ViewBase,
  shown: TableSource,
  cell: { where: string; column: string; row: number; isOther: boolean },
  signal: AbortSignal,
): Promise<string> {
  const id = shown instanceof ViewSource ? await shown.openedId(signal) : null;
  return deps.views.request('filterByCell', { ...(await viewedTable(deps, base)), ...cell, id }, signal);
}

/** Counts the values of a column in the rows of a view of a table. */
export async function countValues(
  deps: ViewDeps,
  base: ViewBase,
  request: { view: PanelView; column: string; start: string; timeZone: TimeZoneChoice },
  signal: AbortSignal,
): Promise<ColumnValues> {
  return deps.views.request('countValues', { ...(await viewedTable(deps, base)), ...request }, signal);
}

/**
 * The rows of a table that pass a filter, or all of them, in an order. The views process finds them and reads the pages, because
 * it puts the rows of a page in their order, which needs Arrow; this process only forwards bytes. If that process or the
 * engine has ended, the next page opens the view again.
 */
export class ViewSource implements TableSource, GrowingTable {
  readonly title: string;
  readonly place: TablePlace;
  readonly growing: GrowingTable = this;
  /** The rows that were found stay, so a failure is a note. */
  readonly failure = undefined;
  readonly view: PanelView;
  readonly #deps: ViewDeps;
  readonly #base: ViewBase;
  readonly #listeners = new Set<() => void>();
  readonly #opened: OpenedView<ViewState, ViewState>;
  #growth: PanelGrowth;
  /** Whether the list of rows has ended since the view was opened. */
  #isEnded = false;
  #searched: SearchedColumns | undefined;
  #nearest: NearestFacts | undefined;

  constructor(deps: ViewDeps, base: ViewBase, view: PanelView) {
    this.#deps = deps;
    this.#base = base;
    this.view = view;
    this.title = base.source.title;
    this.place = base.place;
    const { views } = deps;
    this.#opened = new OpenedView({
      listen: (id, listener) => views.onView(id, listener),
      open: (id, signal) => this.#start(id, signal),
      close: (id) => views.request('closeView', { id }),
      onOpened: (state) => this.#take(state),
      onState: (state) => this.#take(state),
    });
    this.#growth = { key: keyOfView(base.table, viewKey(view)), numRows: 0, note: '', isGrowing: true };
  }

  get growth(): PanelGrowth {
    return this.#growth;
  }

  onDidChange(listener: () => void): { dispose(): void } {
    this.#listeners.add(listener);
    return { dispose: () => void this.#listeners.delete(listener) };
  }

  /** Stops the list of rows, and keeps those that were listed. */
  cancel(): void {
    const { id } = this.#opened;
    if (id !== undefined) this.#deps.views.request('cancelView', { id }).catch(() => undefined);
  }

  /** Finds the first rows. @throws CatalogError InvalidInput (13) for a wrong filter, Unsupported (0) */
  async open(signal: AbortSignal): Promise<PanelTable> {
    signal.addEventListener('abort', () => this.#close(), { once: true });
    signal.throwIfAborted();
    await this.#opened.open().done;
    signal.throwIfAborted();
    const { isMoved: _, ...growth } = this.#growth;
    const { table } = this.#base;
    const searched = this.#searched && { searched: this.#searched };
    const opened = { ...table, ...growth, view: this.view, totalRows: table.numRows, ...searched };
    if (!this.view.nearest) return opened;
    // The distances come last, so that the other columns keep their positions.
    const columns = [...table.columns, { name: distanceColumn, type: 'float', nullable: true }];
    return { ...opened, columns, nearest: this.#nearest };
  }

  async rows(start: number, end: number, signal: AbortSignal, columns?: readonly string[]): Promise<Uint8Array> {
    const { source, table } = this.#base;
    const [only] = columns ?? [];
    const canBeBlob = columns?.length === 1 && table.readsBlobs === true;
    if (only !== undefined && canBeBlob && source.blobsById && readableBlobs(table.columns).includes(only))
      return source.blobsById.heads(only, await this.#rowIds(start, end, signal), signal);
    return this.#opened.read(signal, async (id) => {
      const request = { id, start, end, ...(columns && { columns: [...columns] }) };
      return Buffer.from(await this.#deps.views.request('readView', request, signal), 'base64');
    });
  }

  async blob(
    column: string,
    { row, ...range }: { row: number; start: number; end: number },
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const [rowId] = await this.#rowIds(row, row + 1, signal);
    const { blobsById } = this.#base.source;
    if (rowId === undefined || !blobsById)
      throw new CatalogError('InvalidInput', `Can't read blobs of column "${column}".`, 'Open the table again.');
    return blobsById.range(column, { rowId, ...range }, signal);
  }

  #rowIds(start: number, end: number, signal: AbortSignal): Promise<string[]> {
    return this.#opened.read(signal, (id) => this.#deps.views.request('readRowIds', { id, start, end }, signal));
  }

  async confirm(signal: AbortSignal): Promise<void> {
    await this.#base.source.confirm?.(signal);
  }

  /** Returns the id of the view in the views process; opens it there if the process has ended. */
  openedId(signal: AbortSignal): Promise<string> {
    return this.#opened.openedId(signal);
  }

  async #start(id: string, signal: AbortSignal): Promise<ViewState> {
    this.#isEnded = false;
    const table = await viewedTable(this.#deps, this.#base);
    return this.#deps.views.request('openView', { ...table, id, view: this.view }, signal);
  }

  #take(state: ViewState | undefined): void {
    if (!state) {
      const note = 'The process that sorts and filters has ended. It starts again for the next rows.';
      this.#change({ note, isGrowing: false });
      return;
    }
    const { rows, listed, end, problem, isMoved, searched, nearest, isByPosition } = state;
    if (searched) this.#searched = searched;
    this.#nearest ??= nearest;
    // A short list may end before this process handles the response that says that it runs.
    if (this.#isEnded && end === 'running') {
      if (searched && this.#growth.note === '') this.#change({ note: searchNote(searched) });
      return;
    }
    this.#isEnded = end !== 'running';
    const notes: Readonly<Record<ViewState['end'], string>> = {
      running: runningNote(rows, listed),
      complete: this.#searched ? searchNote(this.#searched) : isByPosition === true ? byPositionNote : '',
      canceled: 'Canceled: not all rows',
      failed: `Can't find all rows: ${problem ?? ''}`,
    };
    // The rows of a view that was opened again are the same, and the first ones are known already.
    const numRows = end === 'complete' ? rows : Math.max(rows, this.#growth.numRows);
    this.#change({ numRows, note: notes[end], isGrowing: end === 'running', ...(isMoved && { isMoved }) });
  }

  #change(change: Partial<PanelGrowth>): void {
    const { isMoved: _, ...before } = this.#growth;
    this.#growth = { ...before, ...change };
    for (const listener of this.#listeners) listener();
  }

  #close(): void {
    this.#listeners.clear();
    this.#opened.close();
  }
}

const maxNamed = 3;

/** Returns how rows were searched: `Full-text index on caption: whole words`. */
function searchNote({ columns, isIndex, indexLimit }: SearchedColumns): string {
  const names = columns.length > maxNamed ? `${countText(columns.length)} columns` : columns.join(', ');
  if (isIndex) return `Full-text index on ${names}: whole words`;
  const why =
    indexLimit === undefined ? '' : `, because its full-text index finds more than ${countText(indexLimit)} rows`;
  return `Searched the text of ${names}${why}`;
}

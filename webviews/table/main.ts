import '../grid/grid.css';
import './panel.css';
import { pluralize } from '#shared/format/markup.ts';
import {
  isPanelView,
  type ColumnSettings,
  type PanelAction,
  type PanelFailure,
  type PanelGrowth,
  type PanelHostMethods,
  type PanelTable,
  type PanelView,
  type PanelReview,
  type PanelViewMethods,
  type ReviewAction,
  type SavedViewState,
} from '#shared/protocol/webviewMessages.ts';
import { noChoices } from '../grid/columnLayout.ts';
import { fromSettings, toSettings } from '../grid/columnSettings.ts';
import { type GridColumn, gridColumns } from '../grid/columnTree.ts';
import { pagedFrame } from '../grid/frame.ts';
import { Grid } from '../grid/grid.ts';
import type { Footer } from '../grid/gridFooter.ts';
import type { GridState } from '../grid/gridOptions.ts';
import { saveThrough } from '../grid/saveFile.ts';
import { selectCell } from '../grid/selection.ts';
import { setTimeZone, shownTimeZone } from '../grid/timeZone.ts';
import { markedText } from '../grid/markedText.ts';
import { type Action, createButton, createElement } from '../parts/elements.ts';
import type { Notice } from '../parts/noticeLine.ts';
import { isSameView, wholeTable } from '#shared/protocol/panelViews.ts';
import type { ChangeKind } from '#shared/protocol/changes.ts';
import { asRecord } from '#shared/records.ts';
import type { ChangesBar } from './changesBar.ts';
import { changedFrame } from './changedFrame.ts';
import { withDistances, withoutDistances } from './distanceColumn.ts';
import type { SearchMarks } from './searchMarks.ts';
import { TableViewing } from './tableViewing.ts';
import type { KeptSteps } from './viewSteps.ts';
import { hasToolbar, rowsText, Toolbar } from './toolbar.ts';
import { VersionBar } from './versionBar.ts';
import { ViewButton } from './viewButton.ts';
import { isAbort, messageOf } from '#shared/errors.ts';
import { Endpoint } from '#shared/protocol/rpc.ts';

const undrawable =
  "Can't draw the rows: a value does not match the type of its column. Read the table in a notebook to find it.";

const actionLabels: Record<PanelAction, string> = {
  retry: 'Retry',
  chooseFolder: 'Choose Folder…',
  removeConnection: 'Remove Connection',
  openSettings: 'Open Settings',
  cancel: 'Cancel',
  chooseVersion: 'Choose Version…',
  showNewest: 'Show Newest',
  exportSelected: 'Export Selected Rows…',
  chooseView: 'Views',
  compare: 'Compare With…',
};

const act = (action: PanelAction | ReviewAction): void => void host.request('act', { action }).catch(() => undefined);

const actionOf = (action: PanelAction) => ({ label: actionLabels[action], run: () => act(action) });

function failureElement({ title, message, actions }: PanelFailure): HTMLElement {
  const element = createElement('div', { className: 'lance-message', role: 'alert' });
  const buttons = actions.map((action) => createButton(actionOf(action)));
  if (buttons[0]) buttons[0].className = 'primary';
  element.append(createElement('h1', { text: title }), createElement('p', { text: message }), ...buttons);
  return element;
}

/** Shows how far a query has come whose columns are not known yet. */
function growthElement({ note }: PanelGrowth): HTMLElement {
  const element = createElement('div', { className: 'lance-message', role: 'status' });
  element.append(createElement('p', { text: note }), createButton(actionOf('cancel')));
  return element;
}

/**
 * `7 columns`, in a view file after the name of the table, a note, and a button while rows are added. Without a toolbar,
 * which has the number of rows, also that.
 */
function footerOf(table: PanelTable): Footer {
  const { tableName, note, isGrowing } = table;
  const columns = table.changes?.numShown ?? table.columns.length;
  const parts = [
    ...(tableName === undefined ? [] : [markedText(tableName)]),
    ...(hasToolbar(table) ? [] : [rowsText(table)]),
    pluralize(columns, 'column'),
  ];
  return {
    texts: [parts.join(' · '), ...(note === undefined || note === '' ? [] : [note])],
    button: isGrowing === true ? actionOf('cancel') : undefined,
  };
}

/** VS Code's API in a webview. */
declare function acquireVsCodeApi(): {
  postMessage(message: unknown): void;
  setState(state: unknown): void;
  getState?(): unknown;
};

const editor = acquireVsCodeApi();
const root = document.getElementById('root') ?? document.body;
const host = new Endpoint<PanelViewMethods, PanelHostMethods>((frame) => editor.postMessage(frame), {
  show: (table) => (void showNext(table), null),
  grow: (growth) => (grow(growth), null),
  finding: ({ note }) => (showFinding(note), null),
  newest: ({ key, newest }) => (showNewer(key, newest), null),
  fail: (failure) => (fail(failure), null),
  applyView: ({ view, columns }) => applyView(view, columns),
  review: (review) => (showReview(review), null),
  savedView: (state) => (showSavedView(state), null),
  showChanges: ({ key, view }) => (showChanges(key, view), null),
  goToRow: () => (content.kind === 'table' && content.grid.goToRow(), null),
  selection: () => selectionOf(content),
});

const saveFile = saveThrough({
  create: (name, signal) => host.request('createFile', { name }, signal),
  write: (id, bytes, signal) => host.request('writeFile', { id, bytes }, signal),
  close: (id, isComplete) => host.request('closeFile', { id, isComplete }),
});

/** The content of the panel: nothing yet, a table whose columns are not known yet, a table, or a failure. */
type PanelContent =
  | { kind: 'waiting' }
  | { kind: 'growing'; key: string }
  | { kind: 'table'; table: PanelTable; grid: Grid }
  | { kind: 'failed' };

let content = { kind: 'waiting' } as PanelContent;

/** What the page keeps in the webview, from which the extension opens the panel again after a reload. */
type PageState = {
  key?: string;
  title?: string;
  version?: number | null;
  view?: PanelView | undefined;
  grid?: GridState | undefined;
  steps?: KeptSteps;
  /** The name of the saved view that is shown. */
  savedView?: string | null;
};

/** What the page before this one has kept, until a table is shown. */
let pageState: Readonly<Record<string, unknown>> = asRecord(editor.getState?.());

function keepPage(change: PageState): void {
  pageState = { ...pageState, ...change };
  editor.setState(pageState);
}

let searchMarks: SearchMarks | undefined;
const toolbar = new Toolbar();
const versionBar = new VersionBar(act);
const viewButton = new ViewButton(() => act('chooseView'));
toolbar.buttons.append(viewButton.element, versionBar.compare, versionBar.button);

function selectionOf(shown: PanelContent): PanelViewMethods['selection'][1] {
  const selection = shown.kind === 'table' ? shown.grid.exported : undefined;
  return shown.kind === 'table' && selection ? { key: shown.table.key, selection } : null;
}

function replace(next: PanelContent, element: HTMLElement): void {
  if (content.kind === 'table') content.grid.close();
  content = next;
  const isBelowToolbar = next.kind === 'table' && hasToolbar(next.table);
  if (isBelowToolbar) toolbar.show(next.table);
  // The toolbar is not moved if it is on the page, because it would lose the focus.
  const kept: readonly Element[] = isBelowToolbar ? [toolbar.element, toolbar.below, viewing.bar.element] : [];
  for (const child of Array.from(root.children)) if (!kept.includes(child)) child.remove();
  if (isBelowToolbar && !toolbar.element.isConnected) root.append(...kept);
  root.append(element);
}

const viewing = new TableViewing({
  toolbar,
  requestView: ({ key }, view, signal) => host.request('view', { key, view }, signal),
  requestFilter: ({ key }, cell, signal) => host.request('filterByCell', { key, ...cell }, signal),
  requestValues: ({ key }, request, signal) =>
    host.request('columnValues', { key, ...request, timeZone: shownTimeZone() }, signal),
  show: (table) => show(table),
  focusRows: () => {
    if (content.kind === 'table') content.grid.focus();
  },
  tell: (notice) => {
    if (content.kind === 'table') content.grid.tell(notice);
  },
  onIdle: () => showFinding(),
  keepSteps: (steps) => keepPage({ steps }),
  parent: root,
});

/** The columns of the next table that is shown, if they are those of a saved view. */
let nextColumns: ColumnSettings | undefined;

/** Shows the table as in a saved view. @returns false if its filter fails: the line says why, and the rows stay */
async function applyView(view: PanelView, columns: ColumnSettings): Promise<boolean> {
  // The view of another version is not that of the table which is shown until then.
  await nextShown;
  nextColumns = columns;
  const isShown = await viewing.applyView(view);
  // The rows of the same filter and order are not requested again.
  if (isShown && nextColumns && content.kind === 'table') show(content.table);
  nextColumns = undefined;
  return isShown;
}

function showSavedView(state: SavedViewState): void {
  viewButton.show(state);
  keepPage({ savedView: state.name });
}

let changesBar: ChangesBar | undefined;

const changesActions = {
  showKind: (kind: ChangeKind | null) => viewing.showKind(kind),
  leave: () => viewing.leaveChanges(),
  act,
};

/** Marks in the cells what the search of the shown rows has found. */
function markFound(): void {
  if (!searchMarks && !(content.kind === 'table' && content.table.searched)) return;
  viewing.parts.use((parts) => {
    searchMarks ??= new parts.SearchMarks();
    if (content.kind === 'table')
      searchMarks.show(content.grid.element, content.table.view?.search, content.table.searched);
  });
}

/** Shows the bar of a comparison, or removes it. */
function showChangesBar(): void {
  if (!changesBar && !(content.kind === 'table' && content.table.changes)) return;
  viewing.parts.use((parts) => {
    changesBar ??= new parts.ChangesBar(changesActions);
    if (content.kind === 'table') changesBar.show(content.table, toolbar.element);
  });
}

/** Shows a view that the extension asks for, unless the panel shows another table by now. */
function showChanges(key: string, view: PanelView): void {
  if (content.kind === 'table' && content.table.key === key) viewing.apply(view);
}

function showReview(review: PanelReview): void {
  root.ariaBusy = null;
  const before = content;
  viewing.parts.use(({ reviewElement }) => {
    // Rows may have arrived while the code was loaded.
    if (content === before) replace({ kind: 'failed' }, reviewElement(review, act));
  });
}

function fail(failure: PanelFailure): void {
  replace({ kind: 'failed' }, failureElement(failure));
}

function show(table: PanelTable): void {
  const { key, title, view } = table;
  setTimeZone(table.timeZone ?? 'column');
  const columnSettings = nextColumns ?? (table.startView && table.columnSettings);
  nextColumns = undefined;
  const kept = columnSettings ? undefined : stateOf(pageState, table);
  const numbering = kept ? (isSearchState(pageState) ? 'search' : 'table') : 'names';
  const known = kept ?? rememberedState({ ...table, ...(columnSettings && { columnSettings }) });
  const state = withDistances(known, table, numbering);
  const paged = pagedFrame(
    table,
    (start, end, columns, signal) =>
      host.request('rows', { key, start, end, ...(columns && { columns: [...columns] }) }, signal),
    table.readsBlobs
      ? (row, column, range, signal) => host.request('blob', { key, column, row, ...range }, signal)
      : undefined,
  );
  const frame = table.changes ? changedFrame(paged, table.changes) : paged;
  const clear = { label: 'Clear Filter', run: () => viewing.clear() };
  const keep = keepState(table, frame.columns, state);
  const grid = new Grid({
    frame,
    label: title,
    focus: true,
    footer: footerOf(table),
    isGrowing: table.isGrowing === true,
    save: saveFile,
    state,
    viewing: viewing.gridViewing(table, frame),
    exportSelected: table.hasViews === true ? () => act('exportSelected') : undefined,
    empty: view?.changes ? { text: 'There are no such differences.', actions: [] } : noRows(view, clear),
    onState: keep,
    onFailure: () => fail({ title, message: undrawable, actions: [] }),
  });
  replace({ kind: 'table', table, grid }, grid.element);
  markFound();
  showVersion();
  viewButton.element.hidden = table.hasViews !== true;
  showChangesBar();
  viewing.take(table);
}

/** Returns what is shown instead of the rows of a view that has none. */
function noRows(view: PanelTable['view'], clear: Action): Notice | undefined {
  if (view?.search) return { text: 'No rows match the search.', actions: [{ ...clear, label: 'Clear Search' }] };
  if (view && view.where !== '') return { text: 'No rows match the filter.', actions: [clear] };
  return view?.nearest && { text: 'No row has a vector to compare with.', actions: [] };
}

/** Shows which version the table has, and whether there is a newer one. */
function showVersion(): void {
  if (content.kind !== 'table' || !hasToolbar(content.table)) return;
  versionBar.show(content.table, { toolbar: toolbar.element, grid: content.grid.element });
}

function showNewer(key: string, newest: number): void {
  if (content.kind !== 'table' || content.table.key !== key) return;
  content = { ...content, table: { ...content.table, newest } };
  showVersion();
}

/** Ends when the last table that has arrived is shown. */
let nextShown: Promise<void> = Promise.resolve();

const showNext = (table: PanelTable): Promise<void> => (nextShown = showKept(table));

/** Shows a table with the filter and the order that the page has kept for it. */
async function showKept(table: PanelTable): Promise<void> {
  const { title, view, steps } = pageState;
  const isSame = title === table.title;
  if (isSame && !table.startView) viewing.restoreSteps(steps);
  const kept = isSame && isPanelView(view) ? view : undefined;
  const first = table.startView ?? kept;
  if (table.hasViews === true && !table.view && first && !isSameView(first, wholeTable))
    await viewing.restore(table, first);
  else show(table);
}

/** Shows below the rows how far the next view has come, with a button that gives it up; or only what belongs to the rows. */
function showFinding(note?: string): void {
  if (content.kind !== 'table') return;
  const { table, grid } = content;
  const { texts, button } = footerOf(table);
  const footer =
    note === undefined
      ? { texts, button }
      : { texts: [...texts, note], button: { label: 'Cancel', run: () => viewing.cancel() } };
  grid.update({ numRows: table.numRows, footer, isGrowing: table.isGrowing === true });
}

/** Shows how far a table has come. A table that is not shown yet replaces the one that is shown. */
function grow(growth: PanelGrowth): void {
  // A view that is not shown yet arrives with its growth.
  if (content.kind === 'table' && content.table.key !== growth.key && content.table.hasViews === true) return;
  if (content.kind !== 'table' || content.table.key !== growth.key)
    return replace({ kind: 'growing', key: growth.key }, growthElement(growth));
  const table = { ...content.table, ...growth };
  content = { ...content, table };
  toolbar.show(table);
  showChangesBar();
  const { isGrowing, isMoved } = growth;
  content.grid.update({ numRows: table.numRows, footer: footerOf(table), isGrowing, isMoved });
}

/**
 * Returns what the grid of the same table had kept, if the page is created again. Another view of the table keeps the columns, and
 * starts at its first row.
 */
function stateOf(saved: unknown, { key, title, view }: PanelTable): GridState | undefined {
  if (typeof saved !== 'object' || saved === null) return undefined;
  const { key: of, title: savedTitle, grid: state, view: savedView } = saved as PageState;
  if (!state || (of !== key && savedTitle !== title)) return undefined;
  // A comparison has other columns than its table, and than another comparison.
  if (comparisonOf(savedView) !== comparisonOf(view)) return undefined;
  const kept = { ...state, choices: { ...noChoices, ...state.choices } };
  if (of === key) return kept;
  const { column } = state.selection.active;
  return { ...kept, top: 0, selection: selectCell({ row: 0, column }) };
}

/** Returns what a view compares; undefined for the rows of the table. */
const comparisonOf = (view: PanelView | undefined): string | undefined =>
  view?.changes && JSON.stringify({ ...view.changes, kind: null });

/**
 * Returns a function that keeps the state of a grid: in the webview, from which the extension opens the panel again after
 * a reload, and what is set on the columns in the extension, for the next time that the table is opened.
 */
function keepState(
  { key, title, version, view }: PanelTable,
  columns: readonly GridColumn[],
  state: GridState | undefined,
): (next: GridState) => void {
  keepPage({ key, title, version, view, grid: state });
  // After a reload of the window, only the page knows whether the columns are still those of the saved view.
  if (state && typeof pageState['savedView'] === 'string')
    host
      .request('keepColumns', { key, settings: toSettings(columns, state.choices, state.rowHeight ?? 'small') })
      .catch(() => undefined);
  let [choices, rowHeight] = [state?.choices ?? noChoices, state?.rowHeight ?? 'small'];
  return (next) => {
    keepPage({ key, title, version, view, grid: next });
    const height = next.rowHeight ?? 'small';
    // The columns of a comparison are not those of the table.
    if (view?.changes || (next.choices === choices && height === rowHeight)) return;
    [choices, rowHeight] = [next.choices, height];
    const shown = toSettings(columns, choices, rowHeight);
    const settings = view?.nearest ? withoutDistances(shown) : shown;
    // Without it, only the next opening of the table is different.
    host.request('keepColumns', { key, settings }).catch(() => undefined);
  };
}

/** Whether the state of the page is that of a search by vector. */
const isSearchState = (saved: unknown): boolean => {
  const { view } = asRecord(saved);
  return isPanelView(view) && view.nearest !== undefined;
};

/** Returns the state of a grid whose columns are as when the table was open before. */
function rememberedState({ columns, numRows, columnSettings }: PanelTable): GridState | undefined {
  if (!columnSettings) return undefined;
  const start = { row: numRows > 0 ? 0 : -1, column: 0 };
  return { top: 0, left: 0, selection: selectCell(start), ...fromSettings(gridColumns(columns), columnSettings) };
}

addEventListener('keydown', (event) => {
  // Text fields have their own undo.
  const isText = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
  if (isText || content.kind !== 'table' || !viewing.onKey(event)) return;
  event.preventDefault();
  event.stopPropagation();
});
// Before other listeners, because text fields keep their keys.
addEventListener(
  'keydown',
  (event) => {
    const isFind =
      event.key.toLowerCase() === 'f' && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
    if (!isFind || content.kind !== 'table' || !viewing.focusSearch()) return;
    event.preventDefault();
    event.stopPropagation();
  },
  true,
);
addEventListener('message', (event) => void host.receive(event.data));
addEventListener('pagehide', () => host.close());

root.ariaBusy = 'true';
try {
  const table = await host.request('ready', null);
  // Ignore the response if a newer table has arrived during the request.
  if (content.kind === 'waiting' || (content.kind === 'growing' && content.key === table.key)) await showNext(table);
} catch (error) {
  // The host has usually sent the failure already, with what the user can do.
  if (!isAbort(error) && (content.kind === 'waiting' || content.kind === 'growing'))
    fail({ title: "Can't open the table", message: messageOf(error), actions: [] });
}
root.ariaBusy = null;

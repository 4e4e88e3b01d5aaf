import { isAbort, messageOf } from '#shared/errors.ts';
import type { ChangeKind } from '#shared/protocol/changes.ts';
import type {
  ColumnPosition,
  ColumnValues,
  PanelNearest,
  PanelSearch,
  PanelTable,
  PanelView,
} from '#shared/protocol/webviewMessages.ts';
import { joinTerms } from '#shared/sqlTerms.ts';
import { distanceColumn } from '#shared/vectorTypes.ts';
import { type GridColumn, gridColumns, positionOf } from '../grid/columnTree.ts';
import type { GridFrame } from '../grid/frame.ts';
import type { GridViewing } from '../grid/sorting.ts';
import { createElement } from '../parts/elements.ts';
import type { Notice } from '../parts/noticeLine.ts';
import type { Chip } from './filterChips.ts';
import { FilterLine } from './filterLine.ts';
import { canFilter } from './filters/columnType.ts';
import { LazyChips } from './lazyChips.ts';
import { LazyNearestBar } from './lazyNearestBar.ts';
import { LazyParts } from './lazyParts.ts';
import { NearestSearch } from './nearestSearch.ts';
import { SearchBox } from './searchBox.ts';
import type { Toolbar } from './toolbar.ts';
import { isSameView, wholeTable } from '#shared/protocol/panelViews.ts';
import { type KeptSteps, ViewSteps } from './viewSteps.ts';

export type TableViewingDeps = {
  readonly toolbar: Toolbar;
  readonly requestView: (table: PanelTable, view: PanelView, signal: AbortSignal) => Promise<PanelTable>;
  readonly requestFilter: (
    table: PanelTable,
    cell: { where: string; row: number; column: ColumnPosition; isOther: boolean },
    signal: AbortSignal,
  ) => Promise<string>;
  /** Counts the values of a column that start with a string, in the rows of a view. */
  readonly requestValues: (
    table: PanelTable,
    request: { view: PanelView; column: ColumnPosition; start: string },
    signal: AbortSignal,
  ) => Promise<ColumnValues>;
  /** Shows the table of a view instead of the one before. */
  readonly show: (table: PanelTable) => void;
  readonly focusRows: () => void;
  /** Shows a notice below the rows, or none. */
  readonly tell: (notice: Notice | undefined) => void;
  /** Called when no view is awaited any longer. */
  readonly onIdle: () => void;
  /** Keeps the steps, for a page that is created again. */
  readonly keepSteps: (steps: KeptSteps) => void;
  /** Holds boxes above the rows. */
  readonly parent: HTMLElement;
};

/** Filters and sorts the table of the panel, with the line in the toolbar, undo and redo. */
export class TableViewing {
  readonly #deps: TableViewingDeps;
  /** The line of a search by vector, below the toolbar. */
  readonly bar: LazyNearestBar;
  readonly parts = new LazyParts((message) => this.#line.fail(message));
  readonly #line: FilterLine;
  readonly #chips: LazyChips;
  readonly #search: SearchBox;
  readonly #undo: HTMLButtonElement;
  readonly #redo: HTMLButtonElement;
  #table: PanelTable | undefined;
  #steps = new ViewSteps(wholeTable);
  /** The steps of the page before this one, until a table is shown. */
  #keptSteps: unknown;
  #running: AbortController | undefined;

  constructor(deps: TableViewingDeps) {
    this.#deps = deps;
    this.#line = new FilterLine({
      run: (where) => void this.#apply({ ...this.#view, where }),
      leave: deps.focusRows,
    });
    this.#chips = new LazyChips(this.parts, {
      run: (where) => void this.#apply({ ...this.#view, where }),
      edit: (chip, element) => this.#edit(chip, element),
      leave: deps.focusRows,
    });
    this.#search = new SearchBox({
      run: (search) => void this.#apply(withSearch(this.#view, search)),
      leave: deps.focusRows,
    });
    this.bar = new LazyNearestBar(this.parts, {
      change: (nearest) => void this.#searchAgain(nearest),
      leave: () => void this.#leaveNearest(),
    });
    this.#undo = stepButton('↶', 'Undo Filter or Sort', () => void this.#step(-1));
    this.#redo = stepButton('↷', 'Redo Filter or Sort', () => void this.#step(1));
    deps.toolbar.left.append(this.#line.element, this.#search.element, this.#undo, this.#redo);
    deps.toolbar.below.append(this.#chips.element);
  }

  /**
   * Takes over the table that the panel shows. Another table has no steps to undo yet, but the first one may have those
   * of the page before.
   */
  take(table: PanelTable): void {
    const isSame = this.#table?.title === table.title;
    this.#table = table;
    if (!isSame) {
      this.#running?.abort();
      this.#steps = ViewSteps.from(this.#keptSteps, this.#view) ?? new ViewSteps(this.#view);
      this.#line.write(this.#view.where);
      this.#search.write(this.#view.search);
      this.#deps.keepSteps(this.#steps.kept);
    }
    this.#keptSteps = undefined;
    this.#draw();
  }

  /** Takes the steps that the page before this one has kept for the next table. */
  restoreSteps(kept: unknown): void {
    this.#keptSteps = kept;
  }

  /** Shows a table with the view that it had before, or that a cell has asked for. If that fails, says why. */
  async restore(table: PanelTable, view: PanelView): Promise<void> {
    const { requestView, show } = this.#deps;
    const { columnSettings, startView } = table;
    try {
      const next = await requestView(table, view, new AbortController().signal);
      show({ ...next, ...(columnSettings && { columnSettings }), ...(startView && { startView }) });
      this.#steps.add(view);
      this.#line.write(view.where);
      this.#stepped();
    } catch (error) {
      if (isAbort(error)) return;
      show(table);
      const problem = withoutTable(messageOf(error));
      if (view.nearest) this.bar.fail(problem);
      else if (view.where === '') this.#tellFailure(problem, () => void this.restore(table, view));
      else this.#line.fail(problem, view.where);
    }
  }

  /** Returns what the grid of a table can do. @param frame the cells of the grid */
  gridViewing(table: PanelTable, frame: Pick<GridFrame, 'cell' | 'columns' | 'read'>): GridViewing | undefined {
    // The rows of a comparison are not those of the table.
    if (table.hasViews !== true || table.view?.changes) return undefined;
    const { columns } = frame;
    const { view = wholeTable } = table;
    const { orderBy, nearest } = view;
    const search = new NearestSearch({
      table,
      frame,
      isWhole: isSameView(view, wholeTable),
      find: (wanted) => this.#findNearest(wanted),
      fail: (message) => this.bar.fail(message),
      openBox: (box) =>
        this.parts.use(({ openNearestDialog }) => openNearestDialog({ ...box, parent: this.#deps.parent })),
      focusRows: this.#deps.focusRows,
    });
    // The rows that a search found are in the order of their distance.
    const order = nearest && orderBy.length === 0 ? byDistance : orderBy;
    const sorted = order.flatMap(({ column, descending }) => {
      const index = columns.findIndex(({ name }) => name === column);
      return index < 0 ? [] : [{ column: index, isDescending: descending }];
    });
    return {
      sorted,
      sort: (next) => {
        const wanted = next.map(({ column, isDescending }) => ({
          column: columns[column]!.name,
          descending: isDescending,
        }));
        const isByDistance = nearest !== undefined && JSON.stringify(wanted) === JSON.stringify(byDistance);
        void this.#apply({ ...this.#view, orderBy: isByDistance ? [] : wanted });
      },
      filterByCell: (row, column, isOther) =>
        void this.#filterByCell({ row, column: positionOf(columns[column]!), isOther }),
      openFilter: (column, at) => this.#openFilter(column, at, this.#deps.focusRows),
      canFilter: (column) => !nearest || columns[column]!.name !== distanceColumn,
      searchCell: (row, column) => search.cellMenu(row, column),
      searchColumn: (column) => search.columnMenu(column),
    };
  }

  /** Filters and sorts as in a saved view. A failure stands below the line. @returns whether the view is shown */
  async applyView(view: PanelView): Promise<boolean> {
    if (isSameView(view, this.#view)) return true;
    return this.#apply(view);
  }

  /** Gives up the view that is awaited. */
  cancel(): void {
    this.#running?.abort();
  }

  /** Shows another view of the table, which can be undone. */
  apply(view: PanelView): void {
    void this.#apply(view);
  }

  /** Shows only rows of a kind of a comparison; null for all. */
  showKind(kind: ChangeKind | null): void {
    const { changes } = this.#view;
    if (changes && changes.kind !== kind) this.apply({ ...this.#view, changes: { ...changes, kind } });
  }

  /** Shows the rows of the table again instead of a comparison. */
  leaveChanges(): void {
    this.apply(wholeTable);
  }

  /** Removes the search, or the filter if there is no search. */
  clear(): void {
    if (this.#view.search) {
      this.#search.write(undefined);
      void this.#apply(withSearch(this.#view, undefined));
      return;
    }
    this.#line.write('');
    void this.#apply({ ...this.#view, where: '' });
  }

  /** Moves the focus to the search. @returns false if the rows can't be searched */
  focusSearch(): boolean {
    if (this.#table?.hasViews !== true) return false;
    this.#search.focus();
    return true;
  }

  /** Handles Ctrl+Z and Ctrl+Y. @returns whether the key was handled */
  onKey({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent): boolean {
    if (altKey || !(ctrlKey || metaKey)) return false;
    const isUndo = key.toLowerCase() === 'z' && !shiftKey;
    const isRedo = key.toLowerCase() === 'y' || (key.toLowerCase() === 'z' && shiftKey);
    if (!isUndo && !isRedo) return false;
    void this.#step(isUndo ? -1 : 1);
    return true;
  }

  get #view(): PanelView {
    return this.#table?.view ?? wholeTable;
  }

  #draw(): void {
    const table = this.#table;
    const hasViews = table?.hasViews === true;
    const isShown = hasViews && table.view?.changes === undefined;
    this.#line.element.hidden = !isShown;
    this.#search.element.hidden = !isShown;
    for (const button of [this.#undo, this.#redo]) button.hidden = !hasViews;
    this.#undo.disabled = !this.#steps.peek(-1);
    this.#redo.disabled = !this.#steps.peek(1);
    const stored = this.#storedColumns();
    if (table) {
      this.#line.show(this.#view.where, stored);
      this.#search.show(this.#view.search, table.searched);
      this.bar.show(table);
    }
    this.#chips.draw(hasViews ? this.#view.where : '', stored);
  }

  /** Returns the columns and nested fields that a filter can name: it is applied before distances are known. */
  #storedColumns(): readonly GridColumn[] {
    const columns = this.#table?.columns ?? [];
    return gridColumns(this.#view.nearest ? columns.filter(({ name }) => name !== distanceColumn) : columns);
  }

  #stepped(): void {
    this.#deps.keepSteps(this.#steps.kept);
    this.#draw();
  }

  async #step(offset: -1 | 1): Promise<void> {
    const view = this.#steps.peek(offset);
    if (view && (await this.#request(view, { again: () => void this.#step(offset) }))) {
      this.#steps.move(offset);
      this.#stepped();
    }
  }

  async #apply(view: PanelView): Promise<boolean> {
    if (!(await this.#request(view, { again: () => void this.#apply(view) }))) return false;
    this.#steps.add(view);
    this.#stepped();
    return true;
  }

  /** Changes a term of the filter: in the popup of its column, or in the line. */
  #edit(chip: Chip, element: HTMLElement): void {
    if (!chip.read) return this.#line.edit(chip);
    const { left, bottom } = element.getBoundingClientRect();
    const { name } = this.#storedColumns()[chip.read.column]!;
    const index = gridColumns(this.#table?.columns ?? []).findIndex((column) => column.name === name);
    this.#openFilter(index, { x: left, y: bottom + 2 }, () => this.#chips.focus(), chip);
  }

  /** @param chip the term to change; by default the first one that is a filter of the column */
  #openFilter(index: number, at: { x: number; y: number }, onClosed: () => void, chip?: Chip): void {
    const table = this.#table;
    const columns = gridColumns(table?.columns ?? []);
    const column = columns[index];
    if (!table || !column || !canFilter(column)) return;
    this.parts.use(({ chipsOf, openFilterPopup }) => {
      const view = this.#view;
      const chips = chipsOf(view.where, columns);
      const changed = chip ?? chips.find(({ read }) => read?.column === index);
      const position = chips.findIndex(({ start }) => start === changed?.start);
      const terms = position < 0 ? (view.where.trim() === '' ? [] : [view.where]) : chips.map(({ text }) => text);
      const withTerm = (sql: string | undefined): string => {
        const added = sql === undefined ? [] : [sql];
        const all = position < 0 ? [...terms, ...added] : terms.toSpliced(position, 1, ...added);
        return all.length === 0 ? '' : joinTerms(all);
      };
      openFilterPopup({
        parent: this.#deps.toolbar.below,
        at,
        column,
        filter: changed?.read?.filter,
        // Counted over the other terms, so that further values can be chosen.
        loadValues: (start, signal) =>
          this.#deps.requestValues(
            table,
            { view: { ...view, where: withTerm(undefined) }, column: positionOf(column), start },
            signal,
          ),
        apply: (sql) => void this.#apply({ ...this.#view, where: withTerm(sql) }),
        onClosed,
      });
    });
  }

  /** Searches the filtered rows, and shows the result by distance. @returns why it can't */
  async #findNearest(nearest: PanelNearest): Promise<string | undefined> {
    return this.#showNearest({ ...this.#view, orderBy: [], nearest });
  }

  /** Searches with another choice. If that fails, the line of the search says why. */
  async #searchAgain(nearest: PanelNearest): Promise<void> {
    const problem = await this.#showNearest({ ...this.#view, nearest });
    if (problem !== undefined) this.bar.fail(problem);
  }

  /** Shows the rows of a search. @returns why it failed */
  async #showNearest(view: PanelView): Promise<string | undefined> {
    let problem: string | undefined;
    const isShown = await this.#request(view, { fail: (message) => (problem = message) });
    if (!isShown) return problem;
    this.#steps.add(view);
    this.#stepped();
    return undefined;
  }

  async #leaveNearest(): Promise<void> {
    const { nearest: _, orderBy, ...others } = this.#view;
    await this.#apply({ ...others, orderBy: orderBy.filter(({ column }) => column !== distanceColumn) });
    this.#deps.focusRows();
  }

  async #filterByCell(cell: { row: number; column: ColumnPosition; isOther: boolean }): Promise<void> {
    const table = this.#table;
    if (!table) return;
    const { where } = this.#view;
    const filter = await this.#run(
      (message) => this.#line.fail(message),
      (signal) => this.#deps.requestFilter(table, { ...cell, where }, signal),
    );
    if (filter !== undefined) await this.#apply({ ...this.#view, where: filter });
  }

  /**
   * Shows a view. If it can't be shown, `fail` is called with the reason. Without it, the line of the filter or the
   * search says the reason if that was changed; else a notice below the rows, with a button that calls `again`.
   * @returns whether it is shown; if not, the rows stay as they are
   */
  async #request(
    view: PanelView,
    told: { readonly fail: (message: string) => void } | { readonly again: () => void },
  ): Promise<boolean> {
    const table = this.#table;
    if (!table) return false;
    // A filter that the user is writing stays while the rows are sorted.
    const where = view.where === this.#view.where ? undefined : view.where;
    const isSearch = where === undefined && JSON.stringify(view.search) !== JSON.stringify(this.#view.search);
    const explain = (message: string): void => {
      if ('fail' in told) told.fail(message);
      else if (isSearch) this.#search.fail(message);
      else if (where === undefined) this.#tellFailure(message, told.again);
      else this.#line.fail(message, where);
    };
    const next = await this.#run(explain, (signal) => this.#deps.requestView(table, view, signal));
    if (!next) return false;
    if (where !== undefined) this.#line.write(where);
    if (isSearch) this.#search.write(view.search);
    this.#deps.show(next);
    return true;
  }

  /** Says below the rows why they stay as they are: above them, the message would cover the headers that sort. */
  #tellFailure(text: string, again: () => void): void {
    this.#deps.tell({ text, actions: [{ label: 'Try Again', run: again }] });
  }

  /**
   * Runs a request instead of the one before.
   * @param fail is called with the reason if it fails
   */
  async #run<T>(fail: (message: string) => void, request: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    this.#running?.abort();
    this.#deps.tell(undefined);
    const controller = new AbortController();
    this.#running = controller;
    this.#line.isBusy = true;
    try {
      const result = await request(controller.signal);
      return controller.signal.aborted ? undefined : result;
    } catch (error) {
      if (!controller.signal.aborted && !isAbort(error)) fail(withoutTable(messageOf(error)));
      return undefined;
    } finally {
      if (this.#running === controller) {
        this.#running = undefined;
        this.#line.isBusy = false;
        this.#deps.onIdle();
      }
    }
  }
}

/** Returns a view with another search; without one, it has none at all, so that it is the same as before. */
function withSearch(view: PanelView, search: PanelSearch | undefined): PanelView {
  const { search: _, ...others } = view;
  return { ...others, ...(search && { search }) };
}
/** The order of a search that is not sorted otherwise. */
const byDistance: PanelView['orderBy'] = [{ column: distanceColumn, descending: false }];

/** The panel shows the table already, so a message needs no name of it. */
const withoutTable = (message: string): string => {
  const text = message.replace(/^Table "[^"]*": /, '');
  return text.charAt(0).toUpperCase() + text.slice(1);
};

function stepButton(text: string, label: string, run: () => void): HTMLButtonElement {
  const button = createElement('button', { className: 'lance-step', text });
  button.type = 'button';
  button.ariaLabel = label;
  button.title = label;
  button.addEventListener('click', run);
  return button;
}

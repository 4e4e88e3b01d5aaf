import { countText } from '#shared/format/numbers.ts';
import { createButton, createElement, createWrapper } from '../parts/elements.ts';
import type { Notice } from '../parts/noticeLine.ts';
import { GridBody } from './body.ts';
import { CellMedia } from './cellMedia.ts';
import { CellCopy, type SelectedCells } from './cellCopy.ts';
import { type ColumnChoices, noChoices } from './columnLayout.ts';
import { ColumnPanel } from './columnPanel.ts';
import { contentWidth } from './columnWidths.ts';
import { DetailPane } from './detailPane.ts';
import type { GridFrame } from './frame.ts';
import { isImageColumn } from './galleryColumns.ts';
import type { SelectedRows } from './galleryHost.ts';
import { openGoToRow } from './goToRow.ts';
import { GridColumns } from './gridColumns.ts';
import { type Footer, GridFooter } from './gridFooter.ts';
import { GridGallery } from './gridGallery.ts';
import { GridHeader } from './gridHeader.ts';
import { type KeyActions, runKey } from './gridKeys.ts';
import { cellMenu, columnMenu, rowHeightMenu } from './gridMenus.ts';
import type { GridOptions, GridState } from './gridOptions.ts';
import { followPointer, type PointerActions } from './gridPointer.ts';
import { type MenuItem, openMenu } from './menu.ts';
import { type RowHeight, rowHeightOf, rowHeights } from './rowHeights.ts';
import { RowScroll } from './rowScroll.ts';
import {
  clampSelection,
  type GridPosition,
  type GridSize,
  isInRange,
  isSingle,
  moved,
  rangeOf,
  selectCell,
  type Selection,
  wholeColumn,
  wholeRow,
  wholeTable,
} from './selection.ts';
import { type GridViewing, sortMenu, valueMenu, whyUnordered } from './sorting.ts';
import { Viewport } from './viewport.ts';
import { ViewSwitch } from './viewSwitch.ts';

let grids = 0;

/**
 * The grid of the panel and of notebook outputs: header with types, rows and a footer. It draws the rows and columns in
 * the view in one layer, which stays in place while the scrolled element moves below it.
 */
export class Grid {
  readonly element = createElement('div', { className: 'lance-grid' });
  readonly #frame: GridFrame;
  /** Holds the rows and the detail pane. */
  readonly #main = createWrapper('lance-main');
  readonly #footer = new GridFooter();
  readonly #switch = new ViewSwitch((isGallery) => {
    this.#gallery.toggle(isGallery);
    this.#focusRows();
  });
  readonly #header: GridHeader;
  readonly #body: GridBody;
  readonly #view: Viewport;
  readonly #resizing: ResizeObserver;
  readonly #copy: CellCopy;
  readonly #media: CellMedia;
  readonly #pane: DetailPane;
  readonly #gallery: GridGallery;
  readonly #viewing: GridViewing | undefined;
  readonly #list: ColumnPanel;
  readonly #onState: ((state: GridState) => void) | undefined;
  readonly #onFailure: (error: unknown) => void;
  #footerContent: Footer;
  readonly #empty = createElement('div', { className: 'lance-empty' });
  readonly #columns: GridColumns;
  #rowHeight: RowHeight;
  #selection: Selection;
  /** Whether the keyboard has moved to the active cell, so that it stays in the view when columns grow. */
  #followsKeyboard = false;
  #frameRequest: number | undefined;
  #stateTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #keys: KeyActions;
  #notice: Notice | undefined;
  #isClosed = false;
  readonly #closing = new AbortController();

  constructor(options: GridOptions) {
    const { frame, label, focus, footer, isGrowing = false, save, state, viewing, onState, onFailure } = options;
    this.#frame = frame;
    this.#footerContent = footer;
    this.#viewing = viewing;
    this.#onState = onState;
    this.#onFailure = onFailure;
    this.#rowHeight = rowHeightOf(state?.rowHeight);
    this.#view = new Viewport(new RowScroll(frame.numRows, rowHeights[this.#rowHeight]), () => {
      this.#requestDraw();
      this.#saveSoon();
    });
    this.#columns = new GridColumns(frame, state?.choices ?? noChoices, rowHeights[this.#rowHeight]);
    const start = { row: frame.numRows > 0 ? 0 : -1, column: 0 };
    this.#selection = clampSelection(state?.selection ?? selectCell(start), this.#size);
    const prefix = `lance-grid-${++grids}`;
    const actions = {
      select: (index: number, extend: boolean) => this.#selectColumn(index, extend),
      openMenu: (index: number, at: HTMLElement) => this.#openColumnMenu(index, at),
      resize: (column: number, width: number, isDone: boolean) => this.#resize(column, width, isDone),
      fit: (index: number) => this.#fit([index]),
    };
    this.#header = new GridHeader(prefix, actions, viewing);
    this.#body = new GridBody(prefix);
    this.#copy = new CellCopy({ frame, tell: (notice) => this.#tell(notice), selected: () => this.#selectedCells() });
    this.#media = new CellMedia(this.element, frame);
    this.#pane = new DetailPane({
      place: this.#main,
      frame,
      save,
      state: state?.pane,
      cell: () => this.#activeCell(),
      step: (rows) => this.#step(rows),
      focusGrid: () => this.#focusRows(),
      onState: () => this.#saveSoon(),
    });
    this.#keys = this.#keyActions();
    this.#list = new ColumnPanel({
      place: this.element,
      columns: frame.columns,
      choices: () => this.#columns.choices,
      choose: (choices) => this.#choose(choices),
      goTo: (column) => this.#goToColumn(column),
      reset: () => this.#resetColumns(),
      focusGrid: () => this.#focusRows(),
    });
    this.#gallery = new GridGallery({
      place: this.#main,
      label,
      frame,
      state: state?.gallery,
      selected: () => this.#selectedRows(),
      select: (rows) => this.#selectRows(rows),
      openPane: () => this.#openPane(),
      openMenu: (at) => this.#openCellMenu(at),
      onKey: (event) => runKey(event, this.#keys),
      topRow: () => this.#view.rows.firstRow,
      onSwitch: (isOpen, topRow) => this.#onSwitch(isOpen, topRow),
      onState: () => this.#saveSoon(),
    });
    this.#build(label, isGrowing, options.empty);
    this.#gallery.restore();
    this.#listen();
    this.#view.rows.moveTo(state?.top ?? 0);
    this.#resizing = new ResizeObserver(() => this.#measure());
    this.#resizing.observe(this.#view.scroller);
    frame.watch(() => this.#onRows());
    if (focus) this.#focusWhenShown();
    if (state) this.#scrollWhenShown(state);
  }

  /**
   * Shows rows that were added, and what is below them now. With `isMoved`, all rows are read again, because they have
   * changed their order.
   */
  update({
    numRows,
    footer,
    isGrowing,
    isMoved = false,
  }: {
    numRows: number;
    footer: Footer;
    isGrowing: boolean;
    isMoved?: boolean | undefined;
  }): void {
    this.#footerContent = footer;
    this.#view.rows.numRows = numRows;
    this.#frame.grow(numRows);
    if (isMoved) this.#frame.reload();
    this.#gallery.grow(numRows);
    this.#view.scroller.ariaRowCount = String(numRows + 1);
    this.#empty.hidden = numRows > 0 || isGrowing;
    const { active } = this.#selection;
    if (active.row < 0 && isSingle(this.#selection) && numRows > 0) this.#selection = selectCell({ ...active, row: 0 });
    this.#measure();
    this.#drawFooter();
  }

  focus(): void {
    this.#focusRows();
  }

  /** Frees what the grid holds. The element can be removed then. */
  close(): void {
    this.#isClosed = true;
    this.#closing.abort();
    this.#resizing.disconnect();
    clearTimeout(this.#stateTimer);
    if (this.#frameRequest !== undefined) cancelAnimationFrame(this.#frameRequest);
    this.#media.hide();
    this.#copy.cancel();
    this.#pane.close();
    this.#gallery.close();
    this.#list.close();
    this.#body.close();
    this.#frame.close();
    this.element.remove();
  }

  get #size(): GridSize {
    return { rows: this.#frame.numRows, columns: this.#columns.layout.shown.length };
  }

  get #numberWidth(): number {
    return Math.max(3, countText(this.#frame.numRows).length) * this.#columns.digit * 0.92 + 20;
  }

  #build(label: string, isGrowing: boolean, empty: Notice = { text: 'No rows', actions: [] }): void {
    const { numRows, columns } = this.#frame;
    const { scroller, layer } = this.#view;
    scroller.role = 'grid';
    scroller.tabIndex = 0;
    scroller.ariaLabel = label;
    scroller.ariaRowCount = String(numRows + 1);
    scroller.ariaColCount = String(columns.length + 1);
    scroller.ariaReadOnly = 'true';
    scroller.ariaMultiSelectable = 'true';
    layer.append(this.#header.element, this.#body.element);
    // The pane may be open already, and it comes after the rows.
    this.#main.prepend(scroller);
    this.#empty.append(createElement('span', { text: empty.text }), ...empty.actions.map(createButton));
    this.#empty.hidden = numRows > 0 || isGrowing;
    const bottom = createWrapper('lance-bottom');
    bottom.append(this.#footer.element, this.#list.button, this.#switch.element);
    this.element.append(this.#main, this.#empty, bottom);
    this.#switch.draw(this.#gallery);
    this.#drawFooter();
  }

  #listen(): void {
    const { scroller } = this.#view;
    for (const type of ['wheel', 'pointerdown'])
      scroller.addEventListener(type, () => (this.#followsKeyboard = false), { passive: true });
    scroller.addEventListener('keydown', (event) => runKey(event, this.#keys));
    followPointer(scroller, this.#pointerActions());
    // Without selected text, the browser sends the event to the body of the page.
    document.addEventListener('copy', (event) => this.#onCopyEvent(event), { signal: this.#closing.signal });
  }

  #measure(): void {
    if (this.#view.scroller.clientWidth > 0) this.#columns.readFont(this.element);
    this.#view.measure();
    this.#sizeContent();
    this.#draw();
  }

  #sizeContent(): void {
    const isTall = this.#rowHeight !== 'small';
    this.#view.resize({ layout: this.#columns.layout, numberWidth: this.#numberWidth, isTall });
  }

  #requestDraw(): void {
    this.#frameRequest ??= requestAnimationFrame(() => {
      this.#frameRequest = undefined;
      this.#draw();
    });
  }

  #draw(): void {
    if (this.#isClosed || this.#view.rows.viewHeight === 0) return;
    // Values are formatted while they are drawn, and a readable Arrow stream may contain invalid columns.
    try {
      this.#drawView();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.close();
    this.#onFailure(error);
  }

  #drawView(): void {
    const { rows, left, scroller } = this.#view;
    const [start, end] = [rows.firstRow, rows.endRow];
    const isGrown = rows.numRows > 0 && this.#sizeColumns(start);
    const layout = this.#columns.layout;
    const { window } = this.#view;
    const { active } = this.#selection;
    const isHeader = active.row < 0;
    this.#header.draw({
      columns: this.#frame.columns,
      layout,
      window,
      left,
      active: isHeader ? active.column : undefined,
    });
    this.#body.draw({
      frame: this.#frame,
      layout,
      window,
      left,
      start,
      end,
      rowHeight: rows.rowHeight,
      above: rows.top - start * rows.rowHeight,
      active,
      range: rangeOf(this.#selection),
      isRange: !isSingle(this.#selection),
    });
    const id = isHeader ? this.#header.idOf(active.column) : this.#body.idOf(active);
    if (id === undefined) scroller.removeAttribute('aria-activedescendant');
    else scroller.setAttribute('aria-activedescendant', id);
    void this.#frame.show(start, end, layout.columnsIn(window));
    if (!isGrown) return;
    // Other columns are in the view now.
    if (this.#followsKeyboard) this.#reveal(active);
    this.#requestDraw();
  }

  #onRows(): void {
    if (this.#isClosed) return;
    this.#drawFooter();
    this.#requestDraw();
    this.#gallery.draw();
    if (this.#gallery.look(this.#view.rows.firstRow)) this.#switch.draw(this.#gallery);
  }

  /** Gives columns the width of their values, once their first values in the view are loaded. */
  #sizeColumns(start: number): boolean {
    if (!this.#columns.fitValues(this.#view.window, start)) return false;
    this.#sizeContent();
    return true;
  }

  #setRowHeight(height: RowHeight): void {
    this.#rowHeight = height;
    this.#view.rows.rowHeight = rowHeights[height];
    this.#columns.setRowHeight(rowHeights[height]);
    this.#body.redraw();
    this.#relayout();
    this.#view.syncScrollBar();
  }

  #rowHeightMenu(): MenuItem[] {
    return rowHeightMenu(this.#rowHeight, (height) => this.#setRowHeight(height));
  }

  #relayout(): void {
    this.#selection = clampSelection(this.#selection, this.#size);
    this.#sizeContent();
    this.#drawFooter();
    this.#requestDraw();
    this.#saveSoon();
  }

  #choose(choices: ColumnChoices): void {
    const { active } = this.#selection;
    const column = this.#columns.layout.shown[active.column];
    this.#columns.choices = choices;
    const index = column === undefined ? -1 : this.#columns.layout.shown.indexOf(column);
    // The active cell stays in its column, at the column's new place.
    if (index >= 0 && isSingle(this.#selection)) this.#selection = selectCell({ ...active, column: index });
    this.#relayout();
  }

  /** Sets columns and rows as they are in a new panel. */
  #resetColumns(): void {
    this.#choose(noChoices);
    this.#setRowHeight('small');
  }

  #scrollWhenShown({ left, top }: GridState): void {
    requestAnimationFrame(() => {
      if (this.#isClosed) return;
      this.#measure();
      this.#view.scrollTo(top, left);
      this.#requestDraw();
    });
  }

  /** Takes the keyboard focus once the page has it: a click in the tree shows a table and stays in the tree. */
  #focusWhenShown(): void {
    const focus = (): void => {
      if (document.activeElement === document.body) this.#focusRows();
    };
    addEventListener('focus', focus, { signal: this.#closing.signal });
    requestAnimationFrame(() => {
      if (document.hasFocus()) focus();
    });
  }

  // Keyboard and mouse

  #keyActions(): KeyActions {
    return {
      selectAll: () => this.#select(wholeTable(this.#size)),
      copy: () => this.#copy.copy('tsv'),
      goToRow: () => this.goToRow(),
      openColumns: () => this.#list.open(),
      focusPane: () => {
        if (this.#pane.isOpen) this.#pane.focus();
        return this.#pane.isOpen;
      },
      openMenu: () => this.#openMenuAtActive(),
      open: () => this.#open(this.#selection.active),
      giveUp: () => this.#giveUp(),
      move: (key) => {
        const next = moved(this.#selection, key, this.#size, this.#view.rows.wholeRows);
        if (next) this.#moveTo(next);
        return next !== undefined;
      },
    };
  }

  #pointerActions(): PointerActions {
    return {
      positionOf: (target) => this.#body.positionOf(target),
      selectRow: (row, extend) => this.#selectRow(row, extend),
      selectCell: (active, extend) => this.#select(extend ? { ...this.#selection, active } : selectCell(active)),
      openMedia: (thumbnail) => {
        if (isSingle(this.#selection) && !this.#pane.isOpen) this.#showMedia(this.#selection.active, thumbnail);
      },
      openPane: () => this.#openPane(),
      openMenu: (cell, at) => {
        if (!isInRange(rangeOf(this.#selection), cell.row, cell.column)) this.#select(selectCell(cell));
        this.#openCellMenu(at);
      },
    };
  }

  /** Scrolls as little as needed to show a cell. */
  #reveal(cell: GridPosition): void {
    if (this.#gallery.isOpen) this.#gallery.reveal(cell.row);
    else this.#view.reveal(cell);
  }

  #moveTo(selection: Selection): void {
    this.#followsKeyboard = true;
    this.#reveal(selection.active);
    this.#select(selection);
  }

  /** Moves the active cell by rows, for the detail pane. */
  #step(rows: number): void {
    const { active } = this.#selection;
    const row = Math.max(0, Math.min(active.row + rows, this.#size.rows - 1));
    if (this.#size.rows > 0) this.#moveTo(selectCell({ ...active, row }));
  }

  /** Gives up what Escape ends: reading cells to copy, a range, or the detail pane. */
  #giveUp(): boolean {
    if (this.#copy.isRunning) this.#copy.cancel();
    else if (!isSingle(this.#selection)) this.#select(selectCell(this.#selection.active));
    else if (this.#pane.isOpen) this.#pane.hide();
    else return false;
    return true;
  }

  /** Returns the active cell by index of its column; `undefined` in the header. */
  #activeCell(): { row: number; column: number } | undefined {
    const { row, column: index } = this.#selection.active;
    const column = this.#gallery.isOpen ? this.#gallery.column : this.#columns.layout.shown[index];
    return row < 0 || column === undefined ? undefined : { row, column };
  }

  #focusRows(): void {
    if (this.#isClosed) return;
    if (this.#gallery.isOpen) this.#gallery.focus();
    else this.#view.scroller.focus({ preventScroll: true });
  }

  // Gallery

  /** Shows the rows as images or as a table. The selection and the first row in the view stay. */
  #onSwitch(isOpen: boolean, topRow: number): void {
    const { scroller, rows } = this.#view;
    scroller.hidden = isOpen;
    this.#switch.draw(this.#gallery);
    if (!isOpen) {
      this.#measure();
      rows.moveTo(topRow * rows.rowHeight);
      this.#view.syncScrollBar();
      this.#requestDraw();
    }
    this.#drawFooter();
    this.#pane.follow();
  }

  #selectedRows(): SelectedRows {
    const { active, anchor } = this.#selection;
    return { active: active.row, anchor: anchor.row };
  }

  /** Selects whole rows, or for one row the cell that was active. */
  #selectRows({ active, anchor }: SelectedRows): void {
    if (active === anchor) return this.#select(selectCell({ ...this.#selection.active, row: active }));
    const { columns } = this.#size;
    this.#select({
      active: { row: active, column: 0 },
      anchor: { row: anchor, column: Math.max(0, columns - 1) },
    });
  }

  /** Scrolls to a column and selects its header, or its cell in the active row. */
  #goToColumn(column: number): void {
    const index = this.#columns.layout.shown.indexOf(column);
    if (index >= 0) this.#moveTo(selectCell({ ...this.#selection.active, column: index }));
  }

  /** Asks for the number of a row and moves there. */
  goToRow(): void {
    openGoToRow({
      parent: this.element,
      numRows: () => this.#size.rows,
      go: (row) => this.#moveTo(selectCell({ ...this.#selection.active, row })),
      onClosed: () => this.#focusRows(),
    });
  }

  #select(selection: Selection): void {
    this.#selection = selection;
    if (!this.#copy.isRunning) this.#notice = undefined;
    this.#drawFooter();
    this.#pane.follow();
    this.#gallery.draw();
    this.#requestDraw();
    this.#saveSoon();
  }

  #selectRow(row: number, extend: boolean): void {
    const whole = wholeRow(row, this.#size);
    const { anchor } = this.#selection;
    this.#select(extend ? { active: whole.active, anchor: { ...whole.anchor, row: anchor.row } } : whole);
  }

  #selectColumn(index: number, extend: boolean): void {
    const whole = wholeColumn(index, this.#size);
    const { anchor } = this.#selection;
    this.#select(extend ? { active: whole.active, anchor: { ...whole.anchor, column: anchor.column } } : whole);
    this.#focusRows();
  }

  /**
   * Opens what a cell has to show: the menu of a header, the player of a blob, or the detail pane. If it is open, it gets
   * the focus.
   */
  #open(position: GridPosition): void {
    if (position.row < 0) {
      const head = this.#header.headElement(position.column);
      if (head) this.#openColumnMenu(position.column, head);
      return;
    }
    if (this.#pane.isOpen) return this.#pane.focus();
    const player = this.#body.cellElement(position)?.querySelector<HTMLElement>('.lance-openable');
    if (player) this.#showMedia(position, player);
    else if (this.#size.rows > 0) this.#openPane();
  }

  /** Opens the detail pane. The rows have less space then, and the active cell stays in the view. */
  #openPane(): void {
    if (this.#pane.isOpen) return;
    this.#pane.open();
    this.#measure();
    this.#reveal(this.#selection.active);
    this.#requestDraw();
  }

  #showMedia({ row, column: index }: GridPosition, thumbnail: HTMLElement): void {
    const column = this.#columns.layout.shown[index];
    if (column !== undefined) this.#media.show(row, column, thumbnail);
  }

  // Menus

  #openMenuAtActive(): void {
    const { active } = this.#selection;
    const element = active.row < 0 ? this.#header.headElement(active.column) : this.#body.cellElement(active);
    if (!element) return;
    if (active.row < 0) this.#openColumnMenu(active.column, element);
    else this.#openCellMenu(below(element));
  }

  #openCellMenu(at: { x: number; y: number }): void {
    const menu = cellMenu({
      copyAs: (form) => this.#copy.copy(form),
      showValue: () => this.#openPane(),
      goToRow: () => this.goToRow(),
    });
    const all = [...menu, ...this.#valueMenu()];
    this.#openMenu(this.#gallery.isOpen ? all : [...all, ...this.#rowHeightMenu()], at);
  }

  #valueMenu(): MenuItem[] {
    const cell = isSingle(this.#selection) ? this.#activeCell() : undefined;
    if (!this.#viewing || !cell || whyUnordered(this.#frame.columns[cell.column]!) !== undefined) return [];
    return valueMenu(this.#viewing, cell.row, cell.column);
  }

  #openColumnMenu(index: number, at: HTMLElement): void {
    const column = this.#columns.layout.shown[index]!;
    const items = columnMenu({
      layout: this.#columns.layout,
      numColumns: this.#frame.columns.length,
      index,
      choices: this.#columns.choices,
      choose: (choices) => this.#choose(choices),
      fit: () => this.#fit([index]),
      fitAll: () => this.#fitAll(),
      reset: () => this.#resetColumns(),
      copyName: () => void this.#copy.write(this.#frame.columns[column]!.name),
    });
    const sorting = this.#viewing ? sortMenu(this.#viewing, column, this.#frame.columns[column]!) : [];
    this.#openMenu([...sorting, ...items, ...this.#rowHeightMenu()], below(at));
  }

  #openMenu(items: readonly MenuItem[], at: { x: number; y: number }): void {
    openMenu(this.element, items, at, () => this.#focusRows());
  }

  // Columns

  #resize(column: number, width: number, isDone: boolean): void {
    this.#columns.setWidth(column, width);
    this.#sizeContent();
    this.#requestDraw();
    if (isDone) this.#saveSoon();
  }

  /** Gives columns the width of their widest drawn text. */
  #fit(indexes: readonly number[]): void {
    const { layout } = this.#columns;
    const { firstRow, endRow } = this.#view.rows;
    for (const index of indexes) {
      const head = this.#header.headElement(index);
      if (!head) continue;
      let widest = contentWidth(head) + 24;
      for (let row = firstRow; row < endRow; row++) {
        const element = this.#body.cellElement({ row, column: index });
        if (element) widest = Math.max(widest, contentWidth(element));
      }
      this.#columns.setWidth(layout.shown[index]!, widest + 18);
    }
    this.#relayout();
  }

  /** Fits the columns in the view. Others get their automatic width, which is from their first values in the view. */
  #fitAll(): void {
    const { numPinned } = this.#columns.layout;
    const { start, end } = this.#view.window;
    const drawn = [...Array(numPinned).keys(), ...Array.from({ length: end - start }, (_, index) => start + index)];
    this.#columns.choices = { ...this.#columns.choices, widths: {} };
    this.#fit(drawn);
  }

  // Copying

  #onCopyEvent(event: ClipboardEvent): void {
    const root = this.element.getRootNode();
    const hasFocus = 'activeElement' in root && root.activeElement === this.#view.scroller;
    if (hasFocus || this.#gallery.hasFocus(root)) this.#copy.onCopyEvent(event);
  }

  #selectedCells(): SelectedCells {
    const { startRow, endRow, startColumn, endColumn } = rangeOf(this.#selection);
    const isHeader = this.#selection.active.row < 0;
    const { shown } = this.#columns.layout;
    // Selected images stand for their rows, and text can't hold an image.
    const columns = this.#gallery.isOpen
      ? shown.filter((column) => !isImageColumn(this.#frame.columns[column]!))
      : shown.slice(startColumn, endColumn);
    return { startRow, endRow, columns, isHeader };
  }

  // Footer and state

  #tell(notice: Notice | undefined): void {
    if (this.#isClosed) return;
    this.#notice = notice;
    this.#drawFooter();
  }

  #drawFooter(): void {
    this.#list.draw();
    this.#footer.draw(this.#frame, this.#footerContent, this.#facts(), this.#notice);
  }

  /** What the footer says about the selection. */
  #facts(): string[] {
    if (this.#gallery.isOpen) {
      const { startRow, endRow } = rangeOf(this.#selection);
      return endRow - startRow > 1 ? [`${countText(endRow - startRow)} rows selected`] : [];
    }
    const facts: string[] = [];
    if (!isSingle(this.#selection)) {
      const { startRow, endRow, startColumn, endColumn } = rangeOf(this.#selection);
      const [rows, columns] = [endRow - startRow, endColumn - startColumn];
      facts.push(`${countText(rows)} × ${countText(columns)} selected`);
    }
    return facts;
  }

  #saveSoon(): void {
    if (!this.#onState) return;
    clearTimeout(this.#stateTimer);
    this.#stateTimer = setTimeout(() => {
      this.#onState?.({
        top: this.#view.rows.top,
        left: this.#view.left,
        selection: this.#selection,
        choices: this.#columns.choices,
        rowHeight: this.#rowHeight,
        pane: this.#pane.state,
        gallery: this.#gallery.state,
      });
    }, 200);
  }
}

const below = (element: HTMLElement): { x: number; y: number } => {
  const { left, bottom } = element.getBoundingClientRect();
  return { x: left, y: bottom };
};

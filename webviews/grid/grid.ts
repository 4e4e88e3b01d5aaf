import { countText } from '#shared/format/numbers.ts';
import { createElement, createWrapper } from '../parts/elements.ts';
import type { Notice } from '../parts/noticeLine.ts';
import { GridBody } from './body.ts';
import { CellCopy } from './cellCopy.ts';
import { type ColumnChoices, ColumnLayout, type ColumnWindow, noChoices, setWidth } from './columnLayout.ts';
import { columnWidth, contentWidth, digitWidth } from './columnWidths.ts';
import type { CopiedRange, CopyForm } from './copyText.ts';
import { DetailPane, type PaneState } from './detailPane.ts';
import type { GridFrame } from './frame.ts';
import { isImageColumn } from './galleryColumns.ts';
import { openGoToRow } from './goToRow.ts';
import { type Footer, GridFooter } from './gridFooter.ts';
import type { SelectedRows } from './galleryHost.ts';
import { type GalleryState, GridGallery } from './gridGallery.ts';
import { GridHeader } from './gridHeader.ts';
import { cellMenu, columnMenu, rowHeightMenu } from './gridMenus.ts';
import { LargeImage } from './largeImage.ts';
import { MediaView } from './mediaView.ts';
import { type MenuItem, openMenu } from './menu.ts';
import { type RowHeight, rowHeightOf, rowHeights } from './rowHeights.ts';
import { RowScroll } from './rowScroll.ts';
import type { SaveFile } from './saveFile.ts';
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
import { ViewSwitch } from './viewSwitch.ts';

/** Height of the header in pixels. */
export const headerHeight = 42;

/** What a grid keeps when its page is created again: scroll position, selection, columns, detail pane and gallery. */
export type GridState = {
  readonly top: number;
  readonly left: number;
  readonly selection: Selection;
  readonly choices: ColumnChoices;
  readonly rowHeight?: RowHeight;
  readonly pane?: PaneState;
  readonly gallery?: GalleryState;
};

export type GridOptions = {
  readonly frame: GridFrame;
  /** Names the grid for assistive technology. */
  readonly label: string;
  /** Moves the keyboard focus to the grid when the page has it. */
  readonly focus: boolean;
  readonly footer: Footer;
  /** Whether rows may still be added; see `update`. */
  readonly isGrowing?: boolean;
  /** Saves a value as a file; without it, values can only be copied. */
  readonly save?: SaveFile | undefined;
  readonly state?: GridState | undefined;
  readonly onState?: (state: GridState) => void;
  /** Called once if a value can't be drawn, because it does not match its column's type. The grid is closed then. */
  readonly onFailure: (error: unknown) => void;
};

/** What is opened by a click or Enter. */
const opened = '.lance-image, .lance-openable';

let grids = 0;

/**
 * The grid of the panel and of notebook outputs: header with types, rows and a footer. It draws the rows and columns in
 * the view in one layer, which stays in place while the scrolled element moves below it.
 */
export class Grid {
  readonly element = createElement('div', { className: 'lance-grid' });
  readonly #frame: GridFrame;
  readonly #scroller = createElement('div', { className: 'lance-scroller' });
  readonly #content = createWrapper('lance-content');
  readonly #layer = createWrapper('lance-layer');
  /** Holds the rows and the detail pane. */
  readonly #main = createWrapper('lance-main');
  readonly #footer = new GridFooter();
  readonly #switch = new ViewSwitch((isGallery) => {
    this.#gallery.toggle(isGallery);
    this.#focusRows();
  });
  readonly #header: GridHeader;
  readonly #body: GridBody;
  readonly #rows: RowScroll;
  readonly #resizing: ResizeObserver;
  readonly #copy: CellCopy;
  readonly #pane: DetailPane;
  readonly #gallery: GridGallery;
  readonly #onState: ((state: GridState) => void) | undefined;
  readonly #onFailure: (error: unknown) => void;
  #footerContent: Footer;
  readonly #empty = createElement('div', { className: 'lance-empty' });
  /** Widths from names, types and values, without those that the user has set. */
  readonly #widths: number[];
  /** Columns whose width is also from values of rows. It no longer changes. */
  readonly #sized = new Set<number>();
  #choices: ColumnChoices;
  #rowHeight: RowHeight;
  #layout: ColumnLayout;
  #selection: Selection;
  #viewWidth = 0;
  /** Whether the keyboard has moved to the active cell, so that it stays in the view when columns grow. */
  #followsKeyboard = false;
  /** Width of a digit in pixels: a guess until the grid is on the page and its font is known. */
  #digit = 7.6;
  #hasFont = false;
  #handlesWheel = false;
  #frameRequest: number | undefined;
  #stateTimer: ReturnType<typeof setTimeout> | undefined;
  #media: LargeImage | MediaView | undefined;
  #notice: Notice | undefined;
  #isClosed = false;
  readonly #closing = new AbortController();

  constructor({ frame, label, focus, footer, isGrowing = false, save, state, onState, onFailure }: GridOptions) {
    this.#frame = frame;
    this.#footerContent = footer;
    this.#onState = onState;
    this.#onFailure = onFailure;
    this.#rowHeight = rowHeightOf(state?.rowHeight);
    this.#rows = new RowScroll(frame.numRows, rowHeights[this.#rowHeight]);
    this.#choices = state?.choices ?? noChoices;
    this.#widths = frame.columns.map((_, column) => this.#columnWidth(column));
    this.#layout = this.#newLayout();
    const start = { row: frame.numRows > 0 ? 0 : -1, column: 0 };
    this.#selection = clampSelection(state?.selection ?? selectCell(start), this.#size);
    const prefix = `lance-grid-${++grids}`;
    this.#header = new GridHeader(prefix, {
      select: (index, extend) => this.#selectColumn(index, extend),
      openMenu: (index, at) => this.#openColumnMenu(index, at),
      resize: (column, width, isDone) => this.#resize(column, width, isDone),
      fit: (index) => this.#fit(index),
    });
    this.#body = new GridBody(prefix);
    this.#copy = new CellCopy(frame, (notice) => this.#tell(notice));
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
    this.#gallery = new GridGallery({
      place: this.#main,
      label,
      frame,
      state: state?.gallery,
      selected: () => this.#selectedRows(),
      select: (rows) => this.#selectRows(rows),
      openPane: () => this.#openPane(),
      openMenu: (at) => this.#openCellMenu(at),
      onKey: (event) => this.#onKey(event),
      topRow: () => this.#rows.firstRow,
      onSwitch: (isOpen, topRow) => this.#onSwitch(isOpen, topRow),
      onState: () => this.#saveSoon(),
    });
    this.#build(label, isGrowing);
    this.#gallery.restore();
    this.#listen();
    this.#rows.moveTo(state?.top ?? 0);
    this.#resizing = new ResizeObserver(() => this.#measure());
    this.#resizing.observe(this.#scroller);
    frame.watch(() => this.#onRows());
    if (focus) this.#focusWhenShown();
    if (state) this.#scrollWhenShown(state);
  }

  /** Shows rows that were added, and what is below them now. */
  update({ numRows, footer, isGrowing }: { numRows: number; footer: Footer; isGrowing: boolean }): void {
    this.#footerContent = footer;
    this.#rows.numRows = numRows;
    this.#frame.grow(numRows);
    this.#gallery.grow(numRows);
    this.#scroller.ariaRowCount = String(numRows + 1);
    this.#empty.hidden = numRows > 0 || isGrowing;
    const { active } = this.#selection;
    if (active.row < 0 && isSingle(this.#selection) && numRows > 0) this.#selection = selectCell({ ...active, row: 0 });
    this.#measure();
    this.#drawFooter();
  }

  /** Frees what the grid holds. The element can be removed then. */
  close(): void {
    this.#isClosed = true;
    this.#closing.abort();
    this.#resizing.disconnect();
    clearTimeout(this.#stateTimer);
    if (this.#frameRequest !== undefined) cancelAnimationFrame(this.#frameRequest);
    this.#media?.hide();
    this.#copy.cancel();
    this.#pane.close();
    this.#gallery.close();
    this.#body.close();
    this.#frame.close();
    this.element.remove();
  }

  get #size(): GridSize {
    return { rows: this.#frame.numRows, columns: this.#layout.shown.length };
  }

  get #numberWidth(): number {
    return Math.max(3, countText(this.#frame.numRows).length) * this.#digit * 0.92 + 20;
  }

  #build(label: string, isGrowing: boolean): void {
    const { numRows, columns } = this.#frame;
    const scroller = this.#scroller;
    scroller.role = 'grid';
    scroller.tabIndex = 0;
    scroller.ariaLabel = label;
    scroller.ariaRowCount = String(numRows + 1);
    scroller.ariaColCount = String(columns.length + 1);
    scroller.ariaReadOnly = 'true';
    scroller.ariaMultiSelectable = 'true';
    this.#layer.append(this.#header.element, this.#body.element);
    this.#content.append(this.#layer);
    scroller.append(this.#content);
    // The pane may be open already, and it comes after the rows.
    this.#main.prepend(scroller);
    this.#empty.textContent = 'No rows';
    this.#empty.hidden = numRows > 0 || isGrowing;
    const bottom = createWrapper('lance-bottom');
    bottom.append(this.#footer.element, this.#switch.element);
    this.element.append(this.#main, this.#empty, bottom);
    this.#switch.draw(this.#gallery);
    this.#drawFooter();
  }

  #listen(): void {
    const scroller = this.#scroller;
    scroller.addEventListener('scroll', () => {
      this.#rows.follow(scroller.scrollTop);
      this.#requestDraw();
      this.#saveSoon();
    });
    for (const type of ['wheel', 'pointerdown'])
      scroller.addEventListener(type, () => (this.#followsKeyboard = false), { passive: true });
    scroller.addEventListener('keydown', (event) => this.#onKey(event));
    scroller.addEventListener('pointerdown', (event) => this.#onPointer(event));
    scroller.addEventListener('click', (event) => this.#onClick(event));
    scroller.addEventListener('dblclick', (event) => this.#onDoubleClick(event));
    scroller.addEventListener('contextmenu', (event) => this.#onContextMenu(event));
    // Without selected text, the browser sends the event to the body of the page.
    document.addEventListener('copy', (event) => this.#onCopy(event), { signal: this.#closing.signal });
  }

  #newLayout(): ColumnLayout {
    const { widths } = this.#choices;
    return new ColumnLayout(
      this.#frame.columns.length,
      this.#choices,
      (column) => widths[column] ?? this.#widths[column]!,
    );
  }

  #measure(): void {
    const { clientWidth, clientHeight } = this.#scroller;
    if (!this.#hasFont && clientWidth > 0) this.#readFont();
    this.#viewWidth = clientWidth;
    this.#rows.resize(Math.max(0, clientHeight - headerHeight));
    this.#sizeContent();
    this.#draw();
  }

  #readFont(): void {
    this.#hasFont = true;
    const digit = digitWidth(this.element);
    if (digit === undefined || Math.abs(digit - this.#digit) < 0.05) return;
    this.#digit = digit;
    for (const column of this.#widths.keys()) this.#widths[column] = this.#columnWidth(column);
    this.#layout = this.#newLayout();
  }

  /**
   * Handles the wheel if the scroll bar is scaled. Otherwise the browser scrolls, which is smoother, because it does not
   * wait for a listener.
   */
  #handleWheel(): void {
    if (this.#handlesWheel || !this.#rows.isScaled) return;
    this.#handlesWheel = true;
    this.#scroller.addEventListener('wheel', (event) => this.#onWheel(event), { passive: false });
  }

  #sizeContent(): void {
    this.#handleWheel();
    const { clientHeight, clientWidth } = this.#scroller;
    this.#content.style.height = `${this.#rows.contentHeight + headerHeight}px`;
    this.#content.style.width = `${this.#numberWidth + this.#layout.pinnedWidth + this.#layout.scrolledWidth}px`;
    this.#layer.style.width = `${clientWidth}px`;
    this.#layer.style.height = `${clientHeight}px`;
    this.#layer.style.setProperty('--lance-row-height', `${this.#rows.rowHeight}px`);
    // Lines of 20 pixels, with 6 pixels above and below.
    this.#layer.style.setProperty('--lance-lines', String(Math.floor((this.#rows.rowHeight - 12) / 20)));
    this.#layer.classList.toggle('lance-tall', this.#rowHeight !== 'small');
    this.#layer.style.setProperty('--lance-number-width', `${this.#numberWidth}px`);
    this.#layer.style.setProperty('--lance-pinned-width', `${this.#layout.pinnedWidth}px`);
    this.#layer.classList.toggle('lance-has-pinned', this.#layout.numPinned > 0);
  }

  #requestDraw(): void {
    this.#frameRequest ??= requestAnimationFrame(() => {
      this.#frameRequest = undefined;
      this.#draw();
    });
  }

  #draw(): void {
    if (this.#isClosed || this.#rows.viewHeight === 0) return;
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
    const rows = this.#rows;
    const [start, end] = [rows.firstRow, rows.endRow];
    const left = this.#scroller.scrollLeft;
    const width = Math.max(0, this.#viewWidth - this.#numberWidth - this.#layout.pinnedWidth);
    const isGrown = rows.numRows > 0 && this.#sizeColumns(this.#layout.window(left, width), start);
    const layout = this.#layout;
    const window = layout.window(left, width);
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
    if (id === undefined) this.#scroller.removeAttribute('aria-activedescendant');
    else this.#scroller.setAttribute('aria-activedescendant', id);
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
    if (this.#gallery.look(this.#rows.firstRow)) this.#switch.draw(this.#gallery);
  }

  /** Gives columns the width of their values, once their first values in the view are loaded. */
  #sizeColumns(window: ColumnWindow, start: number): boolean {
    let isChanged = false;
    for (const column of this.#layout.columnsIn(window)) {
      if (this.#sized.has(column)) continue;
      const cell = this.#frame.cell(start, column);
      if (cell === undefined || cell.kind === 'failed') continue;
      this.#sized.add(column);
      const width = this.#columnWidth(column, start);
      if (width !== this.#widths[column]) isChanged = true;
      this.#widths[column] = width;
    }
    if (isChanged) {
      this.#layout = this.#newLayout();
      this.#sizeContent();
    }
    return isChanged;
  }

  #columnWidth(column: number, start = 0): number {
    return columnWidth(this.#frame, column, { digit: this.#digit, rowHeight: rowHeights[this.#rowHeight], start });
  }

  #setRowHeight(height: RowHeight): void {
    this.#rowHeight = height;
    this.#rows.rowHeight = rowHeights[height];
    // Columns of images become as wide as their images.
    this.#sized.clear();
    this.#body.redraw();
    this.#relayout();
    this.#scroller.scrollTop = this.#rows.scrollTop;
  }

  #rowHeightMenu(): MenuItem[] {
    return rowHeightMenu(this.#rowHeight, (height) => this.#setRowHeight(height));
  }

  #relayout(): void {
    this.#layout = this.#newLayout();
    this.#selection = clampSelection(this.#selection, this.#size);
    this.#sizeContent();
    this.#drawFooter();
    this.#requestDraw();
    this.#saveSoon();
  }

  #choose(choices: ColumnChoices): void {
    this.#choices = choices;
    this.#relayout();
  }

  // Scrolling

  #onWheel(event: WheelEvent): void {
    if (event.ctrlKey || event.shiftKey || event.deltaY === 0) return;
    const unit =
      event.deltaMode === WheelEvent.DOM_DELTA_LINE
        ? this.#rows.rowHeight
        : event.deltaMode === WheelEvent.DOM_DELTA_PAGE
          ? this.#rows.viewHeight
          : 1;
    const before = this.#rows.top;
    this.#rows.moveBy(event.deltaY * unit);
    if (this.#rows.top === before) return;
    event.preventDefault();
    this.#scroller.scrollTop = this.#rows.scrollTop;
    if (event.deltaX !== 0) this.#scroller.scrollLeft += event.deltaX;
    this.#requestDraw();
  }

  /** Scrolls as little as needed to show a cell. */
  #reveal({ row, column }: GridPosition): void {
    if (this.#gallery.isOpen) return this.#gallery.reveal(row);
    if (row >= 0) {
      this.#rows.reveal(row);
      this.#scroller.scrollTop = this.#rows.scrollTop;
    }
    if (column < this.#layout.numPinned || column >= this.#layout.shown.length) return;
    const { left, width } = this.#layout.place(column);
    const view = this.#viewWidth - this.#numberWidth - this.#layout.pinnedWidth;
    const at = this.#scroller.scrollLeft;
    if (left < at) this.#scroller.scrollLeft = left;
    else if (left + width > at + view) this.#scroller.scrollLeft = Math.min(left, left + width - view);
  }

  #scrollWhenShown({ left, top }: GridState): void {
    requestAnimationFrame(() => {
      if (this.#isClosed) return;
      this.#measure();
      this.#rows.moveTo(top);
      this.#scroller.scrollTop = this.#rows.scrollTop;
      this.#scroller.scrollLeft = left;
      this.#requestDraw();
    });
  }

  /** Takes the keyboard focus once the page has it: a click in the tree shows a table and stays in the tree. */
  #focusWhenShown(): void {
    const focus = (): void => {
      if (!this.#isClosed && document.activeElement === document.body) this.#focusRows();
    };
    addEventListener('focus', focus, { signal: this.#closing.signal });
    requestAnimationFrame(() => {
      if (document.hasFocus()) focus();
    });
  }

  // Keyboard and mouse

  #onKey(event: KeyboardEvent): void {
    if (event.altKey) return;
    const toEdge = event.ctrlKey || event.metaKey;
    if (toEdge && event.key.toLowerCase() === 'a') {
      this.#select(wholeTable(this.#size));
      event.preventDefault();
      return;
    }
    if (toEdge && !event.shiftKey && event.key.toLowerCase() === 'c') {
      // The browser may not copy at all without selected text.
      this.#copyAs('tsv');
      return;
    }
    if (toEdge && !event.shiftKey && event.key.toLowerCase() === 'g') {
      event.preventDefault();
      event.stopPropagation();
      this.goToRow();
      return;
    }
    if (event.key === 'F6' && !event.shiftKey && this.#pane.isOpen) {
      event.preventDefault();
      event.stopPropagation();
      this.#pane.focus();
      return;
    }
    if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) {
      event.preventDefault();
      this.#openMenuAtActive();
      return;
    }
    if (event.key === 'Enter' && !toEdge) {
      event.preventDefault();
      this.#open(this.#selection.active);
      return;
    }
    if (event.key === 'Escape' && this.#giveUp()) {
      // In a notebook, Escape leaves the output only if there is nothing to give up.
      event.stopPropagation();
      return;
    }
    const next = moved(
      this.#selection,
      { key: event.key, toEdge, extend: event.shiftKey },
      this.#size,
      this.#rows.wholeRows,
    );
    if (!next) return;
    event.preventDefault();
    this.#moveTo(next);
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
    const column = this.#gallery.isOpen ? this.#gallery.column : this.#layout.shown[index];
    return row < 0 || column === undefined ? undefined : { row, column };
  }

  #focusRows(): void {
    if (this.#isClosed) return;
    if (this.#gallery.isOpen) this.#gallery.focus();
    else this.#scroller.focus({ preventScroll: true });
  }

  // Gallery

  /** Shows the rows as images or as a table. The selection and the first row in the view stay. */
  #onSwitch(isOpen: boolean, topRow: number): void {
    this.#scroller.hidden = isOpen;
    this.#switch.draw(this.#gallery);
    if (!isOpen) {
      this.#measure();
      this.#rows.moveTo(topRow * this.#rows.rowHeight);
      this.#scroller.scrollTop = this.#rows.scrollTop;
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

  #onPointer(event: PointerEvent): void {
    if (event.button !== 0) return;
    const at = this.#body.positionOf(event.target);
    if (!at) return;
    const { row, column } = at;
    if (column === undefined) {
      const whole = wholeRow(row, this.#size);
      const { anchor } = this.#selection;
      this.#select(event.shiftKey ? { active: whole.active, anchor: { ...whole.anchor, row: anchor.row } } : whole);
      return;
    }
    const active = { row, column };
    this.#select(event.shiftKey ? { active, anchor: this.#selection.anchor } : selectCell(active));
    this.#followPointer();
  }

  /** Extends the selection to the cell under the pointer until the button is released. */
  #followPointer(): void {
    const ended = new AbortController();
    const { signal } = ended;
    addEventListener(
      'pointermove',
      (event) => {
        const [target] = event.composedPath();
        const at = this.#body.positionOf(target ?? null);
        if (at?.column === undefined) return;
        const { active, anchor } = this.#selection;
        if (at.row === active.row && at.column === active.column) return;
        this.#select({ active: { row: at.row, column: at.column }, anchor });
      },
      { signal },
    );
    addEventListener('pointerup', () => ended.abort(), { signal });
    addEventListener('pointercancel', () => ended.abort(), { signal });
  }

  #onClick(event: MouseEvent): void {
    const thumbnail = event.target instanceof Element ? event.target.closest<HTMLElement>(opened) : null;
    if (thumbnail && isSingle(this.#selection) && !this.#pane.isOpen)
      this.#showMedia(this.#selection.active, thumbnail);
  }

  #onDoubleClick(event: MouseEvent): void {
    const at = this.#body.positionOf(event.target);
    const isMedia = event.target instanceof Element && event.target.closest(opened) !== null;
    if (at?.column !== undefined && !isMedia) this.#openPane();
  }

  #selectColumn(index: number, extend: boolean): void {
    const whole = wholeColumn(index, this.#size);
    const { anchor } = this.#selection;
    this.#select(extend ? { active: whole.active, anchor: { ...whole.anchor, column: anchor.column } } : whole);
    this.#scroller.focus({ preventScroll: true });
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
    const column = this.#layout.shown[index];
    const cell = column === undefined ? undefined : this.#frame.cell(row, column);
    if (column === undefined || (cell?.kind !== 'image' && cell?.kind !== 'blob')) return;
    const load = cell.kind === 'blob' ? this.#frame.loadBlob?.(row, column, cell.size) : undefined;
    this.#media?.hide();
    if (cell.kind === 'image') this.#media = new LargeImage(this.element, thumbnail, cell);
    else if (load) this.#media = new MediaView(this.element, thumbnail, cell, load);
  }

  // Menus

  #openMenuAtActive(): void {
    const { active } = this.#selection;
    const element = active.row < 0 ? this.#header.headElement(active.column) : this.#body.cellElement(active);
    if (!element) return;
    if (active.row < 0) this.#openColumnMenu(active.column, element);
    else this.#openCellMenu(below(element));
  }

  #onContextMenu(event: MouseEvent): void {
    const at = this.#body.positionOf(event.target);
    if (at?.column === undefined) return;
    event.preventDefault();
    const { row, column } = at;
    if (!isInRange(rangeOf(this.#selection), row, column)) this.#select(selectCell({ row, column }));
    this.#openCellMenu({ x: event.clientX, y: event.clientY });
  }

  #openCellMenu(at: { x: number; y: number }): void {
    const menu = cellMenu({
      copyAs: (form) => this.#copyAs(form),
      showValue: () => this.#openPane(),
      goToRow: () => this.goToRow(),
    });
    this.#openMenu(this.#gallery.isOpen ? menu : [...menu, ...this.#rowHeightMenu()], at);
  }

  #openColumnMenu(index: number, at: HTMLElement): void {
    const column = this.#layout.shown[index]!;
    const items = columnMenu({
      column,
      choices: this.#choices,
      isPinned: index < this.#layout.numPinned,
      isLast: this.#layout.shown.length === 1,
      choose: (choices) => this.#choose(choices),
      fit: () => this.#fit(index),
      copyName: () => void this.#copy.write(this.#frame.columns[column]!.name),
    });
    this.#openMenu([...items, ...this.#rowHeightMenu()], below(at));
  }

  #openMenu(items: readonly MenuItem[], at: { x: number; y: number }): void {
    openMenu(this.element, items, at, () => this.#focusRows());
  }

  // Columns

  #resize(column: number, width: number, isDone: boolean): void {
    this.#choices = setWidth(this.#choices, column, width);
    this.#layout = this.#newLayout();
    this.#sizeContent();
    this.#requestDraw();
    if (isDone) this.#saveSoon();
  }

  /** Gives a column the width of its widest drawn text. */
  #fit(index: number): void {
    const column = this.#layout.shown[index]!;
    const head = this.#header.headElement(index);
    let widest = head ? contentWidth(head) + 24 : 0;
    for (let row = this.#rows.firstRow; row < this.#rows.endRow; row++) {
      const element = this.#body.cellElement({ row, column: index });
      if (element) widest = Math.max(widest, contentWidth(element));
    }
    this.#choose(setWidth(this.#choices, column, widest + 18));
  }

  // Copying

  #onCopy(event: ClipboardEvent): void {
    const root = this.element.getRootNode();
    const hasFocus = 'activeElement' in root && root.activeElement === this.#scroller;
    if (!hasFocus && !this.#gallery.hasFocus(root)) return;
    const text = this.#headerText() ?? this.#copy.loadedText(this.#copiedRange(), 'tsv');
    event.preventDefault();
    event.stopPropagation();
    if (text === undefined) this.#copyAs('tsv');
    else event.clipboardData?.setData('text/plain', text);
  }

  #copyAs(form: CopyForm): void {
    const names = this.#headerText();
    if (names === undefined) this.#copy.copy(this.#copiedRange(), form);
    else void this.#copy.write(names);
  }

  #copiedRange(): CopiedRange {
    const { startRow, endRow, startColumn, endColumn } = rangeOf(this.#selection);
    const { shown } = this.#layout;
    // Selected images stand for their rows, and text can't hold an image.
    if (this.#gallery.isOpen) {
      const columns = shown.filter((column) => !isImageColumn(this.#frame.columns[column]!));
      return { startRow, endRow, columns };
    }
    return { startRow, endRow, columns: shown.slice(startColumn, endColumn) };
  }

  /** Returns the names of the selected columns if the header is active. */
  #headerText(): string | undefined {
    if (this.#selection.active.row >= 0) return undefined;
    return this.#copiedRange()
      .columns.map((column) => this.#frame.columns[column]!.name)
      .join('\t');
  }

  // Footer and state

  #tell(notice: Notice | undefined): void {
    if (this.#isClosed) return;
    this.#notice = notice;
    this.#drawFooter();
  }

  #drawFooter(): void {
    this.#footer.draw(this.#frame, this.#footerContent, this.#facts(), this.#notice);
  }

  /** What the footer says about the selection and the hidden columns. */
  #facts(): string[] {
    if (this.#gallery.isOpen) {
      const { startRow, endRow } = rangeOf(this.#selection);
      return endRow - startRow > 1 ? [`${countText(endRow - startRow)} rows selected`] : [];
    }
    const hidden = this.#choices.hidden.length;
    const facts = hidden === 0 ? [] : [`${countText(hidden)} hidden`];
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
        top: this.#rows.top,
        left: this.#scroller.scrollLeft,
        selection: this.#selection,
        choices: this.#choices,
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

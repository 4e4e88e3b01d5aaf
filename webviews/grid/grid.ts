import type { PanelSelection } from '#shared/protocol/webviewMessages.ts';
import { createButton, createElement, createWrapper } from '../parts/elements.ts';
import type { Notice } from '../parts/noticeLine.ts';
import { CellCopy, type SelectedCells } from './cellCopy.ts';
import { CellMedia } from './cellMedia.ts';
import { ColumnActions } from './columnActions.ts';
import { noChoices } from './columnLayout.ts';
import { ColumnPanel } from './columnPanel.ts';
import { positionOf } from './columnTree.ts';
import { DetailPane } from './detailPane.ts';
import type { GridFrame } from './frame.ts';
import { isImageColumn } from './galleryColumns.ts';
import { openGoToRow } from './goToRow.ts';
import { GridColumns } from './gridColumns.ts';
import { type Footer, GridFooter } from './gridFooter.ts';
import { GridGallery } from './gridGallery.ts';
import { focusWithPage, type KeyActions, runKey } from './gridKeys.ts';
import type { GridOptions, GridState } from './gridOptions.ts';
import { followPointer, type PointerActions } from './gridPointer.ts';
import { GridRows } from './gridRows.ts';
import { GridSelection } from './gridSelection.ts';
import { MenuOpener } from './menuOpener.ts';
import { rowHeightOf, rowHeights } from './rowHeights.ts';
import { exportedRows, type GridPosition, type GridSize } from './selection.ts';
import { StateSaver } from './stateSaver.ts';
import { ViewSwitch } from './viewSwitch.ts';

/** The grid of the panel and of notebook outputs: header with types, rows and a footer. It joins their parts. */
export class Grid {
  readonly element = createElement('div', { className: 'lance-grid' });
  readonly #frame: GridFrame;
  /** Holds the rows and the detail pane. */
  readonly #main = createWrapper('lance-main');
  readonly #footer = new GridFooter();
  readonly #switch = new ViewSwitch((isGallery) => {
    this.#gallery.toggle(isGallery);
    this.focus();
  });
  readonly #rows: GridRows;
  readonly #copy: CellCopy;
  readonly #media: CellMedia;
  readonly #pane: DetailPane;
  readonly #gallery: GridGallery;
  readonly #list: ColumnPanel;
  readonly #menus: MenuOpener;
  readonly #state: StateSaver;
  readonly #onFailure: (error: unknown) => void;
  #footerContent: Footer;
  readonly #empty = createElement('div', { className: 'lance-empty' });
  readonly #columns: GridColumns;
  readonly #columnActions: ColumnActions;
  readonly #selection: GridSelection;
  readonly #keys: KeyActions;
  #notice: Notice | undefined;
  #isClosed = false;
  readonly #closing = new AbortController();

  constructor(options: GridOptions) {
    const { frame, label, focus, footer, isGrowing = false, save, state, viewing, onState, onFailure } = options;
    this.#frame = frame;
    this.#footerContent = footer;
    this.#onFailure = onFailure;
    this.#state = new StateSaver(() => this.state, onState);
    const rowHeight = rowHeightOf(state?.rowHeight);
    this.#columns = new GridColumns(frame, state?.choices ?? noChoices, rowHeights[rowHeight]);
    this.#selection = new GridSelection(state?.selection, {
      size: () => this.#size,
      pageRows: () => this.#rows.view.rows.wholeRows,
      reveal: (cell) => this.#reveal(cell),
      onChange: () => this.#onSelection(),
    });
    this.#rows = new GridRows({
      label,
      frame,
      columns: this.#columns,
      selection: this.#selection,
      rowHeight: rowHeights[rowHeight],
      headerActions: {
        select: (index, extend) => {
          this.#selection.selectColumn(index, extend);
          this.focus();
        },
        openMenu: (index, at) => this.#menus.openForColumn(index, at),
        resize: (column, width, isDone) => this.#columnActions.resize(column, width, isDone),
        fit: (index) => this.#columnActions.fit([index]),
      },
      viewing,
      onScroll: () => this.#state.saveSoon(),
      onFailure: (error) => this.#fail(error),
    });
    this.#columnActions = new ColumnActions({
      frame,
      columns: this.#columns,
      rows: this.#rows,
      selection: this.#selection,
      rowHeight,
      onChange: () => this.#relayout(),
    });
    this.#copy = new CellCopy({ frame, tell: (notice) => this.tell(notice), selected: () => this.#selectedCells() });
    this.#media = new CellMedia(this.element, frame);
    this.#pane = new DetailPane({
      place: this.#main,
      frame,
      save,
      state: state?.pane,
      cell: () => this.#activeCell(),
      step: (rows) => this.#selection.step(rows),
      focusGrid: () => this.focus(),
      onState: () => this.#state.saveSoon(),
    });
    this.#menus = new MenuOpener({
      place: this.element,
      frame,
      columns: this.#columns,
      columnActions: this.#columnActions,
      selection: this.#selection,
      rows: this.#rows,
      copy: this.#copy,
      viewing,
      isGallery: () => this.#gallery.isOpen,
      activeCell: () => this.#activeCell(),
      openPane: () => this.#openPane(),
      goToRow: () => this.goToRow(),
      cellMenu: options.cellMenu ?? [],
      exportSelected: options.exportSelected,
      focusGrid: () => this.focus(),
    });
    this.#keys = this.#keyActions();
    this.#list = new ColumnPanel({
      place: this.element,
      columns: frame.columns,
      all: () => this.#columns.all,
      choices: () => this.#columns.choices,
      choose: (choices) => this.#columnActions.choose(choices),
      goTo: (column) => this.#goToColumn(column),
      reset: () => this.#columnActions.reset(),
      focusGrid: () => this.focus(),
    });
    this.#gallery = new GridGallery({
      place: this.#main,
      label,
      frame,
      state: state?.gallery,
      selected: () => this.#selection.rows,
      select: (rows) => this.#selection.selectRows(rows),
      openPane: () => this.#openPane(),
      openMenu: (at) => this.#menus.openForCell(at),
      onKey: (event) => runKey(event, this.#keys),
      topRow: () => this.#rows.view.rows.firstRow,
      onSwitch: (isOpen, topRow) => this.#onSwitch(isOpen, topRow),
      onState: () => this.#state.saveSoon(),
    });
    this.#build(label, isGrowing, options.empty);
    this.#gallery.restore();
    this.#listen();
    this.#rows.view.rows.moveTo(state?.top ?? 0);
    this.#rows.start();
    frame.watch(() => this.#onRows());
    if (focus) focusWithPage(() => this.focus(), this.#closing.signal);
    if (state) this.#rows.scrollWhenShown(state);
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
    this.#rows.grow(numRows);
    this.#frame.grow(numRows);
    if (isMoved) this.#frame.reload();
    this.#gallery.grow(numRows);
    this.#empty.hidden = numRows > 0 || isGrowing;
    this.#selection.leaveHeader();
    this.#rows.measure();
    this.#drawFooter();
  }

  /** What a grid of the same table needs to be as this one is. */
  get state(): GridState {
    return {
      top: this.#rows.view.rows.top,
      left: this.#rows.view.left,
      selection: this.#selection.current,
      choices: this.#columns.choices,
      rowHeight: this.#columnActions.rowHeight,
      pane: this.#pane.state,
      gallery: this.#gallery.state,
    };
  }

  /** Moves the keyboard focus to the rows or images. */
  focus(): void {
    if (this.#isClosed) return;
    if (this.#gallery.isOpen) this.#gallery.focus();
    else this.#rows.view.scroller.focus({ preventScroll: true });
  }

  /** The rows that an export of the selection has, and their columns; null for all. */
  get exported(): PanelSelection | undefined {
    const { shown } = this.#columns.layout;
    const rows = exportedRows(this.#selection.current, { shown, size: this.#size, isGallery: this.#gallery.isOpen });
    const positions = rows?.columns?.map((column) => positionOf(this.#frame.columns[column]!));
    return rows && { ...rows, columns: positions ?? null };
  }

  /** Frees what the grid holds. The element can be removed then. */
  close(): void {
    this.#isClosed = true;
    this.#closing.abort();
    this.#state.close();
    this.#media.hide();
    this.#copy.cancel();
    this.#pane.close();
    this.#gallery.close();
    this.#list.close();
    this.#rows.close();
    this.#frame.close();
    this.element.remove();
  }

  get #size(): GridSize {
    return { rows: this.#frame.numRows, columns: this.#columns.layout.shown.length };
  }

  #build(label: string, isGrowing: boolean, empty: Notice = { text: 'No rows', actions: [] }): void {
    const { numRows } = this.#frame;
    // The pane may be open already, and it comes after the rows.
    this.#main.prepend(this.#rows.view.scroller);
    this.#empty.append(createElement('span', { text: empty.text }), ...empty.actions.map(createButton));
    this.#empty.hidden = numRows > 0 || isGrowing;
    const bottom = createWrapper('lance-bottom');
    bottom.append(this.#footer.element, this.#list.button, this.#switch.element);
    this.element.append(this.#main, this.#empty, bottom);
    this.#switch.draw(this.#gallery);
    this.#drawFooter();
  }

  #listen(): void {
    const { scroller } = this.#rows.view;
    for (const type of ['wheel', 'pointerdown'])
      scroller.addEventListener(type, () => this.#selection.followPointer(), { passive: true });
    scroller.addEventListener('keydown', (event) => runKey(event, this.#keys));
    followPointer(scroller, this.#pointerActions());
    // Without selected text, the browser sends the event to the body of the page.
    document.addEventListener('copy', (event) => this.#onCopyEvent(event), { signal: this.#closing.signal });
  }

  #fail(error: unknown): void {
    this.close();
    this.#onFailure(error);
  }

  #onRows(): void {
    if (this.#isClosed) return;
    this.#drawFooter();
    this.#rows.requestDraw();
    this.#gallery.draw();
    if (this.#gallery.look(this.#rows.view.rows.firstRow)) this.#switch.draw(this.#gallery);
  }

  #relayout(): void {
    this.#selection.clamp();
    this.#rows.sizeContent();
    this.#drawFooter();
    this.#rows.requestDraw();
    this.#state.saveSoon();
  }

  // Keyboard and mouse

  #keyActions(): KeyActions {
    return {
      selectAll: () => this.#selection.selectAll(),
      copy: () => this.#copy.copy('tsv'),
      goToRow: () => this.goToRow(),
      openColumns: () => this.#list.open(),
      focusPane: () => {
        if (this.#pane.isOpen) this.#pane.focus();
        return this.#pane.isOpen;
      },
      openMenu: () => this.#menus.openAtActive(),
      openFilter: () => this.#menus.openFilter(),
      open: () => this.#open(this.#selection.active),
      giveUp: () => this.#giveUp(),
      move: (key) => this.#selection.move(key),
    };
  }

  #pointerActions(): PointerActions {
    return {
      positionOf: (target) => this.#rows.body.positionOf(target),
      selectRow: (row, extend) => this.#selection.selectRow(row, extend),
      selectCell: (cell, extend) => this.#selection.selectCell(cell, extend),
      openMedia: (thumbnail) => {
        if (this.#selection.isSingle && !this.#pane.isOpen) this.#showMedia(this.#selection.active, thumbnail);
      },
      openPane: () => this.#openPane(),
      openMenu: (cell, at) => {
        if (!this.#selection.includes(cell)) this.#selection.selectCell(cell, false);
        this.#menus.openForCell(at);
      },
    };
  }

  /** Scrolls as little as needed to show a cell. */
  #reveal(cell: GridPosition): void {
    if (this.#gallery.isOpen) this.#gallery.reveal(cell.row);
    else this.#rows.view.reveal(cell);
  }

  /** Gives up what Escape ends: reading cells to copy, a range, or the detail pane. */
  #giveUp(): boolean {
    if (this.#copy.isRunning) this.#copy.cancel();
    else if (!this.#selection.isSingle) this.#selection.selectCell(this.#selection.active, false);
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

  // Gallery

  /** Shows the rows as images or as a table. The selection and the first row in the view stay. */
  #onSwitch(isOpen: boolean, topRow: number): void {
    const { scroller, rows } = this.#rows.view;
    scroller.hidden = isOpen;
    this.#switch.draw(this.#gallery);
    if (!isOpen) {
      this.#rows.measure();
      rows.moveTo(topRow * rows.rowHeight);
      this.#rows.view.syncScrollBar();
      this.#rows.requestDraw();
    }
    this.#drawFooter();
    this.#pane.follow();
  }

  /** Scrolls to a column and selects its header, or its cell in the active row. */
  #goToColumn(column: number): void {
    const index = this.#columns.layout.shown.indexOf(column);
    if (index >= 0) this.#selection.goTo({ column: index });
  }

  /** Asks for the number of a row and moves there. */
  goToRow(): void {
    openGoToRow({
      parent: this.element,
      numRows: () => this.#size.rows,
      go: (row) => this.#selection.goTo({ row }),
      onClosed: () => this.focus(),
    });
  }

  #onSelection(): void {
    if (!this.#copy.isRunning) this.#notice = undefined;
    this.#drawFooter();
    this.#pane.follow();
    this.#gallery.draw();
    this.#rows.requestDraw();
    this.#state.saveSoon();
  }

  /**
   * Opens what a cell has to show: the menu of a header, the player of a blob, or the detail pane. If it is open, it gets
   * the focus.
   */
  #open(position: GridPosition): void {
    if (position.row < 0) {
      const head = this.#rows.elementAt(position);
      if (head) this.#menus.openForColumn(position.column, head);
      return;
    }
    if (this.#pane.isOpen) return this.#pane.focus();
    const player = this.#rows.elementAt(position)?.querySelector<HTMLElement>('.lance-openable');
    if (player) this.#showMedia(position, player);
    else if (this.#size.rows > 0) this.#openPane();
  }

  /** Opens the detail pane. The rows have less space then, and the active cell stays in the view. */
  #openPane(): void {
    if (this.#pane.isOpen) return;
    this.#pane.open();
    this.#rows.measure();
    this.#reveal(this.#selection.active);
    this.#rows.requestDraw();
  }

  #showMedia({ row, column: index }: GridPosition, thumbnail: HTMLElement): void {
    const column = this.#columns.layout.shown[index];
    if (column !== undefined) this.#media.show(row, column, thumbnail);
  }

  // Copying

  #onCopyEvent(event: ClipboardEvent): void {
    const root = this.element.getRootNode();
    const hasFocus = 'activeElement' in root && root.activeElement === this.#rows.view.scroller;
    if (hasFocus || this.#gallery.hasFocus(root)) this.#copy.onCopyEvent(event);
  }

  #selectedCells(): SelectedCells {
    const { shown } = this.#columns.layout;
    const cells = this.#selection.cells(shown);
    if (!this.#gallery.isOpen) return cells;
    // Selected images stand for their rows, and text can't hold an image.
    return { ...cells, columns: shown.filter((column) => !isImageColumn(this.#frame.columns[column]!)) };
  }

  // Footer and state

  /** Shows a notice below the rows, until the selection changes. */
  tell(notice: Notice | undefined): void {
    if (this.#isClosed) return;
    this.#notice = notice;
    this.#drawFooter();
  }

  #drawFooter(): void {
    this.#list.draw();
    const facts = this.#selection.facts(this.#gallery.isOpen);
    this.#footer.draw(this.#frame, this.#footerContent, facts, this.#notice);
  }
}

import { countText } from '#shared/format/numbers.ts';
import { GridBody } from './body.ts';
import type { GridFrame } from './frame.ts';
import type { GridColumns } from './gridColumns.ts';
import { GridHeader, type HeaderActions } from './gridHeader.ts';
import type { GridSelection } from './gridSelection.ts';
import { rowHeights } from './rowHeights.ts';
import { RowScroll } from './rowScroll.ts';
import type { GridPosition } from './selection.ts';
import type { GridViewing } from './sorting.ts';
import { Viewport } from './viewport.ts';

export type GridRowsDeps = {
  /** Names the grid for assistive technology. */
  readonly label: string;
  readonly frame: GridFrame;
  readonly columns: GridColumns;
  readonly selection: GridSelection;
  readonly rowHeight: number;
  readonly headerActions: HeaderActions;
  readonly viewing: GridViewing | undefined;
  /** Called after the user has scrolled. */
  readonly onScroll: () => void;
  readonly onFailure: (error: unknown) => void;
};

let grids = 0;

/** The header and the rows of a grid: they are drawn as the viewport, the columns and the selection have it. */
export class GridRows {
  readonly view: Viewport;
  readonly header: GridHeader;
  readonly body: GridBody;
  readonly #deps: GridRowsDeps;
  readonly #resizing: ResizeObserver;
  #frameRequest: number | undefined;
  #isClosed = false;

  constructor(deps: GridRowsDeps) {
    this.#deps = deps;
    const { label, frame, rowHeight, headerActions, viewing, onScroll } = deps;
    const prefix = `lance-grid-${++grids}`;
    this.header = new GridHeader(prefix, headerActions, viewing);
    this.body = new GridBody(prefix);
    this.view = new Viewport(new RowScroll(frame.numRows, rowHeight), () => {
      this.requestDraw();
      onScroll();
    });
    const { scroller, layer } = this.view;
    scroller.role = 'grid';
    scroller.tabIndex = 0;
    scroller.ariaLabel = label;
    scroller.ariaRowCount = String(frame.numRows + 1);
    scroller.ariaReadOnly = 'true';
    scroller.ariaMultiSelectable = 'true';
    layer.append(this.header.element, this.body.element);
    this.#resizing = new ResizeObserver(() => this.measure());
  }

  /** Draws whenever the place of the rows has another size, from the first one on. */
  start(): void {
    this.#resizing.observe(this.view.scroller);
  }

  /** Scrolls to a position as soon as the page has laid the rows out. */
  scrollWhenShown({ top, left }: { readonly top: number; readonly left: number }): void {
    requestAnimationFrame(() => {
      if (this.#isClosed) return;
      this.measure();
      this.view.scrollTo(top, left);
      this.requestDraw();
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#resizing.disconnect();
    if (this.#frameRequest !== undefined) cancelAnimationFrame(this.#frameRequest);
    this.body.close();
  }

  grow(numRows: number): void {
    this.view.rows.numRows = numRows;
    this.view.scroller.ariaRowCount = String(numRows + 1);
  }

  setRowHeight(height: number): void {
    this.view.rows.rowHeight = height;
    this.#deps.columns.setRowHeight(height);
    this.body.redraw();
  }

  /** Reads the size of the place of the rows and draws. */
  measure(): void {
    if (this.#isClosed) return;
    const { scroller } = this.view;
    if (scroller.clientWidth > 0) this.#deps.columns.readFont(scroller);
    this.view.measure();
    this.sizeContent();
    this.#draw();
  }

  /** Gives the scrolled element the size of all rows and columns. */
  sizeContent(): void {
    const { columns, frame } = this.#deps;
    const numberWidth = Math.max(3, countText(frame.numRows).length) * columns.digit * 0.92 + 20;
    const isTall = this.view.rows.rowHeight > rowHeights.small;
    const { scroller } = this.view;
    const count = String(columns.all.length + 1);
    if (scroller.ariaColCount !== count) scroller.ariaColCount = count;
    this.view.resize({ layout: columns.layout, numberWidth, isTall });
  }

  requestDraw(): void {
    this.#frameRequest ??= requestAnimationFrame(() => {
      this.#frameRequest = undefined;
      this.#draw();
    });
  }

  /** Returns the element of a cell or header in the view, also of one that the last key has just brought there. */
  elementAt(position: GridPosition): HTMLElement | undefined {
    if (this.#frameRequest !== undefined) {
      cancelAnimationFrame(this.#frameRequest);
      this.#frameRequest = undefined;
      this.#draw();
    }
    return position.row < 0 ? this.header.headElement(position.column) : this.body.cellElement(position);
  }

  #draw(): void {
    if (this.#isClosed || this.view.rows.viewHeight === 0) return;
    // Values are formatted while they are drawn, and a readable Arrow stream may contain invalid columns.
    try {
      this.#drawView();
    } catch (error) {
      this.#deps.onFailure(error);
    }
  }

  #drawView(): void {
    const { frame, columns, selection } = this.#deps;
    const { rows, left, scroller } = this.view;
    const [start, end] = [rows.firstRow, rows.endRow];
    const isGrown = rows.numRows > 0 && this.#sizeColumns(start);
    const { layout } = columns;
    const { window } = this.view;
    const { active, isHeader } = selection;
    this.header.draw({
      columns: frame.columns,
      layout,
      window,
      left,
      active: isHeader ? active.column : undefined,
    });
    this.body.draw({
      frame,
      layout,
      window,
      left,
      start,
      end,
      rowHeight: rows.rowHeight,
      above: rows.top - start * rows.rowHeight,
      active,
      range: selection.range,
      isRange: !selection.isSingle,
    });
    const id = isHeader ? this.header.idOf(active.column) : this.body.idOf(active);
    if (id === undefined) scroller.removeAttribute('aria-activedescendant');
    else scroller.setAttribute('aria-activedescendant', id);
    void frame.show(start, end, layout.columnsIn(window));
    if (!isGrown) return;
    // Other columns are in the view now.
    selection.keepInView();
    this.requestDraw();
  }

  /** Gives columns the width of their values, once their first values in the view are loaded. */
  #sizeColumns(start: number): boolean {
    if (!this.#deps.columns.fitValues(this.view.window, start)) return false;
    this.sizeContent();
    return true;
  }
}

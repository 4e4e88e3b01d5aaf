import { createElement, createWrapper } from '../parts/elements.ts';
import { ColumnLayout, type ColumnWindow, noChoices } from './columnLayout.ts';
import type { RowScroll } from './rowScroll.ts';
import type { GridPosition } from './selection.ts';

/** Height of the header in pixels. */
export const headerHeight = 42;

/** The content that is scrolled. */
export type ScrolledContent = {
  readonly layout: ColumnLayout;
  /** Width of the row numbers in pixels. */
  readonly numberWidth: number;
  /** Whether rows have several lines. */
  readonly isTall: boolean;
};

/**
 * The part of the table in the view. The scrolled element is empty and has the size of the table; one layer inside it
 * stays in the view and shows the rows and columns at the position.
 */
export class Viewport {
  readonly scroller = createElement('div', { className: 'lance-scroller' });
  /** The layer that stays in the view. */
  readonly layer = createWrapper('lance-layer');
  readonly rows: RowScroll;
  readonly #element = createWrapper('lance-content');
  readonly #onMove: () => void;
  #content: ScrolledContent = { layout: new ColumnLayout([], noChoices, () => 0), numberWidth: 0, isTall: false };
  #width = 0;
  #handlesWheel = false;

  /** @param onMove called after the user has scrolled */
  constructor(rows: RowScroll, onMove: () => void) {
    this.rows = rows;
    this.#onMove = onMove;
    this.#element.append(this.layer);
    this.scroller.append(this.#element);
    this.scroller.addEventListener('scroll', () => {
      rows.follow(this.scroller.scrollTop);
      onMove();
    });
  }

  /** How far the columns are scrolled, in pixels. */
  get left(): number {
    return this.scroller.scrollLeft;
  }

  /** Width that the scrolled columns have, in pixels. */
  get columnsWidth(): number {
    return Math.max(0, this.#width - this.#content.numberWidth - this.#content.layout.pinnedWidth);
  }

  get window(): ColumnWindow {
    return this.#content.layout.window(this.left, this.columnsWidth);
  }

  /** Reads the size of the element, and whether it has one. */
  measure(): void {
    const { clientWidth, clientHeight } = this.scroller;
    this.#width = clientWidth;
    this.rows.resize(Math.max(0, clientHeight - headerHeight));
  }

  /** Gives the scrolled element the size of the table. */
  resize(content: ScrolledContent): void {
    this.#content = content;
    this.#handleWheel();
    const { layout, numberWidth, isTall } = content;
    const { clientHeight, clientWidth } = this.scroller;
    const { rowHeight, contentHeight } = this.rows;
    this.#element.style.height = `${contentHeight + headerHeight}px`;
    this.#element.style.width = `${numberWidth + layout.pinnedWidth + layout.scrolledWidth}px`;
    const { style, classList } = this.layer;
    style.width = `${clientWidth}px`;
    style.height = `${clientHeight}px`;
    style.setProperty('--lance-row-height', `${rowHeight}px`);
    // Lines of 20 pixels, with 6 pixels above and below.
    style.setProperty('--lance-lines', String(Math.floor((rowHeight - 12) / 20)));
    classList.toggle('lance-tall', isTall);
    style.setProperty('--lance-number-width', `${numberWidth}px`);
    style.setProperty('--lance-pinned-width', `${layout.pinnedWidth}px`);
    classList.toggle('lance-has-pinned', layout.numPinned > 0);
  }

  /** Moves the scroll bar to the position of the rows. */
  syncScrollBar(): void {
    this.scroller.scrollTop = this.rows.scrollTop;
  }

  scrollTo(top: number, left: number): void {
    this.rows.moveTo(top);
    this.syncScrollBar();
    this.scroller.scrollLeft = left;
  }

  /** Scrolls as little as needed to show a cell. */
  reveal({ row, column }: GridPosition): void {
    if (row >= 0) {
      this.rows.reveal(row);
      this.syncScrollBar();
    }
    const { layout } = this.#content;
    if (column < layout.numPinned || column >= layout.shown.length) return;
    const { left, width } = layout.place(column);
    const view = this.#width - this.#content.numberWidth - layout.pinnedWidth;
    if (left < this.left) this.scroller.scrollLeft = left;
    else if (left + width > this.left + view) this.scroller.scrollLeft = Math.min(left, left + width - view);
  }

  /**
   * Handles the wheel if the scroll bar is scaled. Otherwise the browser scrolls, which is smoother, because it does not
   * wait for a listener.
   */
  #handleWheel(): void {
    if (this.#handlesWheel || !this.rows.isScaled) return;
    this.#handlesWheel = true;
    this.scroller.addEventListener('wheel', (event) => this.#onWheel(event), { passive: false });
  }

  #onWheel(event: WheelEvent): void {
    if (event.ctrlKey || event.shiftKey || event.deltaY === 0) return;
    const { rows } = this;
    const unit =
      event.deltaMode === WheelEvent.DOM_DELTA_LINE
        ? rows.rowHeight
        : event.deltaMode === WheelEvent.DOM_DELTA_PAGE
          ? rows.viewHeight
          : 1;
    const before = rows.top;
    rows.moveBy(event.deltaY * unit);
    if (rows.top === before) return;
    event.preventDefault();
    this.syncScrollBar();
    if (event.deltaX !== 0) this.scroller.scrollLeft += event.deltaX;
    this.#onMove();
  }
}

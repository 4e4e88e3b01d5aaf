/**
 * Maximum height of a scrolled element in pixels. Chromium limits an element to 33.5 million pixels and Firefox to 17.9
 * million, so one million rows of 33 pixels already need scaled scrolling.
 */
export const maxContentHeight = 8_000_000;

/**
 * The vertical position in a table of any number of rows. All rows have the same height, so every position is
 * arithmetic and no row is stored.
 *
 * If the rows are higher than an element can be, the scroll bar stands for a part of a pixel only: the element is
 * shorter than the rows, and a drag of the bar is scaled. Wheel and keys would then skip hundreds of rows, so they move
 * the position in the rows, and the scroll bar follows.
 */
export class RowScroll {
  /** May grow. */
  numRows: number;
  #rowHeight: number;
  #viewHeight = 0;
  #top = 0;

  constructor(numRows: number, rowHeight: number) {
    this.numRows = numRows;
    this.#rowHeight = rowHeight;
  }

  get rowHeight(): number {
    return this.#rowHeight;
  }

  /** Changes the height of all rows. The first row in the view stays there. */
  set rowHeight(rowHeight: number) {
    const top = this.#top * (rowHeight / this.#rowHeight);
    this.#rowHeight = rowHeight;
    this.moveTo(top);
  }

  /** Position of the upper edge of the view in the rows, in pixels. */
  get top(): number {
    return this.#top;
  }

  /** Height of all rows, in pixels. */
  get rowsHeight(): number {
    return this.numRows * this.rowHeight;
  }

  /** Height of the scrolled element, in pixels. */
  get contentHeight(): number {
    return Math.min(this.rowsHeight, maxContentHeight);
  }

  get isScaled(): boolean {
    return this.rowsHeight > maxContentHeight;
  }

  get viewHeight(): number {
    return this.#viewHeight;
  }

  /** The `scrollTop` that belongs to the position. */
  get scrollTop(): number {
    return this.isScaled ? (this.#top / this.#maxTop) * this.#maxScrollTop : this.#top;
  }

  /** Number of the first row that is in the view, also in part. */
  get firstRow(): number {
    return Math.floor(this.#top / this.rowHeight);
  }

  /** Number of the row after the last one that is in the view. */
  get endRow(): number {
    return Math.min(this.numRows, Math.ceil((this.#top + this.#viewHeight) / this.rowHeight));
  }

  /** Number of rows that fit whole, at least 1. */
  get wholeRows(): number {
    return Math.max(1, Math.floor(this.#viewHeight / this.rowHeight));
  }

  resize(viewHeight: number): void {
    this.#viewHeight = viewHeight;
    this.moveTo(this.#top);
  }

  moveTo(top: number): void {
    this.#top = Math.max(0, Math.min(top, this.#maxTop));
  }

  moveBy(pixels: number): void {
    this.moveTo(this.#top + pixels);
  }

  /** Follows the scroll bar. A `scrollTop` within a pixel of the position is the browser's rounding of it. */
  follow(scrollTop: number): void {
    if (!this.isScaled) this.moveTo(scrollTop);
    else if (Math.abs(scrollTop - this.scrollTop) >= 1) this.moveTo((scrollTop / this.#maxScrollTop) * this.#maxTop);
  }

  /** Moves as little as needed to have a row whole in the view. */
  reveal(row: number): void {
    const start = row * this.rowHeight;
    if (start < this.#top) this.moveTo(start);
    else if (start + this.rowHeight > this.#top + this.#viewHeight)
      this.moveTo(start + this.rowHeight - this.#viewHeight);
  }

  get #maxTop(): number {
    return Math.max(0, this.rowsHeight - this.#viewHeight);
  }

  get #maxScrollTop(): number {
    return Math.max(1, this.contentHeight - this.#viewHeight);
  }
}

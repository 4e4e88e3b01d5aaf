import type { GridCell } from './block.ts';
import type { GridFrame } from './frame.ts';
import { markedText } from './markedText.ts';

/** Minimum and maximum width of a column whose width the user has not set, in pixels. */
const least = 72;
const most = 320;
/** Space beside the text: the padding of a cell, and the button of the header. */
const cellPadding = 18;
const headerPadding = 34;
/** Number of rows whose values are measured. */
const manyRows = 20;

/** Rows from `start` to `end`, and the number of rows that the table had when they were measured. */
type MeasuredRows = { readonly start: number; readonly end: number; readonly numRows: number };

/**
 * The widths of columns that the user has not set. They come from names and types first, and from the values once these
 * are loaded; then a width no longer changes, unless all rows of a table that grows have been measured, or more numbers
 * of the first rows arrive.
 */
export class ColumnWidths {
  readonly #frame: GridFrame;
  readonly #widths: number[];
  /** The rows that columns have their width from, if it is also from values. */
  readonly #measured = new Map<number, MeasuredRows>();
  #rowHeight: number;
  #digit = 7.6;
  #hasFont = false;

  constructor(frame: GridFrame, rowHeight: number) {
    this.#frame = frame;
    this.#rowHeight = rowHeight;
    this.#widths = frame.columns.map((_, column) => this.#width(column));
  }

  /** Width of a digit in pixels: a guess until the grid is on the page and its font is known. */
  get digit(): number {
    return this.#digit;
  }

  width(column: number): number {
    return this.#widths[column]!;
  }

  /** Reads the font of the grid, once. Returns whether it changes the widths. */
  readFont(element: HTMLElement): boolean {
    if (this.#hasFont) return false;
    this.#hasFont = true;
    const digit = digitWidth(element);
    if (digit === undefined || Math.abs(digit - this.#digit) < 0.05) return false;
    this.#digit = digit;
    for (const column of this.#widths.keys()) this.#widths[column] = this.#width(column);
    return true;
  }

  /** Gives columns the width of their values, if these are loaded. Returns whether a width has changed. */
  fitValues(columns: readonly number[], start: number): boolean {
    let isChanged = false;
    for (const column of columns) {
      const rows = this.#nextRows(column, start);
      if (!rows) continue;
      this.#measured.set(column, rows);
      const width = this.#width(column, rows.start);
      if (width !== this.#widths[column]) isChanged = true;
      this.#widths[column] = width;
    }
    return isChanged;
  }

  /** Columns of images become as wide as their images at the next `fitValues`. */
  setRowHeight(rowHeight: number): void {
    this.#rowHeight = rowHeight;
    this.#measured.clear();
  }

  /**
   * Returns the rows to measure: the first loaded ones; again if a table that grows had fewer, and for numbers also once
   * all of the first rows are loaded, because a cut number would be misleading. Else `undefined`.
   */
  #nextRows(column: number, firstRow: number): MeasuredRows | undefined {
    const frame = this.#frame;
    const { numRows } = frame;
    const before = this.#measured.get(column);
    const start = before?.start ?? firstRow;
    const last = Math.min(numRows, start + manyRows);
    const isNumberCut = before !== undefined && before.end < last && frame.columns[column]!.numeric;
    if (before && !isNumberCut && (before.numRows === numRows || before.end < before.numRows)) return undefined;
    let end = start;
    for (; end < last; end++) {
      const cell = frame.cell(end, column);
      if (cell === undefined || cell.kind === 'failed') break;
    }
    return end === (before?.end ?? start) ? undefined : { start, end, numRows };
  }

  #width(column: number, start = 0): number {
    return columnWidth(this.#frame, column, { digit: this.#digit, rowHeight: this.#rowHeight, start });
  }
}

/**
 * Returns the width of a column, from its name and type, and from the values of loaded rows.
 * @param options `start` is the first of the rows to measure, `digit` the width of a digit in pixels
 */
function columnWidth(
  frame: GridFrame,
  column: number,
  { digit, rowHeight, start = 0 }: { digit: number; rowHeight: number; start?: number },
): number {
  const { name, type, numeric } = frame.columns[column]!;
  const header = Math.max(textWidth(markedText(name), digit * 1.05), textWidth(type, digit * 0.9)) + headerPadding;
  let widest = leastOfType(type, numeric, frame.numRows, digit);
  const end = Math.min(frame.numRows, start + manyRows);
  for (let row = start; row < end; row++) {
    const cell = frame.cell(row, column);
    if (cell === undefined) break;
    const mark = frame.mark?.(row, column);
    const size = { digit, rowHeight };
    // A sign, or the value before and an arrow, with their gaps.
    const extra = mark?.before ? beforeWidth(mark.before, size) + 5 * digit : mark?.isName ? 3 * digit : 0;
    widest = Math.max(widest, extra + cellWidth(cell, size));
  }
  return Math.round(Math.min(most, Math.max(least, Math.min(header, 220), widest + cellPadding)));
}

type TextSize = { readonly digit: number; readonly rowHeight: number };

const imageWidth = (rowHeight: number): number => Math.max(96, rowHeight * 1.6);

function cellWidth(cell: GridCell, { digit, rowHeight }: TextSize): number {
  if (cell.kind === 'image') return imageWidth(rowHeight);
  // A vector has a line and its facts beside the values.
  const plot = cell.kind === 'vector' ? 88 + 16 * digit : 0;
  return plot + textWidth(cell.kind === 'text' ? markedText(cell.text.slice(0, 80)) : cell.text, digit);
}

/** Returns the width of a value before a change, which is text or an image. */
const beforeWidth = (before: GridCell, { digit, rowHeight }: TextSize): number =>
  before.kind === 'image' ? imageWidth(rowHeight) : textWidth(before.text, digit);

/** Returns the width of a string. Letters of East Asian scripts are as wide as two digits. */
function textWidth(text: string, digit: number): number {
  const shown = text.length > 80 ? text.slice(0, 80) : text;
  const wide = shown.match(/[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFF00-\uFF60]/g)?.length ?? 0;
  return (shown.length + wide) * digit;
}

/**
 * The least width of the values of a type. A cut timestamp or number would be misleading. Integers often count the
 * rows, so the number of rows must fit.
 */
function leastOfType(type: string, numeric: boolean, numRows: number, digit: number): number {
  const unit = /^timestamp\[(s|ms|us|ns)/.exec(type)?.[1];
  if (unit !== undefined) return { s: 20, ms: 24, us: 27, ns: 30 }[unit as 's' | 'ms' | 'us' | 'ns'] * digit;
  return numeric ? Math.max(6, String(numRows).length) * digit : 0;
}

/** Returns the width of a digit in the font of an element, in pixels; `undefined` if it can't be measured. */
function digitWidth(element: HTMLElement): number | undefined {
  const { fontSize, fontFamily } = getComputedStyle(element);
  const canvas = document.createElement('canvas').getContext('2d');
  if (!canvas) return undefined;
  canvas.font = `${fontSize} ${fontFamily}`;
  const width = canvas.measureText('0'.repeat(10)).width / 10;
  return width > 0 ? width : undefined;
}

/** Returns the width of the strings and images in an element, also where they are cut. */
export function contentWidth(element: HTMLElement): number {
  const rects: DOMRect[] = [...element.querySelectorAll('svg, canvas')].map((one) => one.getBoundingClientRect());
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (texts.nextNode()) {
    // The header's button is only there while the pointer is.
    if (texts.currentNode.parentElement?.closest('button')) continue;
    range.selectNodeContents(texts.currentNode);
    rects.push(range.getBoundingClientRect());
  }
  if (rects.length === 0) return 0;
  return Math.max(...rects.map(({ right }) => right)) - Math.min(...rects.map(({ left }) => left));
}

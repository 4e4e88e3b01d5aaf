import { countText } from '#shared/format/numbers.ts';
import { createElement, createWrapper } from '../parts/elements.ts';
import type { ColumnLayout, ColumnWindow } from './columnLayout.ts';
import { releaseCell } from './cells.ts';
import { drawMarkedCell, type MarkedCell } from './changeMarks.ts';
import type { GridFrame } from './frame.ts';
import { rotate } from './rotate.ts';
import { type CellRange, type GridPosition, isInRange } from './selection.ts';

/** What the rows show at the moment. */
export type BodyView = {
  readonly frame: GridFrame;
  readonly layout: ColumnLayout;
  /** The rows in the view. */
  readonly start: number;
  readonly end: number;
  readonly rowHeight: number;
  /** Distance of the first row's upper edge above the view, in pixels. */
  readonly above: number;
  readonly window: ColumnWindow;
  /** How far the columns are scrolled, in pixels. */
  readonly left: number;
  readonly active: GridPosition;
  readonly range: CellRange;
  /** Whether more than one cell is selected. */
  readonly isRange: boolean;
};

type ShownColumn = { readonly index: number; readonly column: number; readonly left: number; readonly width: number };

type CellElement = MarkedCell & { shown: ShownColumn | undefined; state: string };

type RowElement = {
  readonly element: HTMLElement;
  readonly number: HTMLElement;
  readonly pinned: HTMLElement;
  readonly scrolled: HTMLElement;
  readonly cells: { pinned: CellElement[]; scrolled: CellElement[] };
  row: number;
};

/**
 * The rows of the grid. Only the rows and columns in the view have elements. An element that leaves the view at one side
 * shows what enters it at the other side, so scrolling creates no elements. The order of the elements is the order on
 * the screen, which assistive technology reads.
 */
export class GridBody {
  readonly element: HTMLElement;
  readonly #idPrefix: string;
  readonly #rows: RowElement[] = [];
  #window: { pinned: ShownColumn[]; scrolled: ShownColumn[] } = { pinned: [], scrolled: [] };
  #layout: ColumnLayout | undefined;
  #above = Number.NaN;
  #left = Number.NaN;

  constructor(idPrefix: string) {
    this.#idPrefix = idPrefix;
    this.element = createElement('div', { className: 'lance-rows', role: 'rowgroup' });
  }

  draw(view: BodyView): void {
    const isNewWindow = this.#placeColumns(view);
    this.#placeRows(view);
    for (const row of this.#rows) {
      if (isNewWindow) this.#placeCells(row, view.frame);
      this.#drawRow(row, view);
    }
    if (view.above !== this.#above) this.element.style.transform = `translateY(${-view.above}px)`;
    this.#above = view.above;
  }

  /** Returns the id of the element of a cell; `undefined` outside of the view. */
  idOf({ row, column }: GridPosition): string | undefined {
    const { pinned, scrolled } = this.#window;
    const isShown = this.#rows.some((one) => one.row === row);
    const isInWindow = [...pinned, ...scrolled].some(({ index }) => index === column);
    return isShown && isInWindow ? this.#id(row, column) : undefined;
  }

  /** Returns the position of the cell that has an element inside. */
  positionOf(target: EventTarget | null): { row: number; column: number | undefined } | undefined {
    if (!(target instanceof Element)) return undefined;
    const row = this.#rows.find(({ element }) => element.contains(target));
    if (!row) return undefined;
    const cell = [...row.cells.pinned, ...row.cells.scrolled].find(({ element }) => element.contains(target));
    return { row: row.row, column: cell?.shown?.index };
  }

  /** Returns the element of a cell in the view. */
  cellElement({ row, column }: GridPosition): HTMLElement | undefined {
    const found = this.#rows.find((one) => one.row === row);
    return [...(found?.cells.pinned ?? []), ...(found?.cells.scrolled ?? [])].find(
      ({ shown }) => shown?.index === column,
    )?.element;
  }

  /** Makes the next drawing draw every cell, because the height of the rows has changed. */
  redraw(): void {
    for (const row of this.#rows) this.#release(row);
  }

  close(): void {
    for (const row of this.#rows.splice(0)) this.#release(row);
    this.element.replaceChildren();
  }

  /** Returns whether other columns are in the view than before, or at other places. */
  #placeColumns({ layout, left, window: { start, end } }: BodyView): boolean {
    const before = this.#window;
    const isSame =
      this.#layout === layout &&
      before.scrolled[0]?.index === (start < end ? start : undefined) &&
      before.scrolled.length === end - start;
    if (left !== this.#left) {
      this.#left = left;
      for (const { scrolled } of this.#rows) scrolled.style.transform = `translateX(${-left}px)`;
    }
    if (isSame) return false;
    const shown = (from: number, to: number): ShownColumn[] =>
      Array.from({ length: to - from }, (_, index) => ({ index: from + index, ...layout.place(from + index) }));
    this.#layout = layout;
    this.#window = { pinned: shown(0, layout.numPinned), scrolled: shown(start, end) };
    return true;
  }

  /** Gives the elements of rows that left the view to the rows that entered it. */
  #placeRows({ frame, start, end }: BodyView): void {
    const rows = this.#rows;
    while (rows.length > end - start) {
      const row = rows.pop()!;
      this.#release(row);
      row.element.remove();
    }
    rotate(this.element, rows, start - (rows[0]?.row ?? start));
    while (rows.length < end - start) {
      const row = this.#newRow();
      rows.push(row);
      this.element.append(row.element);
      this.#placeCells(row, frame);
    }
    for (const [index, row] of rows.entries()) this.#setRow(row, start + index);
  }

  #setRow(row: RowElement, number: number): void {
    if (row.row === number) return;
    row.row = number;
    row.element.ariaRowIndex = String(number + 2);
    row.number.textContent = countText(number + 1);
    for (const cell of [...row.cells.pinned, ...row.cells.scrolled])
      if (cell.shown) cell.element.id = this.#id(number, cell.shown.index);
  }

  #placeCells(row: RowElement, frame: GridFrame): void {
    this.#placePart(row, row.pinned, row.cells.pinned, this.#window.pinned, frame);
    this.#placePart(row, row.scrolled, row.cells.scrolled, this.#window.scrolled, frame);
  }

  #placePart(
    row: RowElement,
    parent: HTMLElement,
    cells: CellElement[],
    window: ShownColumn[],
    frame: GridFrame,
  ): void {
    while (cells.length > window.length) {
      const cell = cells.pop()!;
      releaseCell(cell);
      cell.element.remove();
    }
    const [first, start] = [cells[0]?.shown?.index, window[0]?.index];
    if (first !== undefined && start !== undefined) rotate(parent, cells, start - first);
    while (cells.length < window.length) {
      const element = createElement('div', { role: 'gridcell' });
      cells.push({ element, drawn: null, release: undefined, mark: undefined, shown: undefined, state: '' });
      parent.append(element);
    }
    for (const [index, cell] of cells.entries()) {
      const shown = window[index]!;
      if (cell.shown === shown) continue;
      const { element } = cell;
      if (cell.shown?.column !== shown.column) {
        cell.state = '';
        element.className = '';
        // The classes of a mark are gone too, so that the cell is drawn again.
        if (cell.mark) cell.drawn = null;
      }
      if (cell.shown?.index !== shown.index && row.row >= 0) element.id = this.#id(row.row, shown.index);
      if (cell.shown?.left !== shown.left) element.style.left = `${shown.left}px`;
      if (cell.shown?.width !== shown.width) element.style.width = `${shown.width}px`;
      element.classList.toggle('lance-right', frame.columns[shown.column]!.numeric);
      element.ariaColIndex = String(shown.index + 2);
      cell.shown = shown;
    }
  }

  #drawRow(row: RowElement, { frame, active, range, isRange, rowHeight }: BodyView): void {
    for (const cells of [row.cells.pinned, row.cells.scrolled])
      for (const cell of cells) {
        const { column, index } = cell.shown!;
        drawMarkedCell(cell, frame.cell(row.row, column), frame.mark?.(row.row, column), rowHeight);
        const isActive = active.row === row.row && active.column === index;
        const isSelected = isRange && isInRange(range, row.row, index);
        const state = `${isActive ? 'a' : ''}${isSelected ? 's' : ''}`;
        if (state === cell.state) continue;
        cell.state = state;
        cell.element.classList.toggle('lance-active', isActive);
        cell.element.classList.toggle('lance-selected', isSelected);
        cell.element.ariaSelected = isActive || isSelected ? 'true' : null;
      }
  }

  #newRow(): RowElement {
    const element = createElement('div', { className: 'lance-row', role: 'row' });
    const number = createElement('div', { className: 'lance-row-number', role: 'rowheader' });
    number.ariaColIndex = '1';
    const [pinned, clip, scrolled] = [
      createWrapper('lance-pinned'),
      createWrapper('lance-clip'),
      createWrapper('lance-scrolled'),
    ];
    scrolled.style.transform = `translateX(${-this.#left}px)`;
    clip.append(scrolled);
    element.append(number, pinned, clip);
    return { element, number, pinned, scrolled, cells: { pinned: [], scrolled: [] }, row: -1 };
  }

  #release({ cells }: RowElement): void {
    for (const cell of [...cells.pinned, ...cells.scrolled]) releaseCell(cell);
  }

  #id(row: number, column: number): string {
    return `${this.#idPrefix}-${row}-${column}`;
  }
}

import { countText } from '#shared/format/numbers.ts';
import type { SelectedCells } from './cellCopy.ts';
import type { SelectedRows } from './galleryHost.ts';
import {
  clampSelection,
  type GridPosition,
  type GridSize,
  isInRange,
  isSingle,
  moved,
  type MoveKey,
  rangeOf,
  selectCell,
  type Selection,
  wholeColumn,
  wholeRow,
  wholeTable,
} from './selection.ts';

type GridSelectionDeps = {
  readonly size: () => GridSize;
  /** Returns how many rows Page Up and Page Down move. */
  readonly pageRows: () => number;
  /** Scrolls as little as needed to show a cell. */
  readonly reveal: (cell: GridPosition) => void;
  readonly onChange: () => void;
};

/** The selected cells of a grid, and what users do to select others. */
export class GridSelection {
  readonly #deps: GridSelectionDeps;
  #current: Selection;
  /** Whether the keyboard has moved to the active cell, so that it stays in the view when columns grow. */
  #followsKeyboard = false;

  constructor(start: Selection | undefined, deps: GridSelectionDeps) {
    this.#deps = deps;
    const size = deps.size();
    this.#current = clampSelection(start ?? selectCell({ row: size.rows > 0 ? 0 : -1, column: 0 }), size);
  }

  get current(): Selection {
    return this.#current;
  }

  get active(): GridPosition {
    return this.#current.active;
  }

  /** Whether the active cell is in the header. */
  get isHeader(): boolean {
    return this.active.row < 0;
  }

  get isSingle(): boolean {
    return isSingle(this.#current);
  }

  get range(): ReturnType<typeof rangeOf> {
    return rangeOf(this.#current);
  }

  /** The selected rows, for the gallery. */
  get rows(): SelectedRows {
    const { active, anchor } = this.#current;
    return { active: active.row, anchor: anchor.row };
  }

  includes({ row, column }: GridPosition): boolean {
    return isInRange(this.range, row, column);
  }

  select(selection: Selection): void {
    this.#current = selection;
    this.#deps.onChange();
  }

  selectAll(): void {
    this.select(wholeTable(this.#deps.size()));
  }

  selectCell(cell: GridPosition, extend: boolean): void {
    this.select(extend ? { ...this.#current, active: cell } : selectCell(cell));
  }

  selectRow(row: number, extend: boolean): void {
    const whole = wholeRow(row, this.#deps.size());
    const { anchor } = this.#current;
    this.select(extend ? { active: whole.active, anchor: { ...whole.anchor, row: anchor.row } } : whole);
  }

  selectColumn(index: number, extend: boolean): void {
    const whole = wholeColumn(index, this.#deps.size());
    const { anchor } = this.#current;
    this.select(extend ? { active: whole.active, anchor: { ...whole.anchor, column: anchor.column } } : whole);
  }

  /** Selects whole rows, or for one row the cell that was active. */
  selectRows({ active, anchor }: SelectedRows): void {
    if (active === anchor) return this.select(selectCell({ ...this.active, row: active }));
    const { columns } = this.#deps.size();
    this.select({ active: { row: active, column: 0 }, anchor: { row: anchor, column: Math.max(0, columns - 1) } });
  }

  /** Shows a cell and selects it. Without a row or column, it stays in that of the active cell. */
  goTo(cell: Partial<GridPosition>): void {
    this.#moveTo(selectCell({ ...this.active, ...cell }));
  }

  /** Moves the active cell by rows, for the detail pane. */
  step(by: number): void {
    const { rows } = this.#deps.size();
    if (rows > 0) this.goTo({ row: Math.max(0, Math.min(this.active.row + by, rows - 1)) });
  }

  /** Moves as a key does. Returns false if the key doesn't move. */
  move(key: MoveKey): boolean {
    const next = moved(this.#current, key, this.#deps.size(), this.#deps.pageRows());
    if (next) this.#moveTo(next);
    return next !== undefined;
  }

  /** Leaves the view where the mouse scrolls it. */
  followPointer(): void {
    this.#followsKeyboard = false;
  }

  /** Shows the active cell again if columns have grown since the keyboard moved to it. */
  keepInView(): void {
    if (this.#followsKeyboard) this.#deps.reveal(this.active);
  }

  // Changes of the table. They are drawn by the caller.

  /** Moves from the header to the first row, once the table has rows. */
  leaveHeader(): void {
    if (this.isHeader && this.isSingle && this.#deps.size().rows > 0)
      this.#current = selectCell({ ...this.active, row: 0 });
  }

  /** Moves the active cell with its column, unless several cells are selected. */
  followColumn(index: number): void {
    if (index >= 0 && this.isSingle) this.#current = selectCell({ ...this.active, column: index });
  }

  /** Keeps the selection inside a table with fewer rows or columns. */
  clamp(): void {
    this.#current = clampSelection(this.#current, this.#deps.size());
  }

  // What others read

  /** Returns the selected cells among columns that are shown. */
  cells(shown: readonly number[]): SelectedCells {
    const { startRow, endRow, startColumn, endColumn } = this.range;
    return { startRow, endRow, columns: shown.slice(startColumn, endColumn), isHeader: this.isHeader };
  }

  /** Returns what the footer says about the selection. */
  facts(isGallery: boolean): string[] {
    const { startRow, endRow, startColumn, endColumn } = this.range;
    const [rows, columns] = [endRow - startRow, endColumn - startColumn];
    if (isGallery) return rows > 1 ? [`${countText(rows)} rows selected`] : [];
    return this.isSingle ? [] : [`${countText(rows)} × ${countText(columns)} selected`];
  }

  #moveTo(selection: Selection): void {
    this.#followsKeyboard = true;
    this.#deps.reveal(selection.active);
    this.select(selection);
  }
}

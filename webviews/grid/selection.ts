/** A cell of the grid. `column` is a position among the shown columns. Row -1 is the header. */
export type GridPosition = { readonly row: number; readonly column: number };

/** The selected cells: the rectangle between two cells. The keyboard acts at `active`. */
export type Selection = { readonly active: GridPosition; readonly anchor: GridPosition };

/** A rectangle of cells; the ends are excluded. */
export type CellRange = {
  readonly startRow: number;
  readonly endRow: number;
  readonly startColumn: number;
  readonly endColumn: number;
};

export type GridSize = { readonly rows: number; readonly columns: number };

export const selectCell = (position: GridPosition): Selection => ({ active: position, anchor: position });

/** Returns the selected cells without the header. */
export function rangeOf({ active, anchor }: Selection): CellRange {
  return {
    startRow: Math.max(0, Math.min(active.row, anchor.row)),
    endRow: Math.max(active.row, anchor.row) + 1,
    startColumn: Math.min(active.column, anchor.column),
    endColumn: Math.max(active.column, anchor.column) + 1,
  };
}

/**
 * Returns the rows that an export of the selection has, and their columns; null for all. One cell and selected images
 * stand for their whole rows; undefined if the header of a table without rows is selected.
 * @param shown the shown columns
 */
export function exportedRows(
  selection: Selection,
  { shown, size, isGallery }: { shown: readonly number[]; size: GridSize; isGallery: boolean },
): { start: number; end: number; columns: number[] | null } | undefined {
  const { startRow: start, endRow, startColumn, endColumn } = rangeOf(selection);
  const end = Math.min(endRow, size.rows);
  if (end <= start) return undefined;
  const isWhole = isGallery || isSingle(selection) || endColumn - startColumn >= size.columns;
  return { start, end, columns: isWhole ? null : shown.slice(startColumn, endColumn) };
}

export const isSingle = ({ active, anchor }: Selection): boolean =>
  active.row === anchor.row && active.column === anchor.column;

export const isInRange = (range: CellRange, row: number, column: number): boolean =>
  row >= range.startRow && row < range.endRow && column >= range.startColumn && column < range.endColumn;

export const wholeRow = (row: number, { columns }: GridSize): Selection => ({
  active: { row, column: 0 },
  anchor: { row, column: Math.max(0, columns - 1) },
});

export const wholeColumn = (column: number, { rows }: GridSize): Selection => ({
  active: { row: 0, column },
  anchor: { row: Math.max(0, rows - 1), column },
});

export const wholeTable = ({ rows, columns }: GridSize): Selection => ({
  active: { row: 0, column: 0 },
  anchor: { row: Math.max(0, rows - 1), column: Math.max(0, columns - 1) },
});

/** Keeps a selection inside a grid whose rows or columns have become fewer. */
export function clampSelection({ active, anchor }: Selection, size: GridSize): Selection {
  const inside = ({ row, column }: GridPosition): GridPosition => ({
    row: Math.min(row, size.rows - 1),
    column: Math.max(0, Math.min(column, size.columns - 1)),
  });
  return { active: inside(active), anchor: inside(anchor) };
}

/** The part of a keyboard event that moves. */
export type MoveKey = {
  readonly key: string;
  /** Ctrl, or Cmd on macOS. */
  readonly toEdge: boolean;
  readonly extend: boolean;
};

/**
 * Returns the selection after a key, or `undefined` if the key doesn't move.
 * @param pageRows number of rows that Page Up and Page Down move
 */
export function moved(
  { active, anchor }: Selection,
  { key, toEdge, extend }: MoveKey,
  size: GridSize,
  pageRows: number,
): Selection | undefined {
  const [lastRow, lastColumn] = [size.rows - 1, size.columns - 1];
  const { row, column } = active;
  const to: Partial<GridPosition> | undefined = {
    ArrowUp: { row: toEdge ? Math.min(row, 0) : row - 1 },
    ArrowDown: { row: toEdge ? lastRow : row + 1 },
    ArrowLeft: { column: toEdge ? 0 : column - 1 },
    ArrowRight: { column: toEdge ? lastColumn : column + 1 },
    PageUp: { row: Math.max(row - pageRows, Math.min(row, 0)) },
    PageDown: { row: row + pageRows },
    Home: toEdge ? { row: 0, column: 0 } : { column: 0 },
    End: toEdge ? { row: lastRow, column: lastColumn } : { column: lastColumn },
  }[key];
  if (!to) return undefined;
  // A range holds no header.
  const firstRow = extend ? 0 : -1;
  const next = {
    row: Math.max(firstRow, Math.min(to.row ?? row, lastRow)),
    column: Math.max(0, Math.min(to.column ?? column, lastColumn)),
  };
  return { active: next, anchor: extend ? anchor : next };
}

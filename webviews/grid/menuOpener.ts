import type { CellCopy } from './cellCopy.ts';
import type { ColumnActions } from './columnActions.ts';
import type { GridFrame } from './frame.ts';
import type { GridColumns } from './gridColumns.ts';
import { cellMenu, columnMenu, rowHeightMenu } from './gridMenus.ts';
import type { GridRows } from './gridRows.ts';
import type { GridSelection } from './gridSelection.ts';
import { type MenuItem, openMenu } from './menu.ts';
import { filterMenu, type GridViewing, sortMenu, valueMenu, whyUnordered } from './sorting.ts';

type MenuOpenerDeps = {
  /** Holds the menus. */
  readonly place: HTMLElement;
  readonly frame: GridFrame;
  readonly columns: GridColumns;
  readonly columnActions: ColumnActions;
  readonly selection: GridSelection;
  readonly rows: GridRows;
  readonly copy: CellCopy;
  readonly viewing: GridViewing | undefined;
  readonly isGallery: () => boolean;
  /** Returns the active cell by index of its column; `undefined` in the header. */
  readonly activeCell: () => { row: number; column: number } | undefined;
  readonly openPane: () => void;
  readonly goToRow: () => void;
  /** Writes the selected rows to a file; undefined if it can't. */
  readonly exportSelected: (() => void) | undefined;
  /** Further entries of the menu of a cell. */
  readonly cellMenu: readonly MenuItem[];
  readonly focusGrid: () => void;
};

/** Opens the menus of cells and columns, and joins their entries with what they do. */
export class MenuOpener {
  readonly #deps: MenuOpenerDeps;

  constructor(deps: MenuOpenerDeps) {
    this.#deps = deps;
  }

  /** Opens the menu of the active cell or header, for the keyboard. */
  openAtActive(): void {
    const { active, isHeader } = this.#deps.selection;
    const element = this.#deps.rows.elementAt(active);
    if (!element) return;
    if (isHeader) this.openForColumn(active.column, element);
    else this.openForCell(below(element));
  }

  openForCell(at: { x: number; y: number }): void {
    const { copy, openPane, goToRow, exportSelected, isGallery } = this.#deps;
    const copyAs = copy.copy.bind(copy);
    const menu = cellMenu({ copyAs, showValue: openPane, goToRow, exportRows: exportSelected });
    const all = [...menu, ...this.#deps.cellMenu, ...this.#valueMenu()];
    this.#open(isGallery() ? all : [...all, ...this.#rowHeightMenu()], at);
  }

  /** @param index position among the shown columns */
  openForColumn(index: number, at: HTMLElement): void {
    const { frame, columns, columnActions, copy, viewing, exportSelected } = this.#deps;
    const column = columns.layout.shown[index]!;
    const info = frame.columns[column]!;
    const items = columnMenu({
      layout: columns.layout,
      all: columns.all,
      columns: frame.columns,
      index,
      choices: columns.choices,
      choose: (choices) => columnActions.choose(choices),
      fit: () => columnActions.fit([index]),
      fitAll: () => columnActions.fitAll(),
      reset: () => columnActions.reset(),
      copyName: () => void copy.write(info.name),
      exportColumn: exportSelected && (() => this.#exportColumn(index, exportSelected)),
    });
    const sorting = viewing ? sortMenu(viewing, column, info) : [];
    const filtering =
      viewing && viewing.canFilter?.(column) !== false ? filterMenu(viewing, column, info, below(at)) : [];
    const searching = viewing?.searchColumn?.(column) ?? [];
    this.#open([...sorting, ...filtering, ...searching, ...items, ...this.#rowHeightMenu()], below(at));
  }

  /** Opens the filter of the active column below its header. Returns false if it has none. */
  openFilter(): boolean {
    const { selection, columns, rows, viewing } = this.#deps;
    const index = selection.active.column;
    const [column, head] = [columns.layout.shown[index], rows.elementAt({ row: -1, column: index })];
    if (!viewing?.openFilter || column === undefined || !head || viewing.canFilter?.(column) === false) return false;
    viewing.openFilter(column, below(head));
    return true;
  }

  /** Exports all rows of a column, or of the selected columns if it is one of them. */
  #exportColumn(index: number, exportSelected: () => void): void {
    const { selection, frame } = this.#deps;
    const { startRow, endRow, startColumn, endColumn } = selection.range;
    const isSelected = endRow - startRow >= frame.numRows && index >= startColumn && index < endColumn;
    if (!isSelected) selection.selectColumn(index, false);
    exportSelected();
  }

  #valueMenu(): MenuItem[] {
    const { selection, frame, viewing, activeCell } = this.#deps;
    const cell = selection.isSingle ? activeCell() : undefined;
    if (!viewing || !cell) return [];
    const { row, column } = cell;
    const isFilterable = whyUnordered(frame.columns[column]!) === undefined && viewing.canFilter?.(column) !== false;
    return [...(viewing.searchCell?.(row, column) ?? []), ...(isFilterable ? valueMenu(viewing, row, column) : [])];
  }

  #rowHeightMenu(): MenuItem[] {
    const { columnActions } = this.#deps;
    return rowHeightMenu(columnActions.rowHeight, (height) => columnActions.setRowHeight(height));
  }

  #open(items: readonly MenuItem[], at: { x: number; y: number }): void {
    const { place, focusGrid } = this.#deps;
    openMenu(place, items, at, focusGrid);
  }
}

const below = (element: HTMLElement): { x: number; y: number } => {
  const { left, bottom } = element.getBoundingClientRect();
  return { x: left, y: bottom };
};

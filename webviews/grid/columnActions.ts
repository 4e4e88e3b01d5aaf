import { type ColumnChoices, noChoices } from './columnLayout.ts';
import { isWithin } from './columnTree.ts';
import { contentWidth } from './columnWidths.ts';
import type { GridFrame } from './frame.ts';
import type { GridColumns } from './gridColumns.ts';
import type { GridRows } from './gridRows.ts';
import type { GridSelection } from './gridSelection.ts';
import { type RowHeight, rowHeights } from './rowHeights.ts';

type ColumnActionsDeps = {
  readonly frame: GridFrame;
  readonly columns: GridColumns;
  readonly rows: GridRows;
  readonly selection: GridSelection;
  readonly rowHeight: RowHeight;
  /** Draws and keeps the choices after they have changed. */
  readonly onChange: () => void;
};

/** What users do with the columns and the height of the rows. */
export class ColumnActions {
  readonly #deps: ColumnActionsDeps;
  #rowHeight: RowHeight;

  constructor(deps: ColumnActionsDeps) {
    this.#deps = deps;
    this.#rowHeight = deps.rowHeight;
  }

  get rowHeight(): RowHeight {
    return this.#rowHeight;
  }

  setRowHeight(height: RowHeight): void {
    const { rows, onChange } = this.#deps;
    this.#rowHeight = height;
    rows.setRowHeight(rowHeights[height]);
    onChange();
    rows.view.syncScrollBar();
  }

  choose(choices: ColumnChoices): void {
    const { frame, columns, selection, onChange } = this.#deps;
    const column = columns.layout.shown[selection.active.column];
    columns.choices = choices;
    const { shown } = columns.layout;
    // The active cell stays in its column, at the column's new place: in the first field of a struct that was expanded,
    // and in the struct of a field.
    const isSame = (one: number): boolean =>
      one === column || isWithin(frame.columns, one, column!) || isWithin(frame.columns, column!, one);
    if (column !== undefined)
      selection.followColumn(shown.includes(column) ? shown.indexOf(column) : shown.findIndex(isSame));
    onChange();
  }

  /** Sets columns and rows as they are in a new panel. */
  reset(): void {
    this.choose(noChoices);
    this.setRowHeight('small');
  }

  /** @param isDone whether the user has released the mouse */
  resize(column: number, width: number, isDone: boolean): void {
    const { columns, rows, onChange } = this.#deps;
    columns.setWidth(column, width);
    if (isDone) return onChange();
    rows.sizeContent();
    rows.requestDraw();
  }

  /** Gives columns the width of their widest drawn text. */
  fit(indexes: readonly number[]): void {
    const { columns, rows, onChange } = this.#deps;
    const { layout } = columns;
    const { firstRow, endRow } = rows.view.rows;
    for (const index of indexes) {
      const head = rows.elementAt({ row: -1, column: index });
      if (!head) continue;
      let widest = contentWidth(head) + 24;
      for (let row = firstRow; row < endRow; row++) {
        const element = rows.elementAt({ row, column: index });
        if (element) widest = Math.max(widest, contentWidth(element));
      }
      columns.setWidth(layout.shown[index]!, widest + 18);
    }
    onChange();
  }

  /** Fits the columns in the view. Others get their automatic width, which is from their first values in the view. */
  fitAll(): void {
    const { columns, rows } = this.#deps;
    const { numPinned } = columns.layout;
    const { start, end } = rows.view.window;
    const drawn = [...Array(numPinned).keys(), ...Array.from({ length: end - start }, (_, index) => start + index)];
    columns.choices = { ...columns.choices, widths: {} };
    this.fit(drawn);
  }
}

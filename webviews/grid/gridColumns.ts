import { type ColumnChoices, ColumnLayout, type ColumnWindow, setWidth } from './columnLayout.ts';
import { ColumnWidths } from './columnWidths.ts';
import type { GridFrame } from './frame.ts';

/** The columns of a grid: what the user has chosen about them, their widths, and where they are. */
export class GridColumns {
  readonly #frame: GridFrame;
  readonly #widths: ColumnWidths;
  #choices: ColumnChoices;
  #layout: ColumnLayout;

  constructor(frame: GridFrame, choices: ColumnChoices, rowHeight: number) {
    this.#frame = frame;
    this.#choices = choices;
    this.#widths = new ColumnWidths(frame, rowHeight);
    this.#layout = this.#newLayout();
  }

  get choices(): ColumnChoices {
    return this.#choices;
  }

  set choices(choices: ColumnChoices) {
    this.#choices = choices;
    this.#layout = this.#newLayout();
  }

  /** Where the shown columns are. It is a new object after every change. */
  get layout(): ColumnLayout {
    return this.#layout;
  }

  /** Width of a digit in pixels. */
  get digit(): number {
    return this.#widths.digit;
  }

  setWidth(column: number, width: number): void {
    this.choices = setWidth(this.#choices, column, width);
  }

  setRowHeight(rowHeight: number): void {
    this.#widths.setRowHeight(rowHeight);
  }

  /** Reads the font of the grid once it is on the page. */
  readFont(element: HTMLElement): void {
    if (this.#widths.readFont(element)) this.#layout = this.#newLayout();
  }

  /** Gives columns in the view the width of their values, once these are loaded. Returns whether a width has changed. */
  fitValues(window: ColumnWindow, firstRow: number): boolean {
    const isChanged = this.#widths.fitValues(this.#layout.columnsIn(window), firstRow);
    if (isChanged) this.#layout = this.#newLayout();
    return isChanged;
  }

  #newLayout(): ColumnLayout {
    const { widths } = this.#choices;
    return new ColumnLayout(
      this.#frame.columns.length,
      this.#choices,
      (column) => widths[column] ?? this.#widths.width(column),
    );
  }
}

import { type ColumnChoices, ColumnLayout, type ColumnWindow, setWidth } from './columnLayout.ts';
import { presentColumns } from './columnTree.ts';
import { ColumnWidths } from './columnWidths.ts';
import type { GridFrame } from './frame.ts';

/** The columns of a grid: what the user has chosen about them, their widths, and where they are. */
export class GridColumns {
  readonly #frame: GridFrame;
  readonly #widths: ColumnWidths;
  #choices: ColumnChoices;
  #all: readonly number[];
  #layout: ColumnLayout;

  constructor(frame: GridFrame, choices: ColumnChoices, rowHeight: number) {
    this.#frame = frame;
    this.#choices = choices;
    this.#widths = new ColumnWidths(frame, rowHeight);
    this.#all = presentColumns(frame.columns, choices.expanded);
    frame.expand(choices.expanded);
    this.#layout = this.#newLayout();
  }

  /** All columns in the order of the table, also hidden ones. Fields of expanded structs are in the place of the struct. */
  get all(): readonly number[] {
    return this.#all;
  }

  get choices(): ColumnChoices {
    return this.#choices;
  }

  set choices(choices: ColumnChoices) {
    const { expanded } = this.#choices;
    this.#choices = choices;
    if (choices.expanded !== expanded) {
      this.#all = presentColumns(this.#frame.columns, choices.expanded);
      this.#frame.expand(choices.expanded);
    }
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
    return new ColumnLayout(this.#all, this.#choices, (column) => widths[column] ?? this.#widths.width(column));
  }
}

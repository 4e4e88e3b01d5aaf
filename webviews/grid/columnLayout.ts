/** Minimum and maximum width that a column can have, in pixels. */
export const leastWidth = 40;
export const mostWidth = 2_000;

/** What a user has chosen about the columns. Columns are numbers: positions in the table. */
export type ColumnChoices = {
  /** Columns at the left that do not scroll, in their order. */
  readonly pinned: readonly number[];
  readonly hidden: readonly number[];
  /** Widths that the user has set, in pixels. */
  readonly widths: Readonly<Record<number, number>>;
};

export const noChoices: ColumnChoices = { pinned: [], hidden: [], widths: {} };

/** A shown column and its position in pixels, from the left of its part: the pinned or the scrolled columns. */
export type PlacedColumn = { readonly column: number; readonly left: number; readonly width: number };

/** A range of the scrolled columns, as positions among the shown ones. The end is excluded. */
export type ColumnWindow = { readonly start: number; readonly end: number };

/** The shown columns from left to right, with their positions. */
export class ColumnLayout {
  /** The shown columns in their order: the pinned ones, then the others. */
  readonly shown: readonly number[];
  readonly numPinned: number;
  /** Left edges of the shown columns and the right edge of the last one, each from the left of its part. */
  readonly #edges: Float64Array;
  readonly pinnedWidth: number;
  readonly scrolledWidth: number;

  /** @param widthOf width of a column in pixels */
  constructor(numColumns: number, { pinned, hidden }: ColumnChoices, widthOf: (column: number) => number) {
    const left = new Set([...pinned, ...hidden]);
    const isHidden = new Set(hidden);
    const first = pinned.filter((column) => column < numColumns && !isHidden.has(column));
    const others: number[] = [];
    for (let column = 0; column < numColumns; column++) if (!left.has(column)) others.push(column);
    this.shown = [...first, ...others];
    this.numPinned = first.length;
    this.#edges = new Float64Array(this.shown.length);
    let edge = 0;
    for (const [index, column] of this.shown.entries()) {
      if (index === this.numPinned) edge = 0;
      this.#edges[index] = edge;
      edge += widthOf(column);
      if (index === this.numPinned - 1) this.pinnedWidth = edge;
    }
    this.pinnedWidth ??= 0;
    this.scrolledWidth = this.shown.length > this.numPinned ? edge : 0;
  }

  /** @param index position among the shown columns */
  place(index: number): PlacedColumn {
    const next = index + 1;
    const end =
      next === this.numPinned ? this.pinnedWidth : next === this.shown.length ? this.scrolledWidth : undefined;
    const left = this.#edges[index]!;
    return { column: this.shown[index]!, left, width: (end ?? this.#edges[next]!) - left };
  }

  /** Returns the scrolled columns that cover a part of their width. */
  window(left: number, width: number): ColumnWindow {
    if (this.shown.length === this.numPinned) return { start: this.numPinned, end: this.numPinned };
    const start = this.#lastAtOrBefore(left);
    let end = start + 1;
    while (end < this.shown.length && this.#edges[end]! < left + width) end++;
    return { start, end };
  }

  /** Returns the pinned columns and those of a window. */
  columnsIn({ start, end }: ColumnWindow): number[] {
    return [...this.shown.slice(0, this.numPinned), ...this.shown.slice(start, end)];
  }

  #lastAtOrBefore(left: number): number {
    let [low, high] = [this.numPinned, this.shown.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#edges[middle]! <= left) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

export const pin = (choices: ColumnChoices, column: number): ColumnChoices => ({
  ...choices,
  pinned: [...choices.pinned.filter((one) => one !== column), column],
});

export const unpin = (choices: ColumnChoices, column: number): ColumnChoices => ({
  ...choices,
  pinned: choices.pinned.filter((one) => one !== column),
});

export const hide = (choices: ColumnChoices, column: number): ColumnChoices => ({
  ...choices,
  hidden: [...choices.hidden.filter((one) => one !== column), column],
});

export const showAll = (choices: ColumnChoices): ColumnChoices => ({ ...choices, hidden: [] });

export const setWidth = (choices: ColumnChoices, column: number, width: number): ColumnChoices => ({
  ...choices,
  widths: { ...choices.widths, [column]: Math.round(Math.max(leastWidth, Math.min(width, mostWidth))) },
});

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
  /** The columns from left to right, if the user has moved some; those that are missing come last. */
  readonly order: readonly number[];
  /** Structs whose fields are columns, instead of the struct. */
  readonly expanded: readonly number[];
};

export const noChoices: ColumnChoices = { pinned: [], hidden: [], widths: {}, order: [], expanded: [] };

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

  /**
   * @param all the columns in the order of the table
   * @param widthOf width of a column in pixels
   */
  constructor(all: readonly number[], { pinned, hidden, order }: ColumnChoices, widthOf: (column: number) => number) {
    const [isPresent, isHidden] = [new Set(all), new Set(hidden)];
    const left = new Set([...pinned, ...hidden]);
    const first = pinned.filter((column) => isPresent.has(column) && !isHidden.has(column));
    this.shown = [...first, ...wholeOrder(all, order).filter((column) => !left.has(column))];
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

/** Hides all columns but one. Pinned columns are hidden, too. */
export const hideOthers = (choices: ColumnChoices, all: readonly number[], column: number): ColumnChoices => ({
  ...choices,
  hidden: all.filter((one) => one !== column),
});

/** Returns all columns from left to right as the user has ordered them, pinned and hidden ones too. */
export function wholeOrder(all: readonly number[], order: readonly number[]): number[] {
  const isPresent = new Set(all);
  return [...new Set([...order.filter((column) => isPresent.has(column)), ...all])];
}

/**
 * Moves a column before or after another one. Beside a pinned column it becomes pinned, beside another one it is not.
 * @param isAfter whether it comes after `target`
 */
export function moveBeside(
  choices: ColumnChoices,
  { all, column, target, isAfter }: { all: readonly number[]; column: number; target: number; isAfter: boolean },
): ColumnChoices {
  if (column === target) return choices;
  const moved = (columns: readonly number[]): number[] => {
    const others = columns.filter((one) => one !== column);
    others.splice(others.indexOf(target) + (isAfter ? 1 : 0), 0, column);
    return others;
  };
  if (choices.pinned.includes(target)) return { ...choices, pinned: moved(choices.pinned) };
  return { ...unpin(choices, column), order: moved(wholeOrder(all, choices.order)) };
}

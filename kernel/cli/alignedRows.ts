import { alignColumns } from '#shared/format/markup.ts';

export type AlignedRows = {
  /** Returns rows as lines below those of earlier calls. The rows of the first call decide about the widths. */
  readonly align: (rows: readonly (readonly string[])[]) => string[];
  /** Returns the number of columns that the lines have. */
  readonly shownColumns: () => number;
};

/** Between two columns, and before the mark of left out columns. */
const gap = 2;
const mark = '…';

/**
 * Aligns rows in columns. The last columns are left out if they don't fit, because wrapped lines can't be read.
 * @param width the characters of a line in the terminal; undefined for a file or a pipe, which get all columns
 */
export function alignedRows(names: readonly string[], width: number | undefined): AlignedRows {
  const widths: number[] = [];
  let head: readonly (readonly string[])[] = [names];
  let shown = names.length;
  return {
    align: (rows) => {
      const cells = [...head, ...rows];
      if (head.length > 0) {
        alignColumns(cells, undefined, widths);
        shown = fittingColumns(widths, width);
      }
      head = [];
      if (shown === names.length) return alignColumns(cells, undefined, widths);
      const left = cells.map((row) => [...row.slice(0, shown), mark]);
      return alignColumns(left, undefined, [...widths.slice(0, shown), mark.length]);
    },
    shownColumns: () => shown,
  };
}

/** Returns how many columns fit, at least one. */
function fittingColumns(widths: readonly number[], width: number | undefined): number {
  const total = widths.reduce((sum, each) => sum + each + gap, -gap);
  if (width === undefined || total <= width) return widths.length;
  let used = mark.length;
  const first = widths.findIndex((each) => {
    used += each + gap;
    return used > width;
  });
  return Math.max(1, first);
}

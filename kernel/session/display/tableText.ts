import type { Table as ArrowTable } from '#arrow';
import { columnFormatter, displayLimits, type Cell } from '#shared/format/cellText.ts';
import { previewLimits } from '#shared/mime.ts';
import { alignColumns, pluralize } from '#shared/format/markup.ts';

// The text form of a table output, for clients without grid and HTML: a terminal, a diff.

const limits = { ...displayLimits, chars: 200 };

export function tableText(table: ArrowTable, total: number | null): string {
  const names = table.schema.fields.map((field) => field.name);
  const rows = rowsOf(table, 0, previewLimits.htmlRows).map((row) => row.map(({ text }) => text));
  return [...alignColumns([names, ...rows]), '', shapeText(table, total, rows.length)].join('\n');
}

/** Returns `1,000,000 rows × 7 columns, 20 shown`; `more than` if the total is unknown. */
export function shapeText(table: ArrowTable, total: number | null, shown: number): string {
  const known = total ?? table.numRows;
  const rows = total === null ? `more than ${pluralize(known - 1, 'row')}` : pluralize(known, 'row');
  const columns = pluralize(table.numCols, 'column');
  return `${rows} × ${columns}${shown < known ? `, ${shown.toLocaleString('en-US')} shown` : ''}`;
}

const nothing: Cell = { kind: 'null', text: '' };

/** Returns the cells of the rows from `from` to before `to`, or to the end of the table. */
export function rowsOf(table: ArrowTable, from: number, to: number): Cell[][] {
  const readers = table.schema.fields.map((field, column) => {
    const vector = table.getChildAt(column);
    return vector ? columnFormatter(vector, { limits, field }) : undefined;
  });
  const count = Math.max(0, Math.min(table.numRows, to) - from);
  return Array.from({ length: count }, (_, row) => readers.map((read) => read?.(from + row) ?? nothing));
}

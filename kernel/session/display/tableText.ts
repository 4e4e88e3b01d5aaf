import type { Table as ArrowTable } from '#arrow';
import { columnFormatter, displayLimits } from '#shared/format.ts';
import { typeText } from '#shared/arrowTypes.ts';
import { previewLimits } from '#shared/mime.ts';
import { alignColumns, counted, escapeHtml } from './markup.ts';

// The twins of a table output for places that have no grid: a browser without our renderer, a terminal, a diff.

const limits = { ...displayLimits, chars: 200 };
/** Rows that can be unfolded below the first ones, and the characters that they may take in a notebook. */
const foldedRows = 80;
const foldedChars = 64 * 1024;

/** The first rows as an HTML table, more of them folded; everything is escaped, and it brings neither style nor script. */
export function tableHtml(table: ArrowTable, total: number | null): string {
  const first = previewLimits.htmlRows;
  const head = table.schema.fields
    .map((field) => `<th title="${escapeHtml(typeText(field.type))}">${escapeHtml(field.name)}</th>`)
    .join('');
  const rows = rowsOf(table, 0, first + foldedRows).map(
    (row) => `<tr>${row.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`,
  );
  const grid = (lines: readonly string[]) =>
    `<table><thead><tr>${head}</tr></thead><tbody>${lines.join('')}</tbody></table>`;
  const folded = within(rows.slice(first), foldedChars);
  const more =
    folded.length === 0
      ? ''
      : `<details><summary>Show ${counted(folded.length, 'more row')}</summary>${grid(folded)}</details>`;
  const seen = Math.min(first, rows.length) + folded.length;
  return `${grid(rows.slice(0, first))}${more}<p>${escapeHtml(shapeText(table, total, seen))}</p>`;
}

/** The first rows in columns of text. */
export function tableText(table: ArrowTable, total: number | null): string {
  const names = table.schema.fields.map((field) => field.name);
  const rows = rowsOf(table, 0, previewLimits.htmlRows);
  return [...alignColumns([names, ...rows]), '', shapeText(table, total, rows.length)].join('\n');
}

/** `1,000,000 rows × 7 columns, 20 shown`; `more than` where nobody counted. */
function shapeText(table: ArrowTable, total: number | null, shown: number): string {
  const known = total ?? table.numRows;
  const rows = total === null ? `more than ${counted(known - 1, 'row')}` : counted(known, 'row');
  const columns = counted(table.numCols, 'column');
  return `${rows} × ${columns}${shown < known ? `, ${shown.toLocaleString('en-US')} shown` : ''}`;
}

function within(lines: readonly string[], chars: number): readonly string[] {
  let length = 0;
  const end = lines.findIndex((line) => (length += line.length) > chars);
  return end < 0 ? lines : lines.slice(0, end);
}

function rowsOf(table: ArrowTable, from: number, to: number): string[][] {
  const readers = table.schema.fields.map((field, column) => {
    const vector = table.getChildAt(column);
    return vector ? columnFormatter(vector, { limits, field }) : undefined;
  });
  const count = Math.max(0, Math.min(table.numRows, to) - from);
  return Array.from({ length: count }, (_, row) => readers.map((read) => read?.(from + row).text ?? ''));
}

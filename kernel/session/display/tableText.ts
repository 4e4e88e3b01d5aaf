import type { Table as ArrowTable } from '#arrow';
import { columnFormatter, displayLimits } from '#shared/format.ts';
import { typeText } from '#shared/arrowTypes.ts';
import { previewLimits } from '#shared/mime.ts';

// The twins of a table output for places that have no grid: a browser without our renderer, a terminal, a diff.

const limits = { ...displayLimits, chars: 200 };
const textColumn = 40;

/** The first rows as an HTML table; everything in it is escaped, and it brings neither style nor script. */
export function tableHtml(table: ArrowTable, total: number | null): string {
  const head = table.schema.fields
    .map((field) => `<th title="${escape(typeText(field.type))}">${escape(field.name)}</th>`)
    .join('');
  const body = firstRows(table)
    .map((row) => `<tr>${row.map((cell) => `<td>${escape(cell)}</td>`).join('')}</tr>`)
    .join('');
  return `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table><p>${escape(shape(table, total))}</p>`;
}

/** The first rows in columns of text. */
export function tableText(table: ArrowTable, total: number | null): string {
  const names = table.schema.fields.map((field) => cut(oneLine(field.name)));
  const rows = firstRows(table).map((row) => row.map((cell) => cut(oneLine(cell))));
  const widths = names.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(names), ...rows.map(line), '', shape(table, total)].join('\n');
}

/** `1,000,000 rows × 7 columns, 20 shown`; a `+` where nobody counted. */
function shape(table: ArrowTable, total: number | null): string {
  const known = total ?? table.numRows;
  const shown = Math.min(table.numRows, previewLimits.htmlRows);
  const counted = total === null ? `more than ${(known - 1).toLocaleString('en-US')}` : known.toLocaleString('en-US');
  const rows = `${counted} ${known === 1 ? 'row' : 'rows'}`;
  const columns = `${table.numCols} ${table.numCols === 1 ? 'column' : 'columns'}`;
  return `${rows} × ${columns}${shown < known ? `, ${shown} shown` : ''}`;
}

function firstRows(table: ArrowTable): string[][] {
  const readers = table.schema.fields.map((field, column) => {
    const vector = table.getChildAt(column);
    return vector ? columnFormatter(vector, { limits, field }) : undefined;
  });
  const count = Math.min(table.numRows, previewLimits.htmlRows);
  return Array.from({ length: count }, (_, row) => readers.map((read) => read?.(row).text ?? ''));
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escape = (text: string): string => text.replace(/[&<>"']/g, (char) => entities[char] ?? char);
// Without control characters, which a terminal would obey: a value could move the cursor, or set the window's title.
const oneLine = (text: string): string =>
  text.replace(/\s+/g, ' ').replace(/\p{Cc}/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
const cut = (text: string): string => (text.length > textColumn ? `${text.slice(0, textColumn - 1)}…` : text);

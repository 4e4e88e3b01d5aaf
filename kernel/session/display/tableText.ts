import { DataType, type Table as ArrowTable } from '#arrow';
import { columnFormatter, displayLimits, type Cell } from '#shared/format.ts';
import { typeText } from '#shared/arrowTypes.ts';
import { previewLimits } from '#shared/mime.ts';
import { alignColumns, counted, escapeHtml } from './markup.ts';

// The twins of a table output for places that have no grid: a browser without our renderer, a terminal, a diff.

const limits = { ...displayLimits, chars: 200 };
/** Rows that can be unfolded below the first ones, and the characters that they may take in a notebook. */
const foldedRows = 80;
const foldedChars = 64 * 1024;

/**
 * Words on the left, numbers on the right, in the colours of the notebook. The rules weigh more than Jupyter's own, which put
 * everything on the right; a viewer that takes styles out shows the same table in its own way.
 */
const style = `<style>
.lance-table table :is(th,td):not(.n){text-align:left}
.lance-table table .n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.lance-table table td{max-width:36em;overflow-wrap:anywhere}
.lance-table .d{opacity:.7}
.lance-table summary{cursor:pointer}
</style>`;

/** The first rows as an HTML table, more of them folded; everything is escaped, and it brings no script. */
export function tableHtml(table: ArrowTable, total: number | null): string {
  const first = previewLimits.htmlRows;
  const { fields } = table.schema;
  const isNumber = fields.map(({ type }) => DataType.isInt(type) || DataType.isFloat(type) || DataType.isDecimal(type));
  const classOf = (column: number) => (isNumber[column] ? ' class="n"' : '');
  const head = fields
    .map(({ name, type }, i) => `<th${classOf(i)} title="${escapeHtml(typeText(type))}">${escapeHtml(name)}</th>`)
    .join('');
  const rows = rowsOf(table, 0, first + foldedRows).map(
    (row) => `<tr>${row.map((cell, i) => `<td${classOf(i)}>${cellHtml(cell)}</td>`).join('')}</tr>`,
  );
  const grid = (lines: readonly string[]) =>
    `<table><thead><tr>${head}</tr></thead><tbody>${lines.join('')}</tbody></table>`;
  const folded = within(rows.slice(first), foldedChars);
  const more =
    folded.length === 0
      ? ''
      : `<details><summary>Show ${counted(folded.length, 'more row')}</summary>${grid(folded)}</details>`;
  const seen = Math.min(first, rows.length) + folded.length;
  const shape = `<p class="d">${escapeHtml(shapeText(table, total, seen))}</p>`;
  return `${style}<div class="lance-table">${grid(rows.slice(0, first))}${more}${shape}</div>`;
}

const cellHtml = ({ kind, text }: Cell): string =>
  kind === 'null' ? `<span class="d">${escapeHtml(text)}</span>` : escapeHtml(text);

/** The first rows in columns of text. */
export function tableText(table: ArrowTable, total: number | null): string {
  const names = table.schema.fields.map((field) => field.name);
  const rows = rowsOf(table, 0, previewLimits.htmlRows).map((row) => row.map(({ text }) => text));
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

const nothing: Cell = { kind: 'null', text: '' };

function rowsOf(table: ArrowTable, from: number, to: number): Cell[][] {
  const readers = table.schema.fields.map((field, column) => {
    const vector = table.getChildAt(column);
    return vector ? columnFormatter(vector, { limits, field }) : undefined;
  });
  const count = Math.max(0, Math.min(table.numRows, to) - from);
  return Array.from({ length: count }, (_, row) => readers.map((read) => read?.(from + row) ?? nothing));
}

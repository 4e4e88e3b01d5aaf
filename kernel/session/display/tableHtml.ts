import { DataType, type Table as ArrowTable } from '#arrow';
import { typeText } from '#shared/arrowTypes.ts';
import type { Cell } from '#shared/format.ts';
import { previewLimits } from '#shared/mime.ts';
import { spark, sparkPath } from '#shared/sparkPath.ts';
import { counted, escapeHtml } from '#shared/markup.ts';
import { rowsOf, shapeText } from './tableText.ts';

// The twin of a table output for a browser without our renderer, JupyterLab first of all.

/** Rows that can be unfolded below the first ones, and the characters that they may take in a notebook. */
const foldedRows = 80;
const foldedChars = 64 * 1024;
/** Bytes of the pictures that are drawn: of one, and of a whole table. */
const pictureBytes = { one: 32 * 1024, all: 96 * 1024 };
/** A vector is a line of so many points at most. */
const vectorPoints = 36;

/**
 * Words on the left, numbers on the right, in the colours of the notebook. The rules weigh more than Jupyter's own, which put
 * everything on the right; a viewer that takes styles out shows the same table in its own way.
 */
const style = `<style>
.lance-table table :is(th,td):not(.n){text-align:left}
.lance-table table .n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.lance-table table td{max-width:36em;overflow-wrap:anywhere}
.lance-table table img{height:3em;width:auto;max-width:12em;margin:0;display:block}
.lance-table table svg{vertical-align:middle;margin-right:.5em}
.lance-table .d{opacity:.7}
.lance-table summary{cursor:pointer}
</style>`;

/**
 * The first rows as an HTML table, more of them folded. Pictures and vectors are drawn; everything else is escaped, and it
 * brings no script.
 */
export function tableHtml(table: ArrowTable, total: number | null): string {
  const first = previewLimits.htmlRows;
  const { fields } = table.schema;
  const isNumber = fields.map(({ type }) => DataType.isInt(type) || DataType.isFloat(type) || DataType.isDecimal(type));
  const classOf = (column: number) => (isNumber[column] ? ' class="n"' : '');
  const head = fields
    .map(({ name, type }, i) => `<th${classOf(i)} title="${escapeHtml(typeText(type))}">${escapeHtml(name)}</th>`)
    .join('');
  const draw = cellPainter();
  const rows = rowsOf(table, 0, first + foldedRows).map(
    (row) => `<tr>${row.map((cell, i) => `<td${classOf(i)}>${draw(cell)}</td>`).join('')}</tr>`,
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

/** Draws the cells of one table, in their order: what its pictures may take goes to the first ones. */
function cellPainter(): (cell: Cell) => string {
  let left = pictureBytes.all;
  return (cell) => {
    const text = escapeHtml(cell.text);
    switch (cell.kind) {
      case 'null':
        return `<span class="d">${text}</span>`;
      case 'image': {
        const { mime, bytes } = cell;
        if (bytes.length > Math.min(pictureBytes.one, left)) return text;
        left -= bytes.length;
        const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
        return `<img src="data:${mime};base64,${data}" alt="${text}" title="${text}">`;
      }
      case 'vector':
        return cell.values.length < spark.minPoints ? text : `${sparkHtml(cell.values)}<span class="d">${text}</span>`;
      case 'text':
      case 'number':
      case 'boolean':
      case 'time':
      case 'binary':
      case 'nested':
        return text;
    }
  };
}

const sparkHtml = (values: Float64Array): string =>
  `<svg viewBox="0 0 ${spark.width} ${spark.height}" width="${spark.width}" height="${spark.height}" aria-hidden="true">` +
  `<path d="${sparkPath(values, vectorPoints)}" fill="none" stroke="currentColor"/></svg>`;

function within(lines: readonly string[], chars: number): readonly string[] {
  let length = 0;
  const end = lines.findIndex((line) => (length += line.length) > chars);
  return end < 0 ? lines : lines.slice(0, end);
}

import { type Binary, DataType, type Schema, type Table as ArrowTable, type Vector } from '#arrow';
import type { Query } from '#catalog/query/query.ts';
import type { Table } from '#catalog/table/table.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import type { Cell } from '#shared/format/cellText.ts';
import { alignColumns, pluralize, escapeHtml, htmlTable } from '#shared/format/markup.ts';
import { imageMime } from '#shared/format/images.ts';
import { spark, sparkPath } from '#shared/format/sparkPath.ts';
import { arrowStreamMime, type OmittedCells, previewLimits, type TableOutputMetadata } from '#shared/mime.ts';
import { type FittingTable, fitTable } from './fitTable.ts';
import { htmlAndText, type RenderedOutput, type ShowOptions } from './mimeBundle.ts';
import { pictures } from './pictureStore.ts';
import { rowsOf, shapeText, tableText } from './tableText.ts';
import { createThumbnailMaker } from './thumbnails.ts';

// The HTML form of a table output, for browsers without our renderer, above all JupyterLab.

/** Rows in the folded part, and their limit in characters of HTML. */
const foldedRows = 80;
const foldedChars = 64 * 1024;
/** Limits in bytes for the images drawn: per image and per table. */
const pictureBytes = { one: 32 * 1024, all: 96 * 1024 };
const vectorPoints = 36;
/** Time for making the thumbnails of an output, with and without a limit of the user. */
const thumbnailMs = { preview: 3000, requested: 10_000 };

/**
 * Text is aligned left and numbers are aligned right, in the colors of the notebook. The selectors outrank Jupyter's,
 * because Jupyter's styles align everything right. A viewer that strips styles uses its own styles.
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
 * Returns the first rows as an HTML table without scripts, with more rows folded. Images and vectors are drawn;
 * everything else is escaped.
 */
export function tableHtml(table: ArrowTable, total: number | null, thumbnails?: FittingTable['thumbnails']): string {
  const first = previewLimits.htmlRows;
  const { fields } = table.schema;
  const isNumber = fields.map(({ type }) => DataType.isInt(type) || DataType.isFloat(type) || DataType.isDecimal(type));
  const classOf = (column: number) => (isNumber[column] ? ' class="n"' : '');
  const head = fields
    .map(({ name, type }, i) => `<th${classOf(i)} title="${escapeHtml(typeText(type))}">${escapeHtml(name)}</th>`)
    .join('');
  const draw = cellPainter();
  const rows = rowsOf(table, 0, first + foldedRows).map(
    (cells, row) =>
      `<tr>${cells.map((cell, i) => `<td${classOf(i)}>${draw(cell, thumbnails?.get(i)?.[row])}</td>`).join('')}</tr>`,
  );
  const grid = (lines: readonly string[]) =>
    `<table><thead><tr>${head}</tr></thead><tbody>${lines.join('')}</tbody></table>`;
  const folded = within(rows.slice(first), foldedChars);
  const more =
    folded.length === 0
      ? ''
      : `<details><summary>Show ${pluralize(folded.length, 'more row')}</summary>${grid(folded)}</details>`;
  const seen = Math.min(first, rows.length) + folded.length;
  const shape = `<p class="d">${escapeHtml(shapeText(table, total, seen))}</p>`;
  return `${style}<div class="lance-table">${grid(rows.slice(0, first))}${more}${shape}</div>`;
}

/**
 * Returns a function that draws the cells of a table. Call it in the order of the cells, because the size limit for
 * images is used up in this order.
 */
function cellPainter(): (cell: Cell, thumbnail?: Uint8Array) => string {
  let left = pictureBytes.all;
  return (cell, thumbnail) => {
    const text = escapeHtml(cell.text);
    switch (cell.kind) {
      case 'null':
        return `<span class="d">${text}</span>`;
      case 'image': {
        const bytes = thumbnail ?? cell.bytes;
        const mime = thumbnail ? imageMime(thumbnail) : cell.mime;
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
      case 'blob':
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

/** `total` is the number of rows of the whole result, null if unknown. */
export function showTable(table: ArrowTable, total: number | null, options: ShowOptions = {}): RenderedOutput {
  const { limit, whole = false, thumbnails: hasThumbnails = true } = options;
  const maxRows = limit ?? previewLimits.rows;
  const maxBytes = limit === undefined ? previewLimits.bytes : previewLimits.requestedBytes;
  const fitting = fitTable(table, {
    maxRows,
    maxBytes,
    isWhole: whole,
    thumbnails: hasThumbnails
      ? createThumbnailMaker(limit === undefined ? thumbnailMs.preview : thumbnailMs.requested)
      : undefined,
  });
  const { bytes, rows, omitted, thumbnails, isCut: isCellCut = false } = fitting;
  const isCut = rows < Math.min(table.numRows, maxRows) || isCellCut;
  const metadata: TableOutputMetadata = {
    total_rows: total,
    included_rows: rows,
    ...(isCut && { max_bytes: maxBytes }),
    ...(omitted && { omitted_cells: omitted }),
    ...(omitted && thumbnails && { pictures: keepPictures(table, omitted) }),
  };
  return {
    data: {
      [arrowStreamMime]: Buffer.from(bytes).toString('base64'),
      'text/html': tableHtml(table, total, thumbnails),
      'text/plain': tableText(table, total),
    },
    metadata: { [arrowStreamMime]: metadata },
  };
}

/** Keeps the images that an output shows as thumbnails. Returns the id with which the user gets them. */
function keepPictures(table: ArrowTable, omitted: Readonly<Record<string, OmittedCells>>): string {
  const columns = Object.entries(omitted).filter(([, { thumbnails }]) => thumbnails);
  return pictures.keep(columns.map(([name, { sizes }]) => ({ name, images: largeImages(table, name, sizes) })));
}

function* largeImages(
  table: ArrowTable,
  name: string,
  sizes: readonly number[],
): Generator<[row: number, image: Uint8Array]> {
  const cells = table.getChild(name) as Vector<Binary> | null;
  for (const [row, size] of sizes.entries()) {
    const image = size > 0 ? cells?.get(row) : undefined;
    if (image) yield [row, image];
  }
}

/**
 * Shows the first rows of a query's result.
 * @throws CatalogError if the query fails
 */
export async function showQuery(query: Query, options: ShowOptions = {}): Promise<RenderedOutput> {
  const { limit, vector } = query.spec;
  // Reads one row more than shown to find out whether there are more. A vector search has its own limit and needs no
  // other limit.
  const bound = (options.limit ?? previewLimits.rows) + 1;
  const isBounded = limit !== undefined ? limit <= bound : vector !== undefined;
  const table = await (isBounded ? query : query.limit(bound)).toArrow({ signal: options.signal });
  return showTable(table, isBounded || table.numRows < bound ? table.numRows : null, options);
}

/**
 * Shows a catalog table: version, indexes and the first rows.
 * @throws CatalogError if the table can't be read
 */
export async function showCatalogTable(table: Table, options: ShowOptions = {}): Promise<RenderedOutput> {
  const call = { signal: options.signal };
  const [rows, total, facts] = await Promise.all([
    table
      .query()
      .limit(options.limit ?? previewLimits.rows)
      .toArrow(call),
    table.countRows(undefined, call),
    factsOf(table, call),
  ]);
  const { data, metadata } = showTable(rows, total, options);
  const title = [...table.namespacePath, table.name].join('/');
  return {
    data: {
      ...data,
      'text/html': `<p><strong>${escapeHtml(title)}</strong> ${escapeHtml(facts)}</p>${String(data['text/html'])}`,
      'text/plain': `${title} · ${facts}\n\n${String(data['text/plain'])}`,
    },
    metadata: { [arrowStreamMime]: { ...(metadata[arrowStreamMime] as TableOutputMetadata), title, facts } },
  };
}

/** Returns `version 3 · indexes: id (BTREE)`, without the parts that the server does not report. */
async function factsOf(table: Table, call: { signal?: AbortSignal | undefined }): Promise<string> {
  const [version, indexes] = await Promise.allSettled([table.version(call), table.listIndices(call)]);
  const texts: string[] = [];
  if (version.status === 'fulfilled') texts.push(`version ${version.value}`);
  if (indexes.status === 'fulfilled') {
    const all = indexes.value.map(({ columns, type }) => columns.join(', ') + (type === undefined ? '' : ` (${type})`));
    const named = all.slice(0, 5).join(', ') + (all.length > 5 ? ` and ${all.length - 5} more` : '');
    texts.push(all.length === 0 ? 'no index' : `${all.length === 1 ? 'index' : 'indexes'}: ${named}`);
  }
  return texts.join(' · ');
}

const schemaColumns = 500;

export function showSchema(schema: Schema): RenderedOutput {
  const fields = schema.fields.slice(0, schemaColumns);
  const hasMetadata = fields.some((field) => field.metadata.size > 0);
  const head = ['column', 'type', 'nullable', ...(hasMetadata ? ['metadata'] : [])];
  const rows = fields.map((field) => [
    field.name,
    typeText(field.type),
    field.nullable ? 'yes' : 'no',
    ...(hasMetadata ? [entriesText(field.metadata)] : []),
  ]);
  const left = schema.fields.length - fields.length;
  const shape = `Schema of ${pluralize(schema.fields.length, 'column')}${left > 0 ? `, ${fields.length} shown` : ''}`;
  const metadata = schema.metadata.size > 0 ? `metadata: ${entriesText(schema.metadata)}` : undefined;
  const html = `${htmlTable(head, rows)}<p>${escapeHtml([shape, metadata].filter(Boolean).join(' · '))}</p>`;
  const text = [...alignColumns([head, ...rows], 60), '', shape, ...(metadata ? [metadata] : [])];
  return htmlAndText(html, text.join('\n'));
}

const streamHint =
  'The rows can be read only once: display(…) shows them as they arrive, and for await (… of stream.batches) reads them.';

/**
 * Shows only the schema of a stream. The rows can be read only once, so they are left for the code that uses the stream
 * later.
 */
export function showBatchStream(schema: Schema): RenderedOutput {
  const { data } = showSchema(schema);
  return htmlAndText(
    `${String(data['text/html'])}<p>${streamHint}</p>`,
    `${String(data['text/plain'])}\n${streamHint}`,
  );
}

const entriesText = (metadata: ReadonlyMap<string, string>): string =>
  Array.from(metadata, ([key, value]) => `${key}=${value.length > 100 ? `${value.slice(0, 99)}…` : value}`).join(', ');

import { tableToIPC, type Schema, type Table as ArrowTable } from '#arrow';
import type { Table } from '#client/table.ts';
import type { Query } from '#client/query.ts';
import { typeText } from '#shared/arrowTypes.ts';
import { arrowStreamMime, previewLimits, type TableOutputMetadata } from '#shared/mime.ts';
import { alignColumns, counted, escapeHtml, htmlTable } from '#shared/markup.ts';
import { htmlAndText, type ShowOptions, type Shown } from './shown.ts';
import { tableHtml } from './tableHtml.ts';
import { tableText } from './tableText.ts';

/** Bytes of a table that a person asked to see more of than the usual rows. */
const askedBytes = 8 * 1024 * 1024;

/** `total` is the number of rows of the whole result, null when nobody counted. */
export function showTable(table: ArrowTable, total: number | null, options: ShowOptions = {}): Shown {
  const part = fitting(table, options.limit);
  const metadata: TableOutputMetadata = { total_rows: total, included_rows: part.rows };
  return {
    data: {
      [arrowStreamMime]: Buffer.from(part.bytes).toString('base64'),
      'text/html': tableHtml(table, total),
      'text/plain': tableText(table, total),
    },
    metadata: { [arrowStreamMime]: metadata },
  };
}

/** As many rows as an output may hold, as a stream. Rows are halved until the bytes fit. */
function fitting(table: ArrowTable, limit = previewLimits.rows as number): { rows: number; bytes: Uint8Array } {
  const mostBytes = limit > previewLimits.rows ? askedBytes : previewLimits.bytes;
  for (let rows = Math.min(table.numRows, limit); ; rows = Math.floor(rows / 2)) {
    // `slice` fails on a table without batches, which an empty result is.
    const bytes = tableToIPC(rows < table.numRows ? table.slice(0, rows) : table, 'stream');
    if (bytes.length <= mostBytes || rows === 0) return { rows, bytes };
  }
}

/** The first rows of a query's result. @throws CatalogError as reading it */
export async function showQuery(query: Query, options: ShowOptions = {}): Promise<Shown> {
  const { limit, vector } = query.spec;
  // One row more than is shown tells whether that was all. A vector search has a limit of its own.
  const bound = (options.limit ?? previewLimits.rows) + 1;
  const isBounded = limit !== undefined ? limit <= bound : vector !== undefined;
  const table = await (isBounded ? query : query.limit(bound)).toArrow({ signal: options.signal });
  return showTable(table, isBounded || table.numRows < bound ? table.numRows : null, options);
}

/** A table of a catalog: what it is, its indexes, and its first rows. @throws CatalogError as reading it */
export async function showCatalogTable(table: Table, options: ShowOptions = {}): Promise<Shown> {
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

/** `version 3 · indexes: id (BTREE)`; what a server keeps to itself is left out. */
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

/** The columns of a schema, with their types and metadata. */
export function showSchema(schema: Schema): Shown {
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
  const shape = `Schema of ${counted(schema.fields.length, 'column')}${left > 0 ? `, ${fields.length} shown` : ''}`;
  const metadata = schema.metadata.size > 0 ? `metadata: ${entriesText(schema.metadata)}` : undefined;
  const html = `${htmlTable(head, rows)}<p>${escapeHtml([shape, metadata].filter(Boolean).join(' · '))}</p>`;
  const text = [...alignColumns([head, ...rows], 60), '', shape, ...(metadata ? [metadata] : [])];
  return htmlAndText(html, text.join('\n'));
}

const streamHint =
  'Rows that can be read once: display(…) shows them as they come, and for await (… of stream.batches) reads them.';

/** Rows that are still to come. They are not read for it, since they would be gone for who reads them below. */
export function showBatchStream(schema: Schema): Shown {
  const { data } = showSchema(schema);
  return htmlAndText(
    `${String(data['text/html'])}<p>${streamHint}</p>`,
    `${String(data['text/plain'])}\n${streamHint}`,
  );
}

const entriesText = (metadata: ReadonlyMap<string, string>): string =>
  Array.from(metadata, ([key, value]) => `${key}=${value.length > 100 ? `${value.slice(0, 99)}…` : value}`).join(', ');

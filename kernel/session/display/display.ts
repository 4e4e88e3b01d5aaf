import { tableToIPC, type Table as ArrowTable } from '#arrow';
import type { Table } from '#client/table.ts';
import { Query } from '#client/query.ts';
import { adoptTable } from '#shared/adoptTable.ts';
import type { MimeBundle } from '#shared/kernelMessages.ts';
import { arrowStreamMime, previewLimits, type TableOutputMetadata } from '#shared/mime.ts';
import { safeInspect } from '#session/compile/cellError.ts';
import { jsonBundle } from './mimeBundle.ts';
import { tableHtml, tableText } from './tableText.ts';

/** One output in several forms. */
export type Shown = { data: MimeBundle; metadata: Record<string, unknown> };

/** The hook by which a value brings its own forms: a function that gives a MIME bundle, or a promise of one. */
const ownForms = Symbol.for('Jupyter.display');

/**
 * The forms of a value for an output. At once for most; a query and a table of a catalog have to be read first, at most
 * 1,000 rows of them, and reject with the `CatalogError` of that.
 * @throws CatalogError InvalidInput (13) naming the form of a value's own making that JSON can't hold
 */
export function show(value: unknown): Shown | Promise<Shown> {
  if (value instanceof Query) return showQuery(value);
  if (isCatalogTable(value)) return showCatalogTable(value);
  const own = ownBundle(value);
  if (own) return own;
  const table = adoptTable(value);
  return table ? showTable(table, table.numRows) : plain(value);
}

const plain = (value: unknown): Shown => ({ data: { 'text/plain': safeInspect(value) }, metadata: {} });

/** `total` is the number of rows of the whole result, null when nobody counted. */
export function showTable(table: ArrowTable, total: number | null): Shown {
  const part = fitting(table);
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
function fitting(table: ArrowTable): { rows: number; bytes: Uint8Array } {
  for (let rows = Math.min(table.numRows, previewLimits.rows); ; rows = Math.floor(rows / 2)) {
    // `slice` fails on a table without batches, which an empty result is.
    const bytes = tableToIPC(rows < table.numRows ? table.slice(0, rows) : table, 'stream');
    if (bytes.length <= previewLimits.bytes || rows === 0) return { rows, bytes };
  }
}

async function showQuery(query: Query): Promise<Shown> {
  const { limit, vector } = query.spec;
  // One row more than is shown tells whether that was all. A vector search has a limit of its own.
  const bound = previewLimits.rows + 1;
  const isBounded = limit !== undefined ? limit <= bound : vector !== undefined;
  const table = await (isBounded ? query : query.limit(bound)).toArrow();
  return showTable(table, isBounded || table.numRows < bound ? table.numRows : null);
}

async function showCatalogTable(table: Table): Promise<Shown> {
  const [rows, total] = await Promise.all([table.query().limit(previewLimits.rows).toArrow(), table.countRows()]);
  return showTable(rows, total);
}

function isCatalogTable(value: unknown): value is Table {
  if (typeof value !== 'object' || value === null) return false;
  const table = value as Partial<Table>;
  return (
    typeof table.query === 'function' &&
    typeof table.countRows === 'function' &&
    typeof table.listVersions === 'function' &&
    Array.isArray(table.namespacePath)
  );
}

function ownBundle(value: unknown): Shown | Promise<Shown> | undefined {
  if (typeof value !== 'object' || value === null || !(ownForms in value)) return undefined;
  const make = value[ownForms];
  if (typeof make !== 'function') return undefined;
  const made: unknown = make.call(value);
  return made instanceof Promise ? made.then((data) => bundleOf(data, value)) : bundleOf(made, value);
}

function bundleOf(data: unknown, value: object): Shown {
  const isBundle = typeof data === 'object' && data !== null && Object.keys(data).every((key) => key.includes('/'));
  return isBundle ? { data: jsonBundle(data), metadata: {} } : plain(value);
}

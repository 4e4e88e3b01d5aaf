import type { CallOptions } from '#catalog/arguments/options.ts';
import type { OpenTableOptions, TableDescription } from '#catalog/catalog.ts';
import type { QuerySpec } from '#catalog/query/querySpec.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import type { PanelTable } from '#shared/protocol/webviewMessages.ts';
import { displayPath } from '#shared/names.ts';
import { failureMessage, serverErrorAction } from '../connections/failureMessage.ts';
import { asRecord } from '#shared/records.ts';
import { isString, listOf, shapeFor } from '#shared/shape.ts';

/** The location of a catalog table. A panel stores it for a reload of the window. */
export type TablePlace = { connection: string; path: readonly string[]; table: string };

/** The source of a panel's table: a catalog, a running kernel, or the trial of a backfill. */
export type TableSource = {
  readonly title: string;
  /** The table's location for a reload of the window; `undefined` if a reload can't open the table again. */
  readonly place?: TablePlace;
  open(signal: AbortSignal): Promise<PanelTable>;
  /** Returns rows [start, end) as one Arrow IPC stream. Call `open` first. */
  rows(start: number, end: number, signal: AbortSignal): Promise<Uint8Array>;
};

/** The part of a catalog that a panel needs; rows are bytes of an Arrow stream, which only the webview decodes. */
export type PanelCatalog = {
  /** A root, or the address of a server. */
  readonly location: string;
  describeTable(name: string, options: OpenTableOptions): Promise<TableDescription>;
  openTable(name: string, options: OpenTableOptions): Promise<RowReader>;
};
type RowReader = { queryIpc(spec: QuerySpec, options: CallOptions): Promise<Uint8Array> };

/** Returns the source of a catalog table. Every page is from the version that was the latest when `open` was called. */
export function catalogSource(
  place: TablePlace,
  catalogOf: (connection: string) => Promise<PanelCatalog>,
): TableSource {
  const { connection, path, table } = place;
  let version: number | undefined;
  let reader: { catalog: PanelCatalog; rows: Promise<RowReader> } | undefined;

  // Open the table once per catalog object. Another object means that the engine was restarted.
  const readerOf = async (): Promise<RowReader> => {
    const catalog = await catalogOf(connection);
    if (reader?.catalog === catalog) return reader.rows;
    const rows = catalog.openTable(table, { namespacePath: path, version });
    reader = { catalog, rows };
    rows.catch(() => (reader = undefined));
    return rows;
  };

  /** Returns why a table that the catalog describes can't be shown: most such servers have no rows at all. */
  const whyUnreadable = async (signal: AbortSignal): Promise<CatalogError> => {
    await (await readerOf()).queryIpc({ limit: 0 }, { signal });
    const what = `Can't show "${displayPath(path, table)}": the server does not report its version and its number of rows.`;
    return new CatalogError('Unsupported', what, 'Read it in a notebook, with openTable().');
  };

  return {
    title: table,
    place,
    async open(signal) {
      const catalog = await catalogOf(connection);
      const opened = await explained(place, catalog, () =>
        catalog.describeTable(table, { namespacePath: path, signal }),
      );
      const { columns, numRows } = opened;
      version = opened.version;
      if (numRows === undefined || version === undefined) throw await whyUnreadable(signal);
      return {
        title: displayPath([connection, ...path], table),
        key: JSON.stringify({ connection, path, table, version }),
        columns,
        numRows,
        version,
      };
    },
    async rows(start, end, signal) {
      if (version === undefined) {
        throw new CatalogError('InvalidTableState', `"${table}" is not open.`, 'Open it again.');
      }
      const catalog = await catalogOf(connection);
      return explained(place, catalog, async () =>
        (await readerOf()).queryIpc({ offset: start, limit: end - start }, { signal }),
      );
    },
  };
}

/** Runs a call; if the server rejects the credentials, the error says what to do in VS Code. */
async function explained<T>(
  { connection }: TablePlace,
  { location }: PanelCatalog,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!isCatalogError(error) || !/^https?:/i.test(location) || serverErrorAction(error) !== 'key') throw error;
    const { what } = failureMessage(error, 'key');
    const hint = `Choose "Update API Key…" on "${connection}" in the Lance Catalog view, then open the table again.`;
    throw new CatalogError(error.kind, what, hint, { cause: error, status: error.status });
  }
}

/**
 * Returns the bytes as a plain Uint8Array in a buffer of exactly their size. VS Code sends the whole buffer of a view
 * to a webview (5 MB for a page of 43 KB). A Buffer of Node would arrive as an object of numbers.
 */
export const exactBytes = (bytes: Uint8Array): Uint8Array =>
  bytes.constructor === Uint8Array && bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);

/** Returns a source for a table that can't be opened, with the reason. */
export const lostSource = (title: string, why: CatalogError): TableSource => ({
  title,
  open: () => Promise.reject(why),
  rows: () => Promise.reject(why),
});

/**
 * Reads the location from a webview's state (`{ key }`, the key of its table); `undefined` if the table is not from a
 * catalog.
 */
export function placeOfState(state: unknown): TablePlace | undefined {
  const { key } = asRecord(state);
  if (typeof key !== 'string') return undefined;
  try {
    const place: unknown = JSON.parse(key);
    return isTablePlace(place) ? { connection: place.connection, path: place.path, table: place.table } : undefined;
  } catch {
    return undefined;
  }
}

const isTablePlace = shapeFor<TablePlace>({ connection: isString, path: listOf(isString), table: isString });

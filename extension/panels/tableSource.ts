import { randomUUID } from 'node:crypto';
import type { BlobColumn, BlobReader } from '#catalog/blobs.ts';
import type { CallOptions } from '#catalog/arguments/options.ts';
import type { OpenTableOptions, TableDescription } from '#catalog/catalog.ts';
import type { QuerySpec } from '#catalog/query/querySpec.ts';
import { blobV2 } from '#shared/arrow/blobs.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { fieldPathText, isColumnName } from '#shared/fieldPath.ts';
import type { ColumnInfo, PanelGrowth, PanelTable, PanelView } from '#shared/protocol/webviewMessages.ts';
import { displayPath } from '#shared/names.ts';
import { failureMessage, serverErrorAction } from '../connections/failureMessage.ts';
import { asRecord } from '#shared/records.ts';
import { isBoolean, isCount, isString, listOf, optional, shapeFor } from '#shared/shape.ts';
import { readVersions, type TableVersions, type VersionReader } from './tableVersions.ts';

/** The location of a catalog table. A panel stores it for a reload of the window. */
export type TablePlace = {
  connection: string;
  path: readonly string[];
  table: string;
  /** The version that the user chose. Default: the newest. */
  version?: number | undefined;
};

/** A table whose rows arrive while it is shown. */
export type GrowingTable = {
  readonly growth: PanelGrowth;
  /** The reason if the table could not be completed. */
  readonly failure: Error | undefined;
  /** Calls the listener after each change of `growth` or `failure`. */
  onDidChange(listener: () => void): { dispose(): void };
  /** Stops the growth and keeps the rows. */
  cancel(): void;
};

/** The source of a panel's table: a catalog, a running kernel, the trial of a backfill, or the result of SQL. */
export type TableSource = {
  readonly title: string;
  /** The heading if the table can't be opened. */
  readonly failureTitle?: string;
  /** Set if the table grows. */
  readonly growing?: GrowingTable;
  /** The table's location for a reload of the window; `undefined` if a reload can't open the table again. */
  readonly place?: TablePlace;
  /** Set for a table of a catalog. */
  readonly versions?: SourceVersions;
  /** The view that is shown first. Default: the one that the panel has kept. */
  readonly startView?: PanelView | undefined;
  /** The columns that are shown first, from left to right. The panel does not remember them. */
  readonly columns?: readonly string[] | undefined;
  /** @param signal aborts when the panel shows another table or is closed */
  open(signal: AbortSignal): Promise<PanelTable>;
  /**
   * Returns rows [start, end) as one Arrow IPC stream. Call `open` first.
   * @param columns names of the wanted columns; only for a table with `selectsColumns`
   */
  rows(start: number, end: number, signal: AbortSignal, columns?: readonly string[]): Promise<Uint8Array>;
  /**
   * Returns bytes [start, end) of the blob in a row, fewer at its end. Set if the table may have `readsBlobs`; call
   * `open` first.
   */
  blob?(column: string, range: { row: number; start: number; end: number }, signal: AbortSignal): Promise<Uint8Array>;
  /** Reads blobs by the ids of rows, for views of the table. Set if the table may have `readsBlobs`. */
  readonly blobsById?: BlobsById;
  /**
   * Checks whether the rows that were read are still those of the version that was opened. Set for a table of a catalog.
   * @throws CatalogError ConcurrentModification (14) if the table was created again under the same name, or
   * TableNotFound (4) or VersionNotFound (11) if it or its version is gone
   */
  confirm?(signal: AbortSignal): Promise<void>;
};

/** Reads blobs as `rows` and `blob` of a source do, by the ids of rows. */
export type BlobsById = {
  heads(column: string, rowIds: readonly string[], signal: AbortSignal): Promise<Uint8Array>;
  range(column: string, range: { rowId: string; start: number; end: number }, signal: AbortSignal): Promise<Uint8Array>;
};

/** The versions of a source's table. */
export type SourceVersions = {
  /** Returns the same table at another version, or at the newest one. */
  at(version: number | undefined): TableSource;
  list(signal: AbortSignal): Promise<TableVersions>;
  /** Returns the number of the newest version; undefined if the server reports none. */
  newest(signal: AbortSignal): Promise<number | undefined>;
};

/** The part of a catalog that a panel needs; rows are bytes of an Arrow stream, which only the webview decodes. */
export type PanelCatalog = {
  /** A root, or the address of a server. */
  readonly location: string;
  /** Reads the bytes of blobs; undefined if the server can't. */
  readonly blobs?: BlobReader | undefined;
  describeTable(name: string, options: OpenTableOptions): Promise<TableDescription>;
  openTable(name: string, options: OpenTableOptions): Promise<RowReader>;
};
type RowReader = {
  queryIpc(spec: QuerySpec, options: CallOptions): Promise<Uint8Array>;
  /** Returns when the version was written; undefined if the server does not report it. */
  versionTime?(options: CallOptions): Promise<number | undefined>;
} & Partial<VersionReader>;

/**
 * Returns the source of a catalog table. Every page is from the version of `place`, or from the one that was the newest
 * when `open` was called.
 */
export function catalogSource(
  place: TablePlace,
  catalogOf: (connection: string) => Promise<PanelCatalog>,
): TableSource {
  const { connection, path, table } = place;
  const isPinned = place.version !== undefined;
  let version: number | undefined;
  /** Names of the columns, and paths of the nested fields, whose blobs can be read. */
  let blobColumns: ReadonlySet<string> = new Set();
  let reader: { catalog: PanelCatalog; rows: Promise<RowReader> } | undefined;
  /** When the version was written, read after its first rows. A table that is created again has another time. */
  let writtenAt: number | undefined;

  // Open the table once per catalog object. Another object means that the engine was restarted.
  const readerOf = async (): Promise<RowReader> => {
    const catalog = await catalogOf(connection);
    if (reader?.catalog === catalog) return reader.rows;
    const rows = catalog.openTable(table, { namespacePath: path, version });
    reader = { catalog, rows };
    rows.catch(() => (reader = undefined));
    return rows;
  };

  /**
   * Returns the error for a table whose server reports neither version nor number of rows. Most of these servers have
   * no rows at all. Then the query throws a more precise error.
   */
  const whyUnreadable = async (signal: AbortSignal): Promise<CatalogError> => {
    await (await readerOf()).queryIpc({ limit: 0 }, { signal });
    const what = `Can't show "${displayPath(path, table)}": the server reports neither a version nor a number of rows for this table.`;
    return new CatalogError('Unsupported', what, 'Read the table in a notebook, with db.openTable().');
  };

  /** Runs a call on the open table, and again if the engine crashed during the call and has started again. */
  const read = async <T>(call: (catalog: PanelCatalog, version: number) => Promise<T>): Promise<T> => {
    if (version === undefined) {
      throw new CatalogError('InvalidTableState', `"${table}" is not open.`, 'Open it again.');
    }
    const [opened, catalog] = [version, await catalogOf(connection)];
    return explained(place, catalog, async () => {
      try {
        return await call(catalog, opened);
      } catch (error) {
        const next = isCatalogError(error, 'ServiceUnavailable') ? await catalogOf(connection) : catalog;
        if (next === catalog) throw error;
        return call(next, opened);
      }
    });
  };

  const blobColumn = (column: string, at: number): BlobColumn => ({ id: [...path, table], version: at, column });

  const readBlobs = (
    column: string,
    call: (blobs: BlobReader, of: BlobColumn) => Promise<Uint8Array>,
  ): Promise<Uint8Array> =>
    read(({ blobs }, at) => {
      if (blobs && blobColumns.has(column)) return call(blobs, blobColumn(column, at));
      throw new CatalogError('InvalidInput', `Can't read blobs of column "${column}".`, 'Open the table again.');
    });

  return {
    // The connection of a job's table may be the path of a root. The last name of the path is enough for a title.
    title: `${table}${isPinned ? `, version ${place.version}` : ''} (${connection.split(/[/\\]/).findLast(Boolean) ?? connection})`,
    place,
    versions: {
      at: (chosen) => catalogSource({ connection, path, table, version: chosen }, catalogOf),
      async list(signal) {
        const catalog = await catalogOf(connection);
        const opened = await catalog.openTable(table, { namespacePath: path, signal });
        if (hasVersions(opened)) return readVersions(opened, { signal });
        return { versions: [], tags: {}, problem: 'The catalog has no list of versions.' };
      },
      async newest(signal) {
        return (await (await catalogOf(connection)).describeTable(table, { namespacePath: path, signal })).version;
      },
    },
    async open(signal) {
      const catalog = await catalogOf(connection);
      const opened = await explained(place, catalog, () =>
        catalog.describeTable(table, { namespacePath: path, version: place.version, signal }),
      );
      const { columns, numRows } = opened;
      version = opened.version;
      // The table may have been created again, with a version of the same number.
      [reader, writtenAt] = [undefined, undefined];
      if (numRows === undefined || version === undefined) throw await whyUnreadable(signal);
      const selectsColumns = columns.every(({ name }) => isColumnName(name));
      const readsBlobs = selectsColumns && catalog.blobs !== undefined;
      blobColumns = new Set(readsBlobs ? readableBlobs(columns) : []);
      return {
        title: displayPath([connection, ...path], table),
        key: JSON.stringify({ connection, path, table, version, ...(isPinned && { isPinned }) }),
        columns,
        numRows,
        version,
        ...(isPinned && { isPinned }),
        selectsColumns,
        hasViews: true,
        ...(blobColumns.size > 0 && { readsBlobs: true }),
      };
    },
    rows: (start, end, signal, columns) =>
      read(async ({ blobs }, at) => {
        const [only] = columns ?? [];
        if (blobs && only !== undefined && columns?.length === 1 && blobColumns.has(only))
          return blobs.heads(blobColumn(only, at), { start, end }, signal);
        return (await readerOf()).queryIpc(
          { offset: start, limit: end - start, ...(columns && { columns }) },
          { signal },
        );
      }),
    blob: (column, range, signal) => readBlobs(column, (blobs, of) => blobs.range(of, range, signal)),
    blobsById: {
      heads: (column, rowIds, signal) => readBlobs(column, (blobs, of) => blobs.heads(of, { rowIds }, signal)),
      range: (column, range, signal) => readBlobs(column, (blobs, of) => blobs.range(of, range, signal)),
    },
    async confirm(signal) {
      const time = await read(async () => (await readerOf()).versionTime?.({ signal }));
      writtenAt ??= time;
      if (time === writtenAt) return;
      const what = `"${displayPath(path, table)}" was dropped and created again after it was opened here.`;
      throw new CatalogError('ConcurrentModification', what, 'Open it again.');
    },
  };
}

/** Returns the paths of the columns whose blobs can be read by ranges, also of those that are nested in structs. */
export const readableBlobs = (columns: readonly ColumnInfo[], around: readonly string[] = []): string[] =>
  columns.flatMap(({ name, blob, fields = [] }) => {
    const names = [...around, name];
    return blob === blobV2 ? [fieldPathText(names)] : readableBlobs(fields, names);
  });

const hasVersions = (table: RowReader): table is RowReader & VersionReader =>
  table.listVersions !== undefined && table.tags !== undefined;

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
    if (!isTablePlace(place)) return undefined;
    const { connection, path, table, version, isPinned } = place;
    return { connection, path, table, ...(isPinned === true && { version }) };
  } catch {
    return undefined;
  }
}

/** Returns the rest of the key of a table in a webview's state; `undefined` if the key does not start with a prefix. */
function keyAfter(prefix: string, state: unknown): string | undefined {
  const { key } = asRecord(state);
  return typeof key === 'string' && key.startsWith(prefix) ? key.slice(prefix.length) : undefined;
}

const resultPrefix = 'sql:';

/** Returns the key of a result of SQL in a panel. */
export const resultKey = (id: string): string => resultPrefix + id;

/** Whether a webview's state is that of a panel with a result of SQL. */
export const isResultState = (state: unknown): boolean => keyAfter(resultPrefix, state) !== undefined;

const trialPrefix = 'trial:';

/** Returns the key of the rows of a trial in a panel. */
export const trialKey = (id: string): string => trialPrefix + id;

/** Whether a webview's state is that of a panel with the rows of a trial. */
export const isTrialState = (state: unknown): boolean => keyAfter(trialPrefix, state) !== undefined;

const outputPrefix = 'output:';

/** The output of a notebook, whose rows are in its kernel. */
export type OutputPlace = { notebook: string; output: string };

const isOutputPlace = shapeFor<OutputPlace>({ notebook: isString, output: isString });

/** Returns the key of the rows of a notebook output in a panel. Without a place, a reload loses them. */
export const outputKey = (place?: OutputPlace): string => outputPrefix + (place ? JSON.stringify(place) : randomUUID());

/** Whether a webview's state is that of a panel with the rows of a notebook output. */
export const isOutputState = (state: unknown): boolean => keyAfter(outputPrefix, state) !== undefined;

/** Reads the place of an output from a webview's state. */
export function outputOfState(state: unknown): OutputPlace | undefined {
  const json = keyAfter(outputPrefix, state);
  if (json === undefined) return undefined;
  try {
    const place: unknown = JSON.parse(json);
    return isOutputPlace(place) ? place : undefined;
  } catch {
    return undefined;
  }
}

export const isSamePlace = (a: TablePlace | undefined, b: TablePlace | undefined): boolean =>
  a !== undefined &&
  b !== undefined &&
  JSON.stringify([a.connection, a.path, a.table]) === JSON.stringify([b.connection, b.path, b.table]);

const isTablePlace = shapeFor<TablePlace & { isPinned?: boolean | undefined }>({
  connection: isString,
  path: listOf(isString),
  table: isString,
  version: optional(isCount),
  isPinned: optional(isBoolean),
});

import { type CatalogConfig, type DirConfig, isCatalogConfig } from '#shared/catalogConfig.ts';
import { isRecord } from '#shared/records.ts';
import {
  anyOf,
  type Check,
  isBoolean,
  isCount,
  isNonNegativeNumber,
  isString,
  listOf,
  mapOf,
  nullable,
  oneOf,
  optional,
  shape,
  shapeFor,
} from '#shared/shape.ts';
import { type ChangedColumn, type ChangeKind, changeKinds, type ChangesState, isChangesState } from './changes.ts';
import { type TimeZoneChoice, timeZoneChoices } from '#shared/format/times.ts';
import {
  type ColumnInfo,
  type ColumnValues,
  isColumnInfo,
  isNearestFacts,
  isPanelNearest,
  isPanelView,
  type NearestFacts,
  type PanelNearest,
  type PanelView,
  type SearchedColumns,
} from './webviewMessages.ts';

// The messages between a window and its views process (dist/views.cjs), over a framed pipe; the transport is `Endpoint`
// in rpc.ts. The views process does what needs time and memory for the views of a window, such as the results of SQL
// and exports.

/** How the views process opens a catalog. It may hold secrets, so it is sent over pipes only. */
export type ViewsCatalog =
  Extract<CatalogConfig, { implementation: 'rest' }> | ({ implementation: 'engine' } & EnginePlace & DirConfig);

/** The engine process that reads a directory. */
type EnginePlace = { socketPath: string; secret: string };

/** Why a statement failed. `offset` counts UTF-16 units from the start of the statement; null if no place is known. */
export type SqlProblem = { message: string; offset: number | null };

/** What a statement does: it reads, writes a table, or asks for the plan of a query. */
export type SqlPurpose = { kind: 'read' | 'plan' } | { kind: 'write'; effect: 'create' | 'replace' | 'insert' };

/** The table that a statement writes: its connection, null for that of the file, and its name with namespaces. */
export type SqlTarget = { connection: string | null; table: string };

export type SqlRequest = {
  /** Chosen by the window. */
  id: string;
  text: string;
  /** The catalog of names without a connection. */
  catalog: ViewsCatalog;
  /** The catalogs of other connections that the statement names. */
  others: Record<string, ViewsCatalog>;
  /** Whether the user has allowed that a statement writes. */
  mayWrite: boolean;
  /** The size of the temporary files of all results, in bytes, at which the statement stops. */
  maxBytes: number;
};

/** Which rows of a table are written to which file. */
export type ExportRequest = {
  /** Chosen by the window. */
  id: string;
  catalog: ViewsCatalog;
  /** The namespace and the name of the table. */
  path: string[];
  /** An existing file is replaced: the user was asked when the file was chosen. */
  file: string;
  /** The version to read; null for the newest one. */
  version: number | null;
  /** An SQL expression; empty for all rows. */
  where: string;
  /** Empty for the order of the table. */
  orderBy: { column: string; descending: boolean }[];
  /** Only some of the rows, by their positions. Then filter and order are those of the view. */
  selection?: RowSelection | undefined;
  /** Only the rows nearest to a vector. */
  nearest?: PanelNearest | undefined;
  /** The rows that differ from another table. Then a selection has positions among those of the kind. */
  changes?: ExportedChanges | undefined;
};

/** The rows of a comparison that are written to a file. */
export type ExportedChanges = Omit<ChangesRequest, 'catalog'> & { kind: ChangeKind | null };

/** Rows [start, end) of an open view, or of a table in its own order. */
export type RowSelection = {
  /** The id of the view; null for the table. */
  view: string | null;
  start: number;
  end: number;
  /** Null for all columns. */
  columns: string[] | null;
};

/** A file that is complete. */
export type ExportedFile = { rows: number; bytes: number };

/** The plan of a query as text, or why there is none. */
export type SqlPlan = { plan: string } | { problem: SqlProblem };

/** A result while it grows and after its end. */
export type SqlResultState = {
  /** Undefined until the columns are known. */
  columns?: ColumnInfo[] | undefined;
  /** The number of rows that can be read. */
  rows: number;
  /** `full`: the temporary files have reached their maximum size. The rows that were read stay. */
  end: 'running' | 'complete' | 'canceled' | 'full' | 'failed';
  /** Only if the statement failed or stopped at the maximum size. */
  problem?: SqlProblem | undefined;
  /** The time since the start, or between start and end. */
  milliseconds: number;
};

/** A table of a catalog at a version. */
export type ViewedTable = {
  catalog: ViewsCatalog;
  /** The namespace and the name of the table. */
  path: string[];
  version: number;
};

/** Which rows of a table a view has, and their order. */
export type ViewRequest = ViewedTable & {
  /** Chosen by the window. */
  id: string;
  view: PanelView;
};

/** The cell whose value becomes a part of a filter. */
export type FilterRequest = ViewedTable & {
  /** The view in which the row counts; null for the table itself. */
  id: string | null;
  where: string;
  row: number;
  column: string;
  /** Whether the rows with other values are wanted. */
  isOther: boolean;
};

/** The column of a view whose values are counted. */
export type ValuesRequest = ViewedTable & {
  view: PanelView;
  column: string;
  /** How the values of a column of text start; empty for all values. */
  start: string;
  timeZone: TimeZoneChoice;
};

/** Two tables of a catalog, or two versions of a table. */
export type ComparedTables = {
  catalog: ViewsCatalog;
  before: { path: string[]; version: number };
  after: { path: string[]; version: number };
};

export type ChangesRequest = ComparedTables & {
  /** Chosen by the window. */
  id: string;
  /** The columns that identify a row; null for row ids. */
  key: string[] | null;
};

/** The columns of the differences: `numShown` to show, the names of changed columns, and the values before a change. */
export type OpenedChanges = {
  columns: ColumnInfo[];
  numShown: number;
  columnChanges: ChangedColumn[];
  state: ChangesState;
};

/** The rows of a view while they are listed and after that. */
export type ViewState = {
  /** The number of rows that can be read. */
  rows: number;
  /** The number of listed rows. Some may still change their order. */
  listed: number;
  end: 'running' | 'complete' | 'canceled' | 'failed';
  /** Only if the rows could not be listed. */
  problem?: string | undefined;
  /** Whether the rows that were read before have changed their order. */
  isMoved?: boolean | undefined;
  /** How the rows were found, if the view is a search for the nearest ones. */
  nearest?: NearestFacts | undefined;
  /** How the rows were searched, if they were. */
  searched?: SearchedColumns | undefined;
  /** Whether the server has no row ids, so that the rows of a filter are read by their positions. */
  isByPosition?: boolean | undefined;
};

/** Requests to the views process. */
export type ViewsMethods = {
  /** Parses statements and runs nothing. Returns for each its first syntax error. */
  checkSyntax: [{ texts: string[] }, (SqlProblem | null)[]];
  /** Says what a statement does, without running it. */
  readPurpose: [{ text: string }, SqlPurpose];
  /** Finds the table that a statement writes, without running it. */
  findTarget: [SqlRequest, SqlTarget];
  /** Returns the plan of a query, which does not run. */
  explainSql: [SqlRequest, SqlPlan];
  /** Starts a statement. `resultChanged` reports its result, also a failure. */
  startSql: [SqlRequest, null];
  /** Returns rows [start, end) of a result as an Arrow stream in base64. */
  readRows: [{ id: string; start: number; end: number }, string];
  /** Stops a statement and keeps the rows that it has. Returns when the statement has ended. */
  cancelSql: [{ id: string }, null];
  /** Stops a statement and deletes its rows. */
  closeResult: [{ id: string }, null];
  /** Writes a table to a file. Returns when the file is complete; a request that is canceled leaves no file. */
  exportTable: [ExportRequest, ExportedFile];
  /** Finds the first rows of a view. Then it lists the others, which `viewChanged` reports. */
  openView: [ViewRequest, ViewState];
  /** Returns rows [start, end) of a view as an Arrow stream in base64, of all columns or of some. */
  readView: [{ id: string; start: number; end: number; columns?: string[] | undefined }, string];
  /** Returns the ids of rows [start, end) of a view, as decimal strings because they have 64 bits. */
  readRowIds: [{ id: string; start: number; end: number }, string[]];
  /** Stops the list of rows and keeps those that were listed. */
  cancelView: [{ id: string }, null];
  closeView: [{ id: string }, null];
  /** Whether the row ids of two tables identify their rows. */
  hasRowIds: [ComparedTables, boolean];
  /** Starts a comparison, whose progress `changesAdvanced` reports. */
  openChanges: [ChangesRequest, OpenedChanges];
  /** Returns differences [start, end) of a kind as an Arrow stream in base64, of all columns or of some. */
  readChanges: [
    { id: string; kind: ChangeKind | null; start: number; end: number; columns?: string[] | undefined },
    string,
  ];
  /** Stops a comparison and keeps the differences that it has found. */
  cancelChanges: [{ id: string }, null];
  closeChanges: [{ id: string }, null];
  /** Returns a filter with the condition that a column has the value of a cell, or another one. */
  filterByCell: [FilterRequest, string];
  /** Counts the values of a column in the rows of a view. */
  countValues: [ValuesRequest, ColumnValues];
};

/** Requests to the window. */
export type ViewsHostMethods = {
  ready: [null, null];
  /** Sent at most ten times a second for each result, and once at its end. */
  resultChanged: [{ id: string; state: SqlResultState }, null];
  /** The number of rows that an export has written. Sent at most four times a second for each. */
  exportAdvanced: [{ id: string; rows: number }, null];
  /** Sent at most four times a second for each view, and once at the end of its list. */
  viewChanged: [{ id: string; state: ViewState }, null];
  /** Sent at most four times a second for each comparison, and once at its end. */
  changesAdvanced: [{ id: string; state: ChangesState }, null];
};

const isNothing = oneOf(null);
const onId = shape({ id: isString });

const isPlace = shapeFor<EnginePlace>({ socketPath: isString, secret: isString });

function isViewsCatalog(value: unknown): value is ViewsCatalog {
  if (!isRecord(value)) return false;
  const { implementation, socketPath, secret, ...config } = value;
  if (implementation === 'engine')
    return isPlace({ socketPath, secret }) && isCatalogConfig({ ...config, implementation: 'dir' });
  return implementation === 'rest' && isCatalogConfig(value);
}

const isSqlRequest = shapeFor<SqlRequest>({
  id: isString,
  text: isString,
  catalog: isViewsCatalog,
  others: mapOf(isViewsCatalog),
  mayWrite: isBoolean,
  maxBytes: isNonNegativeNumber,
});

const viewedTable = { catalog: isViewsCatalog, path: listOf(isString), version: isCount };

const isComparedTable = shape({ path: listOf(isString), version: isCount });
const comparedTables = { catalog: isViewsCatalog, before: isComparedTable, after: isComparedTable };

/** Checks of the parameters of a request to the views process, before it is handled. */
export const viewsChecks: { readonly [K in keyof ViewsMethods]: Check<ViewsMethods[K][0]> } = {
  checkSyntax: shape({ texts: listOf(isString) }),
  readPurpose: shape({ text: isString }),
  findTarget: isSqlRequest,
  explainSql: isSqlRequest,
  startSql: isSqlRequest,
  readRows: shape({ id: isString, start: isCount, end: isCount }),
  cancelSql: onId,
  closeResult: onId,
  exportTable: shapeFor<ExportRequest>({
    id: isString,
    catalog: isViewsCatalog,
    path: listOf(isString),
    file: isString,
    version: nullable(isCount),
    where: isString,
    orderBy: listOf(shape({ column: isString, descending: isBoolean })),
    selection: anyOf(
      oneOf(undefined),
      shapeFor<RowSelection>({
        view: nullable(isString),
        start: isCount,
        end: isCount,
        columns: nullable(listOf(isString)),
      }),
    ),
    nearest: optional(isPanelNearest),
    changes: optional(
      shapeFor<ExportedChanges>({
        before: isComparedTable,
        after: isComparedTable,
        id: isString,
        key: nullable(listOf(isString)),
        kind: nullable(oneOf(...changeKinds)),
      }),
    ),
  }),
  openView: shapeFor<ViewRequest>({ ...viewedTable, id: isString, view: isPanelView }),
  readView: shape({ id: isString, start: isCount, end: isCount, columns: anyOf(oneOf(undefined), listOf(isString)) }),
  readRowIds: shape({ id: isString, start: isCount, end: isCount }),
  cancelView: onId,
  closeView: onId,
  hasRowIds: shapeFor<ComparedTables>(comparedTables),
  openChanges: shapeFor<ChangesRequest>({ ...comparedTables, id: isString, key: nullable(listOf(isString)) }),
  readChanges: shape({
    id: isString,
    kind: nullable(oneOf(...changeKinds)),
    start: isCount,
    end: isCount,
    columns: anyOf(oneOf(undefined), listOf(isString)),
  }),
  cancelChanges: onId,
  closeChanges: onId,
  filterByCell: shapeFor<FilterRequest>({
    ...viewedTable,
    id: nullable(isString),
    where: isString,
    row: isCount,
    column: isString,
    isOther: isBoolean,
  }),
  countValues: shapeFor<ValuesRequest>({
    ...viewedTable,
    view: isPanelView,
    column: isString,
    start: isString,
    timeZone: oneOf(...timeZoneChoices),
  }),
};

const isProblem = shape({ message: isString, offset: nullable(isCount) });

const isResultState = shapeFor<SqlResultState>({
  columns: anyOf(oneOf(undefined), listOf(isColumnInfo)),
  rows: isCount,
  end: oneOf('running', 'complete', 'canceled', 'full', 'failed'),
  problem: anyOf(oneOf(undefined), isProblem),
  milliseconds: isNonNegativeNumber,
});

const isViewState = shapeFor<ViewState>({
  rows: isCount,
  listed: isCount,
  end: oneOf('running', 'complete', 'canceled', 'failed'),
  problem: anyOf(oneOf(undefined), isString),
  isMoved: anyOf(oneOf(undefined), isBoolean),
  nearest: optional(isNearestFacts),
  searched: anyOf(
    oneOf(undefined),
    shape({ columns: listOf(isString), isIndex: isBoolean, indexLimit: optional(isCount) }),
  ),
  isByPosition: optional(isBoolean),
});

/** Checks of messages from the views process to a window. */
export const viewsHostChecks: { readonly [K in keyof ViewsHostMethods]: Check<ViewsHostMethods[K][0]> } = {
  ready: isNothing,
  resultChanged: shape({ id: isString, state: isResultState }),
  exportAdvanced: shape({ id: isString, rows: isCount }),
  viewChanged: shape({ id: isString, state: isViewState }),
  changesAdvanced: shape({ id: isString, state: isChangesState }),
};

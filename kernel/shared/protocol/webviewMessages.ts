import type { TimeZoneChoice } from '#shared/format/times.ts';
import { asRecord } from '#shared/records.ts';
import {
  anyOf,
  isBoolean,
  isCount,
  isFiniteNumber,
  isNonNegativeNumber,
  isString,
  listOf,
  nullable,
  oneOf,
  optional,
  shape,
  shapeFor,
} from '#shared/shape.ts';
import { type DistanceType, distanceTypes } from '#shared/vectorTypes.ts';
import { isPanelChanges, type PanelChanges, type ShownChanges } from './changes.ts';

// The messages between the extension host and the table panel, as `name: [params, result]`. The transport is
// `Endpoint` in rpc.ts.

/**
 * A column for the tree and the grid. `type` is the formatted Arrow type, for example `fixed_size_list<float>[128]`.
 */
export type ColumnInfo = {
  name: string;
  type: string;
  nullable: boolean;
  /** The encoding of a column of blobs, for example `lance.blob.v2`. */
  blob?: string;
  /** The fields of a struct. */
  fields?: ColumnInfo[];
};

const isPlainInfo = shape({
  name: isString,
  type: isString,
  nullable: isBoolean,
  blob: optional(isString),
});

export const isColumnInfo = (value: unknown): value is ColumnInfo => {
  const fields = isPlainInfo(value) ? asRecord(value)['fields'] : null;
  return fields === undefined || listOf(isColumnInfo)(fields);
};

/** A column by its position in the table; a field of a struct by positions, from the column inwards. */
export type ColumnPosition = number | number[];

/** Selected rows [start, end) of a panel, and the positions of their columns; null for all. */
export type PanelSelection = { start: number; end: number; columns: ColumnPosition[] | null };

/** What a user has set on the columns of a table, by their names. */
export type ColumnSettings = {
  /** The columns from left to right, if the user has moved some; those that are missing come last. */
  order: string[];
  pinned: string[];
  hidden: string[];
  /** The structs whose fields are shown as columns. Fields have their paths as names. */
  expanded?: string[] | undefined;
  /** In pixels. */
  widths: { name: string; width: number }[];
  /** `small`, `medium` or `large`. */
  rowHeight: string;
};

/** A table opened in a panel. The panel shows only one version of the table, so that all pages are consistent. */
export type PanelTable = {
  /** `sales/eu/orders` */
  title: string;
  /** Path and connection of the table, if the tab has the name of a view file. */
  tableName?: string;
  /** Identifies the table and its version. If a page arrives for another key, it is dropped. */
  key: string;
  columns: ColumnInfo[];
  numRows: number;
  version: number | null;
  /** The newest version, if it is known. */
  newest?: number;
  /** Whether the user chose this version, so that newer ones are not offered. */
  isPinned?: boolean;
  /** Whether `rows` can be asked for some of the columns. */
  selectsColumns?: boolean;
  /** Whether columns of blobs are read as their sizes and first bytes, and `blob` can be called. */
  readsBlobs?: boolean;
  /** Shown below the grid, for example the source of rows that are not from a catalog. */
  note?: string;
  /** Whether rows are still added. */
  isGrowing?: boolean;
  /** Whether `view` can be called, because the rows can be filtered and sorted. */
  hasViews?: boolean;
  /** Which rows these are, and their order, if they are filtered or sorted. */
  view?: PanelView;
  /** How the rows were found, if `view` is a search for the nearest ones. */
  nearest?: NearestFacts | undefined;
  /** How the rows were searched, if they were. */
  searched?: SearchedColumns;
  /** Set if the rows are the differences from another table. */
  changes?: ShownChanges;
  /** The number of rows without a filter. */
  totalRows?: number;
  /** The view that is shown first, instead of one that the panel has kept. The webview requests it. */
  startView?: PanelView;
  /** What the user set on the columns when the table was open before. */
  columnSettings?: ColumnSettings;
  /** In which zone timestamps are shown; that of the column by default. */
  timeZone?: TimeZoneChoice;
};

/** A column to sort by. Nulls are last. */
export type PanelOrdering = { column: string; descending: boolean };

/** A search in the text of a table. */
export type PanelSearch = {
  text: string;
  /** Whether all columns of text are read, also if a full-text index has some. */
  isScan: boolean;
};

/**
 * Which columns were searched, and whether by their full-text index. With `indexLimit` the index found more rows than that,
 * which is the maximum for a search by vector, so that the text was compared.
 */
export type SearchedColumns = { columns: string[]; isIndex: boolean; indexLimit?: number | undefined };

/** Which rows of a table a panel shows, and their order. An empty filter has all rows. */
export type PanelView = {
  /** An SQL expression. */
  where: string;
  /** Rows with equal values in the first column are sorted by the second one, and so on. */
  orderBy: PanelOrdering[];
  /** Only the rows nearest to a vector, in the order of their distance unless `orderBy` has columns. */
  nearest?: PanelNearest | undefined;
  /** Only rows whose text has this. */
  search?: PanelSearch | undefined;
  /** The differences from another table, instead of the rows. Filter and order are empty then. */
  changes?: PanelChanges | undefined;
};

/** Where the vector of a search is from: a row of the whole table at a version, a row of another view, or the user. */
export type VectorOrigin = { kind: 'row'; row: number; version: number | null } | { kind: 'view' } | { kind: 'pasted' };

/** A search for the rows nearest to a vector. */
export type PanelNearest = {
  column: string;
  /** One vector, or the vectors of a list for a column of lists of vectors. */
  vectors: number[][];
  from: VectorOrigin;
  /** Maximum number of rows. */
  k: number;
  /** Default: that of the index, or of the type of the column. */
  distanceType?: DistanceType | undefined;
  /** False: compares the vector with every row. Default: true, if there is an index with this distance. */
  useIndex?: boolean | undefined;
};

/** How the rows nearest to a vector were found. */
export type NearestFacts = {
  /** Undefined if the server does not tell the distance of its index. */
  distanceType: DistanceType | undefined;
  /** The index of the column, also if it was not used. */
  index: { type: string; distanceType: DistanceType | undefined } | undefined;
  usesIndex: boolean;
  milliseconds: number;
};

const isDistanceType = oneOf(...distanceTypes);

export const isPanelNearest = shapeFor<PanelNearest>({
  column: isString,
  vectors: listOf(listOf(isFiniteNumber)),
  from: anyOf(
    shapeFor<Extract<VectorOrigin, { kind: 'row' }>>({ kind: oneOf('row'), row: isCount, version: nullable(isCount) }),
    shapeFor<{ kind: 'view' }>({ kind: oneOf('view') }),
    shapeFor<{ kind: 'pasted' }>({ kind: oneOf('pasted') }),
  ),
  k: isCount,
  distanceType: optional(isDistanceType),
  useIndex: optional(isBoolean),
});

export const isNearestFacts = shapeFor<NearestFacts>({
  distanceType: optional(isDistanceType),
  index: optional(
    shapeFor<NonNullable<NearestFacts['index']>>({ type: isString, distanceType: optional(isDistanceType) }),
  ),
  usesIndex: isBoolean,
  milliseconds: isNonNegativeNumber,
});

export const isPanelView = shapeFor<PanelView>({
  where: isString,
  orderBy: listOf(shapeFor<PanelOrdering>({ column: isString, descending: isBoolean })),
  nearest: optional(isPanelNearest),
  search: optional(shapeFor<PanelSearch>({ text: isString, isScan: isBoolean })),
  changes: optional(isPanelChanges),
});

/** Which saved view a panel shows, and whether filter, order or columns were changed since it was saved. */
export type SavedViewState = { name: string | null; isChanged: boolean };
/** A value of a column in the rows of a view, with the number of its rows. */
export type ColumnValue = {
  kind: 'value' | 'null' | 'nan';
  /** As the grid shows it. */
  text: string;
  /** The value as SQL; empty for null and NaN. */
  literal: string;
  count: number;
};

/** The values of a column, the most frequent ones first; none if the column has more than `maxColumnValues`. */
export type ColumnValues = { values: ColumnValue[]; isMore: boolean };

/** Maximum number of values of a column that are counted. */
export const maxColumnValues = 1_000;

/** How far a table that grows has come. Before its columns are known, the panel shows only the note. */
export type PanelGrowth = {
  key: string;
  numRows: number;
  note: string;
  isGrowing: boolean;
  /** Whether rows that were read before have changed their order. */
  isMoved?: boolean;
  /** Set if the rows are the differences from another table. */
  changes?: ShownChanges;
};

/**
 * What the user can do about a panel that can't show its table, or whose table grows, about the version of a table, and
 * about the selected rows.
 */
export const panelActions = [
  'retry',
  'chooseFolder',
  'removeConnection',
  'openSettings',
  'cancel',
  'chooseVersion',
  'showNewest',
  'exportSelected',
  'chooseView',
  'compare',
] as const;
export type PanelAction = (typeof panelActions)[number];

/** What the user can do about a view file before its rows are shown. */
export const reviewActions = ['showRows', 'alwaysShowRows', 'connect', 'manageTrust', 'openText'] as const;
export type ReviewAction = (typeof reviewActions)[number];

/** What a view file names. Nothing of it has run. */
export type PanelReview = {
  title: string;
  facts: { label: string; text: string }[];
  /** Null if the file is not valid. */
  sql: string | null;
  note: string;
  actions: ReviewAction[];
};

/** Why a panel has no table. */
export type PanelFailure = { title: string; message: string; actions: PanelAction[] };

/** Requests from a table panel to the extension host. */
export type PanelHostMethods = {
  /** The webview is ready for requests. The result is the table to show. */
  ready: [params: null, result: PanelTable];
  /** Rows [start, end) as one Arrow IPC stream; of all columns, or of those at some positions, in their order. */
  rows: [params: { key: string; start: number; end: number; columns?: ColumnPosition[] }, result: Uint8Array];
  /**
   * Bytes [start, end) of the blob in a row, fewer at its end; at most `maxBlobRange` bytes. Only for a table with
   * `readsBlobs`, and a column of blobs.
   */
  blob: [params: { key: string; column: ColumnPosition; row: number; start: number; end: number }, result: Uint8Array];
  /**
   * Filters and sorts the table, at the version that the panel shows. The result is the table to show. If the request
   * fails, the panel shows the same rows as before. Only for a table with `hasViews`.
   */
  view: [params: { key: string; view: PanelView }, result: PanelTable];
  /**
   * Returns a filter that is `where` and the condition that a column has the value of a row, or another value with
   * `isOther`. Only for a table with `hasViews`.
   */
  filterByCell: [
    params: { key: string; where: string; column: ColumnPosition; row: number; isOther: boolean },
    result: string,
  ];
  /**
   * Counts the values of a column in the rows of a view, those of text that start with `start`. Only for a table with
   * `hasViews`.
   */
  columnValues: [
    params: { key: string; view: PanelView; column: ColumnPosition; start: string; timeZone: TimeZoneChoice },
    result: ColumnValues,
  ];
  /** Remembers what the user has set on the columns of the table. */
  keepColumns: [params: { key: string; settings: ColumnSettings }, result: null];
  /** The user chose an action of a failure, or stops a table that grows. */
  act: [params: { action: PanelAction | ReviewAction }, result: null];
} & FileMethods;

/** Requests that save a file in parts, where the user chooses. */
export type FileMethods = {
  /** Asks the user for a place. The result is null if the user chooses none. */
  createFile: [params: { name: string }, result: { id: number; name: string } | null];
  writeFile: [params: { id: number; bytes: Uint8Array }, result: null];
  /** Puts the file under its name, or gives it up. */
  closeFile: [params: { id: number; isComplete: boolean }, result: null];
};

/** Requests from a notebook output, whose messages are JSON: `data` is in base64. */
export type OutputHostMethods = Omit<FileMethods, 'writeFile'> & {
  writeFile: [params: { id: number; data: string }, result: null];
  /**
   * Opens the table of an output in a panel, with all its rows. `table` identifies it in the kernel. Without it, `data` is
   * the text of the output.
   */
  openTable: [params: { table: string | null; data: string | null }, result: null];
  /** In which zone timestamps are shown. */
  timeZone: [params: null, result: TimeZoneChoice];
};

/** Requests to a notebook output. */
export type OutputViewMethods = { showTimeZone: [params: TimeZoneChoice, result: null] };

/** Requests from the extension host to a table panel. */
export type PanelViewMethods = {
  /** Opens the box for the number of a row. */
  goToRow: [params: null, result: null];
  /** Returns the selected rows; null if there are none. */
  selection: [params: null, result: { key: string; selection: PanelSelection } | null];
  /** Shows the differences from another table, as if the user had chosen them in the panel. */
  showChanges: [params: { key: string; view: PanelView }, result: null];
  show: [params: PanelTable, result: null];
  grow: [params: PanelGrowth, result: null];
  /** Tells how far the view has come that the page waits for. */
  finding: [params: { note: string }, result: null];
  /** Tells the panel which version of its table is the newest now. */
  newest: [params: { key: string; newest: number }, result: null];
  /**
   * Filters, sorts and sets the columns as in a saved view. The result is false if that fails: the reason stands below
   * the line of the filter, and the panel shows the same as before.
   */
  applyView: [params: { view: PanelView; columns: ColumnSettings }, result: boolean];
  /** Shows what a view file names, instead of a table. */
  review: [params: PanelReview, result: null];
  /** Tells the panel which saved view it shows. */
  savedView: [params: SavedViewState, result: null];
  /** Tells the panel to show why it has no table. */
  fail: [params: PanelFailure, result: null];
};

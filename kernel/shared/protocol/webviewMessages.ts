// The messages between the extension host and the table panel, as `name: [params, result]`. The transport is
// `Endpoint` in rpc.ts.

/**
 * A column for the tree and the grid. `type` is the formatted Arrow type, for example `fixed_size_list<float>[128]`.
 */
export type ColumnInfo = { name: string; type: string; nullable: boolean };

/** A table opened in a panel. The panel shows only one version of the table, so that all pages are consistent. */
export type PanelTable = {
  /** `sales/eu/orders` */
  title: string;
  /** Identifies the table and its version. If a page arrives for another key, it is dropped. */
  key: string;
  columns: ColumnInfo[];
  numRows: number;
  version: number | null;
  /** Shown below the grid, for example the source of rows that are not from a catalog. */
  note?: string;
};

/** Requests from a table panel to the extension host. */
export type PanelHostMethods = {
  /** The webview is ready for requests. The result is the table to show. */
  ready: [params: null, result: PanelTable];
  /** Rows [start, end) as one Arrow IPC stream. */
  rows: [params: { key: string; start: number; end: number }, result: Uint8Array];
};

/** Requests from the extension host to a table panel. */
export type PanelViewMethods = {
  show: [params: PanelTable, result: null];
  /** Tells the panel to show why it has no table. */
  fail: [params: { title: string; message: string }, result: null];
};

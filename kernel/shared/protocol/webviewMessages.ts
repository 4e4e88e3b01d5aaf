// Every message between the processes of the product, by surface. `name: [params, result]`; a result of `void` is replied
// to as well. The transport is `Endpoint` in rpc.ts.

/** A column as the tree and the grid show it. `type` is the Arrow type in words, for instance `fixed_size_list<float>[128]`. */
export type ColumnInfo = { name: string; type: string; nullable: boolean };

/** A table opened in a panel, pinned to one version so that pages of it belong together. */
export type PanelTable = {
  /** `sales/eu/orders` */
  title: string;
  /** Tells one table from another; a page for another key is dropped. */
  key: string;
  columns: ColumnInfo[];
  numRows: number;
  version: number | null;
  /** Said under the grid, for instance where the rows came from when it is not a catalog. */
  note?: string;
};

/** What the extension host answers to a table panel. */
export type PanelHostMethods = {
  /** The webview listens; the reply is the table to show. */
  ready: [params: null, result: PanelTable];
  /** Rows [start, end) as one Arrow IPC stream. */
  rows: [params: { key: string; start: number; end: number }, result: Uint8Array];
};

/** What a table panel answers to the extension host. */
export type PanelViewMethods = {
  /** Shows another table in the same panel. */
  show: [params: PanelTable, result: null];
  /** Shows why there is nothing to show. */
  fail: [params: { title: string; message: string }, result: null];
};

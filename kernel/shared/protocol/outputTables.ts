import {
  type Check,
  isBoolean,
  isCount,
  isString,
  listOf,
  nullable,
  oneOf,
  optional,
  shapeFor,
} from '#shared/shape.ts';
import { type ColumnInfo, isColumnInfo, isPanelView, type PanelView } from './webviewMessages.ts';

// Messages about the tables that a notebook shows, between a kernel and the window that shows them in a table panel.

/** Where a catalog table of a kernel is, without secrets. */
export type KernelTable = {
  implementation: 'dir' | 'rest';
  /** The root of the directory, or the address of the server. */
  catalog: string;
  /** The database on the server, if the requests name one. */
  database?: string | undefined;
  namespacePath: string[];
  name: string;
  /** The version that the kernel reads, if it is not the newest one. */
  version?: number | undefined;
};

export const isKernelTable: Check<KernelTable> = shapeFor<KernelTable>({
  implementation: oneOf('dir', 'rest'),
  catalog: isString,
  database: optional(isString),
  namespacePath: listOf(isString),
  name: isString,
  version: optional(isCount),
});

/** A table that a cell opens in the panel, and which of its rows and columns. */
export type KernelView = {
  table: KernelTable;
  view: PanelView;
  /** The columns from left to right; all of them by default. */
  columns?: string[] | undefined;
};

export const isKernelView: Check<KernelView> = shapeFor<KernelView>({
  table: isKernelTable,
  view: isPanelView,
  columns: optional(listOf(isString)),
});

/** What a window answers to a view. `absent`: it has no panels, so the cell shows the first rows. */
export type ViewAnswer = { kind: 'shown' } | { kind: 'absent' } | { kind: 'refused'; problem: string };

export const isViewAnswer: Check<ViewAnswer> = (value): value is ViewAnswer => isKnownAnswer(value) || isRefusal(value);

const isKnownAnswer = shapeFor<{ kind: 'shown' | 'absent' }>({ kind: oneOf('shown', 'absent') });

const isRefusal = shapeFor<{ kind: 'refused'; problem: string }>({ kind: oneOf('refused'), problem: isString });

/** Requests the table of an output. `hasRows`: as rows of the kernel, also if it is a table of a catalog. */
export type OutputTableRequest = { output: string; hasRows: boolean };

export const isOutputTableRequest: Check<OutputTableRequest> = shapeFor<OutputTableRequest>({
  output: isString,
  hasRows: isBoolean,
});

/** Requests rows [start, end) of the table of an output, of all columns or of those with these names. */
export type OutputRowsRequest = { output: string; start: number; end: number; columns?: string[] | undefined };

export const isOutputRowsRequest: Check<OutputRowsRequest> = shapeFor<OutputRowsRequest>({
  output: isString,
  start: isCount,
  end: isCount,
  columns: optional(listOf(isString)),
});

/** The table of an output: of a catalog, or rows that the kernel has. */
export type OutputTable =
  | { kind: 'catalog'; table: KernelTable }
  | {
      kind: 'rows';
      /** The variable that holds the table, or null. */
      variable: string | null;
      columns: ColumnInfo[];
      numRows: number;
      /** Whether there are more rows than the kernel keeps. */
      isCut: boolean;
      /** Whether the rows were read after the output was made, because the output has only the first ones. */
      isReadAgain: boolean;
    };

const isCatalogTable = shapeFor<Extract<OutputTable, { kind: 'catalog' }>>({
  kind: oneOf('catalog'),
  table: isKernelTable,
});

const isRows = shapeFor<Extract<OutputTable, { kind: 'rows' }>>({
  kind: oneOf('rows'),
  variable: nullable(isString),
  columns: listOf(isColumnInfo),
  numRows: isCount,
  isCut: isBoolean,
  isReadAgain: isBoolean,
});

export const isOutputTable: Check<OutputTable> = (value): value is OutputTable =>
  isCatalogTable(value) || isRows(value);

import { isBoolean, isCount, isString, listOf, nullable, oneOf, optional, shapeFor } from '#shared/shape.ts';

// The differences between two tables, or two versions of a table, as a panel shows them.

export const changeKinds = ['added', 'removed', 'changed'] as const;
/** What happened to a row. */
export type ChangeKind = (typeof changeKinds)[number];

/** What a panel compares its table with, and which of the differences it shows. */
export type PanelChanges = {
  /** The namespaces and the name of the other table, in the same connection. */
  path: string[];
  version: number;
  /** Whether the other table is the earlier state. Otherwise the table of the panel is. */
  isBefore: boolean;
  /** The columns that identify a row; null for row ids. */
  key: string[] | null;
  /** The kind of the rows that are shown; null for all. */
  kind: ChangeKind | null;
};

export const isPanelChanges = shapeFor<PanelChanges>({
  path: listOf(isString),
  version: isCount,
  isBefore: isBoolean,
  key: nullable(listOf(isString)),
  kind: nullable(oneOf(...changeKinds)),
});

/** The number of rows of each kind. */
export type ChangeCounts = Record<ChangeKind, number>;

const isCounts = shapeFor<ChangeCounts>({ added: isCount, removed: isCount, changed: isCount });

/** How far a comparison has come. */
export type ChangesState = {
  /** All differing rows that were found. */
  counts: ChangeCounts;
  /** Those that can be read. Fewer if there are very many. */
  readable: ChangeCounts;
  /** Rows that were read of both tables, and how many they have. */
  rowsRead: number;
  rowsTotal: number;
  /** Rows that at least one table has, once all are compared. */
  compared: number;
  end: 'running' | 'complete' | 'canceled' | 'failed';
  /** Only if the tables could not be compared. */
  problem?: string | undefined;
};

export const isChangesState = shapeFor<ChangesState>({
  counts: isCounts,
  readable: isCounts,
  rowsRead: isCount,
  rowsTotal: isCount,
  compared: isCount,
  end: oneOf('running', 'complete', 'canceled', 'failed'),
  problem: optional(isString),
});

/** A column that only one of two tables has, or that has two types. */
export type ChangedColumn = { name: string; before?: string; after?: string };

/** A comparison that a panel shows instead of the rows of its table. */
export type ShownChanges = {
  /** `version 3`, or `shop/copy, version 1`. */
  before: string;
  after: string;
  columnChanges: ChangedColumn[];
  /** Columns that are shown. Those after them are the names of changed columns, and the values before a change. */
  numShown: number;
  state: ChangesState;
};

/** Returns the number of differences of a kind; null for all. */
export const countOfKind = (counts: ChangeCounts, kind: ChangeKind | null): number =>
  kind === null ? counts.added + counts.removed + counts.changed : counts[kind];

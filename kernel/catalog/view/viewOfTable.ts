import type { RowsSpec } from './tableRows.ts';

/** The rows that a view shows: a table, and what the user chose of it. */
export type ViewOfTable = RowsSpec & {
  readonly namespacePath: readonly string[];
  readonly name: string;
  /** Default: the newest. */
  readonly version?: number | undefined;
  /** The names of all columns. If they are given, SQL quotes those in the condition that are keywords. */
  readonly allColumns?: readonly string[] | undefined;
};

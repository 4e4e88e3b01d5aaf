import type { ColumnSettings, PanelView } from './webviewMessages.ts';

/** What a user sees of a table, under a name. */
export type SavedView = {
  readonly name: string;
  readonly view: PanelView;
  /** Default: the columns as in a new panel. */
  readonly columns?: ColumnSettings | undefined;
  /** Default: the version that the panel shows. */
  readonly version?: number | undefined;
};

/** All rows in the order of the table. */
export const wholeTable: PanelView = { where: '', orderBy: [] };

/** Whether two views have the same rows in the same order. Compares every field, also one that this code does not know. */
export const isSameView = (a: PanelView, b: PanelView): boolean => comparable(a) === comparable(b);

function comparable({ where, ...others }: PanelView): string {
  const entries = Object.entries(others).filter(([, value]) => value !== undefined);
  return JSON.stringify([where.trim(), ...entries.toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}

import type { PanelView } from './webviewMessages.ts';

/** Whether two views have the same rows in the same order. Compares every field, also one that this code does not know. */
export const isSameView = (a: PanelView, b: PanelView): boolean => comparable(a) === comparable(b);

function comparable({ where, ...others }: PanelView): string {
  const entries = Object.entries(others).filter(([, value]) => value !== undefined);
  return JSON.stringify([where.trim(), ...entries.toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}

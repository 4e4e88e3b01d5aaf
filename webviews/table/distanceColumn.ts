import type { ColumnSettings, PanelTable } from '#shared/protocol/webviewMessages.ts';
import { distanceColumn } from '#shared/vectorTypes.ts';
import { type ColumnChoices, noChoices, pin } from '../grid/columnLayout.ts';
import type { GridState } from '../grid/gridOptions.ts';
import { selectCell } from '../grid/selection.ts';

/** How the columns of a state were numbered: by those of a search, by those of the table, or by names, so that they fit the columns. */
type Numbering = 'search' | 'table' | 'names';

/**
 * Returns the state of a grid for a table with or without the distances of a search. They are the last column of the data, and
 * are shown first, because the rows are in their order. In the state, the fields of structs are numbered after the columns.
 */
export function withDistances(
  state: GridState | undefined,
  { columns, view, numRows }: PanelTable,
  numbering: Numbering,
): GridState | undefined {
  if (!view?.nearest) {
    const distances = columns.length;
    const renumber = (column: number): number[] =>
      column < distances ? [column] : column === distances ? [] : [column - 1];
    return state && numbering === 'search' ? { ...state, choices: renumbered(state.choices, renumber) } : state;
  }
  const start = { top: 0, left: 0, selection: selectCell({ row: numRows > 0 ? 0 : -1, column: 0 }) };
  const { choices, ...others } = state ?? { ...start, choices: noChoices };
  // The user has seen the column, and may have moved it.
  if (numbering === 'search') return { ...others, choices };
  const distances = columns.length - 1;
  const renumber = (column: number): number[] => [column < distances ? column : column + 1];
  const known = numbering === 'table' ? renumbered(choices, renumber) : choices;
  const { pinned } = pin(known, distances);
  return { ...others, ...start, choices: { ...known, pinned: [distances, ...pinned.slice(0, -1)] } };
}

const renumbered = (
  { pinned, hidden, widths, order, expanded }: ColumnChoices,
  renumber: (column: number) => number[],
): ColumnChoices => ({
  pinned: pinned.flatMap(renumber),
  hidden: hidden.flatMap(renumber),
  order: order.flatMap(renumber),
  expanded: expanded.flatMap(renumber),
  widths: Object.fromEntries(
    Object.entries(widths).flatMap(([column, width]) => renumber(Number(column)).map((next) => [next, width] as const)),
  ),
});

/** Returns the settings of the columns that the table itself has. */
export const withoutDistances = (settings: ColumnSettings): ColumnSettings => ({
  ...settings,
  order: settings.order.filter((name) => name !== distanceColumn),
  pinned: settings.pinned.filter((name) => name !== distanceColumn),
  hidden: settings.hidden.filter((name) => name !== distanceColumn),
  widths: settings.widths.filter(({ name }) => name !== distanceColumn),
});

import { columnNameProblem } from '#shared/fieldPath.ts';
import type { ColumnInfo } from '#shared/protocol/webviewMessages.ts';
import type { GridColumn } from './columnTree.ts';
import type { MenuItem } from './menu.ts';

/** A column that the rows are sorted by. */
export type SortedColumn = { readonly column: number; readonly isDescending: boolean };

/** What the user can do with the rows of a table that can be sorted and filtered. */
export type GridViewing = {
  /** The columns that the rows are sorted by, the first one first. */
  readonly sorted: readonly SortedColumn[];
  /** Sorts by these columns. */
  readonly sort: (sorted: readonly SortedColumn[]) => void;
  /** Shows only rows with the value of a cell, or only those with other values. */
  readonly filterByCell: (row: number, column: number, isOther: boolean) => void;
  /** Opens the filter of a column at a point. */
  readonly openFilter?: (column: number, at: { readonly x: number; readonly y: number }) => void;
  /** Whether a filter can have a column; the distances of a search are known only after it. Default: it can. */
  readonly canFilter?: (column: number) => boolean;
  /** Returns the entries of the menu of a cell that search by its vector. */
  readonly searchCell?: (row: number, column: number) => MenuItem[];
  /** Returns the entries of the menu of a column that search by a vector. */
  readonly searchColumn?: (column: number) => MenuItem[];
};

const unordered: readonly (readonly [start: RegExp, kind: string])[] = [
  [/^fixed_size_list</, 'vectors'],
  [/^(large_)?list/, 'lists'],
  [/^struct</, 'structs'],
  [/^map</, 'maps'],
  [/^(dense|sparse)_union</, 'unions'],
  [/^interval\[/, 'intervals'],
];

type OrderedColumn = Omit<ColumnInfo, 'fields'> & {
  /** Set for a nested field. */
  readonly parent?: number | undefined;
};

/** Returns why a column can be neither sorted nor filtered by value, as an end of a label; `undefined` if it can. */
export function whyUnordered({ name, type, blob, parent }: OrderedColumn): string | undefined {
  if (blob !== undefined) return 'blobs have no order';
  const kind = unordered.find(([start]) => start.test(type))?.[1];
  if (kind !== undefined) return `${kind} have no order`;
  // The path of a nested field quotes its names.
  return parent === undefined ? columnNameProblem(name) : undefined;
}

/**
 * Returns the order after a click on the sort button of a column: ascending, then descending, then as before.
 * @param isAdded whether the order of other columns stays
 */
export function nextOrder(sorted: readonly SortedColumn[], column: number, isAdded: boolean): SortedColumn[] {
  const before = sorted.find((each) => each.column === column);
  const others = sorted.filter((each) => each !== before);
  if (before?.isDescending === true) return isAdded ? others : [];
  const next = { column, isDescending: before !== undefined };
  if (!isAdded) return [next];
  return before ? sorted.map((each) => (each === before ? next : each)) : [...sorted, next];
}

const doNothing = (): void => {};

/** Returns the entries of the menu of a column that sort by it. */
export function sortMenu({ sorted, sort }: GridViewing, column: number, info: OrderedColumn): MenuItem[] {
  const reason = whyUnordered(info);
  const clear = sorted.length === 0 ? [] : [{ label: 'Clear Sort', run: () => sort([]) }];
  if (reason !== undefined) return [{ label: `Can't Sort: ${reason}`, run: doNothing, isDisabled: true }, ...clear];
  const others = sorted.filter((each) => each.column !== column);
  const item = (label: string, isDescending: boolean, before: readonly SortedColumn[]): MenuItem => ({
    label,
    run: () => sort([...before, { column, isDescending }]),
  });
  return [
    item('Sort Ascending', false, []),
    item('Sort Descending', true, []),
    ...(others.length === 0
      ? []
      : [item('Add to Sort, Ascending', false, others), item('Add to Sort, Descending', true, others)]),
    ...clear,
  ];
}

/** Returns the entry of the menu of a column that opens its filter at a point. */
export function filterMenu(
  { openFilter }: GridViewing,
  column: number,
  { name, parent }: Pick<GridColumn, 'name' | 'parent'>,
  at: { readonly x: number; readonly y: number },
): MenuItem[] {
  if (!openFilter) return [];
  // The path of a nested field quotes its names.
  if (parent === undefined && /[.`]/.test(name))
    return [{ label: "Can't Filter: its name has a dot or a backtick", run: doNothing, isDisabled: true }];
  return [{ label: 'Filter…', startsGroup: true, run: () => openFilter(column, at) }];
}

/** Returns the entries of the menu of a cell that filter by its value. */
export const valueMenu = ({ filterByCell }: GridViewing, row: number, column: number): MenuItem[] => [
  { label: 'Only This Value', run: () => filterByCell(row, column, false) },
  { label: 'Without This Value', run: () => filterByCell(row, column, true) },
];

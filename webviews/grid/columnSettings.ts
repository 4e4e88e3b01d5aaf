import type { ColumnSettings } from '#shared/protocol/webviewMessages.ts';
import { type ColumnChoices, noChoices, setWidth } from './columnLayout.ts';
import { expandColumn, type GridColumn, presentColumns } from './columnTree.ts';
import { type RowHeight, rowHeightOf } from './rowHeights.ts';

type NamedColumns = readonly Pick<GridColumn, 'name' | 'parent' | 'fields'>[];

/** Returns what a user has chosen by names, because another version of the table may have other columns. */
export function toSettings(
  columns: NamedColumns,
  { pinned, hidden, widths, order, expanded }: ColumnChoices,
  rowHeight: RowHeight,
): ColumnSettings {
  const names = (some: readonly number[]): string[] => some.flatMap((column) => columns[column]?.name ?? []);
  return {
    order: names(order),
    pinned: names(pinned),
    hidden: names(hidden),
    widths: Object.entries(widths).flatMap(([column, width]) => {
      const name = columns[Number(column)]?.name;
      return name === undefined ? [] : [{ name, width }];
    }),
    rowHeight,
    ...(expanded.length > 0 && { expanded: names(expanded) }),
  };
}

/** Returns the choices for the columns that the table still has. At least one column stays visible. */
export function fromSettings(
  columns: NamedColumns,
  { order, pinned, hidden, widths, rowHeight, expanded = [] }: ColumnSettings,
): { choices: ColumnChoices; rowHeight: RowHeight } {
  // A column of the table comes before a nested field whose path is the same text.
  const indexes = new Map([...columns.entries()].toReversed().map(([column, { name }]) => [name, column]));
  const columnsOf = (names: readonly string[]): number[] => [
    ...new Set(names.flatMap((name) => indexes.get(name) ?? [])),
  ];
  let choices: ColumnChoices = noChoices;
  // A struct in another one is expanded after it.
  for (const struct of columnsOf(expanded).toSorted((a, b) => a - b))
    if (presentColumns(columns, choices.expanded).includes(struct)) choices = expandColumn(choices, columns, struct);
  const all = presentColumns(columns, choices.expanded);
  const isPresent = new Set(all);
  const present = (names: readonly string[]): number[] => columnsOf(names).filter((column) => isPresent.has(column));
  choices = { ...choices, order: present(order), pinned: present(pinned) };
  const concealed = present(hidden);
  if (concealed.length < all.length) choices = { ...choices, hidden: concealed };
  for (const { name, width } of widths) {
    const column = indexes.get(name);
    if (column !== undefined) choices = setWidth(choices, column, width);
  }
  return { choices, rowHeight: rowHeightOf(rowHeight) };
}

import type { ColumnSettings } from '#shared/protocol/webviewMessages.ts';
import { type ColumnChoices, noChoices, setWidth } from './columnLayout.ts';
import { type RowHeight, rowHeightOf } from './rowHeights.ts';

/** Returns what a user has chosen by names, because another version of the table may have other columns. */
export function toSettings(
  columns: readonly { readonly name: string }[],
  { pinned, hidden, widths, order }: ColumnChoices,
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
  };
}

/** Returns the choices for the columns that the table still has. At least one column stays visible. */
export function fromSettings(
  columns: readonly { readonly name: string }[],
  { order, pinned, hidden, widths, rowHeight }: ColumnSettings,
): { choices: ColumnChoices; rowHeight: RowHeight } {
  const indexes = new Map(columns.map(({ name }, column) => [name, column]));
  const columnsOf = (names: readonly string[]): number[] => [
    ...new Set(names.flatMap((name) => indexes.get(name) ?? [])),
  ];
  let choices: ColumnChoices = { ...noChoices, order: columnsOf(order), pinned: columnsOf(pinned) };
  const concealed = columnsOf(hidden);
  if (concealed.length < columns.length) choices = { ...choices, hidden: concealed };
  for (const { name, width } of widths) {
    const column = indexes.get(name);
    if (column !== undefined) choices = setWidth(choices, column, width);
  }
  return { choices, rowHeight: rowHeightOf(rowHeight) };
}

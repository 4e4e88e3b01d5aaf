import { type ColumnChoices, wholeOrder } from '../columnLayout.ts';
import { columnKind, type ColumnKind } from './columnKinds.ts';

type NamedColumn = { readonly name: string; readonly type: string };

/** What the user looks for in the list of columns. */
export type ColumnSearch = { readonly text: string; readonly kind: ColumnKind | undefined };

/** Returns the columns with a part of their name and of a kind, as the table has them from left to right, hidden ones too. */
export function findColumns(
  columns: readonly NamedColumn[],
  { pinned, order }: ColumnChoices,
  { text, kind }: ColumnSearch,
): number[] {
  const wanted = text.trim().toLowerCase();
  const all = [
    ...new Set([...pinned.filter((column) => column < columns.length), ...wholeOrder(columns.length, order)]),
  ];
  return all.filter((column) => {
    const { name, type } = columns[column]!;
    return name.toLowerCase().includes(wanted) && (kind === undefined || columnKind(type) === kind);
  });
}

/** Shows or hides columns. At least one column stays visible. */
export function setShown(
  choices: ColumnChoices,
  numColumns: number,
  columns: readonly number[],
  isShown: boolean,
): ColumnChoices {
  const changed = new Set(columns);
  const others = choices.hidden.filter((column) => !changed.has(column));
  if (isShown) return { ...choices, hidden: others };
  const hidden = [...others, ...changed];
  // The first one stays if the table had no column otherwise.
  return { ...choices, hidden: hidden.length < numColumns ? hidden : hidden.filter((column) => column !== columns[0]) };
}

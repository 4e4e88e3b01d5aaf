import { type ColumnChoices, wholeOrder } from '../columnLayout.ts';
import { type GridColumn, structsAround } from '../columnTree.ts';
import { columnKind, type ColumnKind } from './columnKinds.ts';

type ListedColumns = readonly Pick<GridColumn, 'name' | 'type' | 'parent' | 'fields'>[];

/** What the user looks for in the list of columns. */
export type ColumnSearch = { readonly text: string; readonly kind: ColumnKind | undefined };

/**
 * Returns the columns with a part of their name and of a kind, as the table has them from left to right, hidden ones too.
 * A struct is also found by its fields, if they are not columns.
 * @param all the columns in the order of the table
 */
export function findColumns(
  columns: ListedColumns,
  all: readonly number[],
  { pinned, order }: ColumnChoices,
  { text, kind }: ColumnSearch,
): number[] {
  const wanted = text.trim().toLowerCase();
  const isPresent = new Set(all);
  const isFound = (column: number): boolean => {
    const { name, type, fields } = columns[column]!;
    const isIt = name.toLowerCase().includes(wanted) && (kind === undefined || columnKind(type) === kind);
    return isIt || fields.some(isFound);
  };
  return [...new Set([...pinned.filter((column) => isPresent.has(column)), ...wholeOrder(all, order)])].filter(isFound);
}

/** An entry of the list: a column, or a struct whose fields are the columns below it. */
export type ListEntry = {
  readonly column: number;
  /** Number of structs around it. */
  readonly level: number;
  readonly isExpanded: boolean;
};

/** Returns the entries of columns: before the fields of a struct, the struct. */
export function listEntries(columns: ListedColumns, found: readonly number[]): ListEntry[] {
  let open: readonly number[] = [];
  return found.flatMap((column) => {
    const around = structsAround(columns, column);
    const common = around.findIndex((struct, level) => open[level] !== struct);
    open = around;
    const added = common < 0 ? [] : around.slice(common);
    const level = around.length;
    return [
      ...added.map((struct, index) => ({ column: struct, level: level - added.length + index, isExpanded: true })),
      { column, level, isExpanded: false },
    ];
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

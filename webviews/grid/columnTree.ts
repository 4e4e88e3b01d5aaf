import { fieldPathText } from '#shared/fieldPath.ts';
import type { ColumnInfo, ColumnPosition } from '#shared/protocol/webviewMessages.ts';
import type { ColumnChoices } from './columnLayout.ts';

/** A column that the grid can show: one of the table, or a field that is nested in one. */
export type GridColumn = Omit<ColumnInfo, 'fields'> & {
  readonly numeric: boolean;
  /** The position of the column in the table; for a nested field, then its positions in the structs. */
  readonly path: readonly number[];
  /** The name without those of the structs around it. */
  readonly ownName: string;
  /** The struct that a nested field is in, as an index in the columns of the grid. */
  readonly parent: number | undefined;
  /** The fields of a struct that can be columns, as indexes in the columns of the grid. */
  readonly fields: readonly number[];
};

/** Maximum number of nested fields that can be columns. Structs with further fields stay whole. */
export const maxNestedColumns = 5_000;

const numericType = /^(u?int|halffloat|float|double|decimal)/;

/** Returns the columns of a table, and then the fields nested in them. */
export function gridColumns(tableColumns: readonly ColumnInfo[]): GridColumn[] {
  type Growing = Omit<GridColumn, 'fields'> & { fields: number[]; readonly names: readonly string[] };
  const infos: ColumnInfo[] = [...tableColumns];
  const columns = tableColumns.map((info, position): Growing => ({
    ...newColumn(info, [position]),
    names: [info.name],
  }));
  for (const [index, column] of columns.entries()) {
    const { fields = [], nullable } = infos[index]!;
    // The engine has no path to a field without a name.
    const isNamed = fields.every(({ name }) => name !== '');
    if (!isNamed || columns.length + fields.length > tableColumns.length + maxNestedColumns) continue;
    for (const [position, field] of fields.entries()) {
      const names = [...column.names, field.name];
      column.fields.push(columns.length);
      infos.push(field);
      columns.push({
        ...newColumn({ ...field, nullable: nullable || field.nullable }, [...column.path, position], index),
        name: fieldPathText(names),
        names,
      });
    }
  }
  return columns;
}

function newColumn(info: ColumnInfo, path: readonly number[], parent?: number) {
  const { name, nullable, blob } = info;
  // The type of a stored blob is a struct, which tells nothing about its values.
  const type = blob === undefined ? info.type : 'blob';
  const fields: number[] = [];
  const base = { name, type, nullable, ...(blob !== undefined && { blob }) };
  return { ...base, numeric: numericType.test(type), path, ownName: name, parent, fields };
}

/** Returns the position of a column in a request. */
export const positionOf = ({ path }: GridColumn): ColumnPosition => (path.length === 1 ? path[0]! : [...path]);

type TreeColumns = readonly Pick<GridColumn, 'parent' | 'fields'>[];

/** Returns the columns of a table in their order, with the fields of expanded structs in the place of the struct. */
export function presentColumns(columns: TreeColumns, expanded: readonly number[]): number[] {
  const isExpanded = new Set(expanded);
  const present: number[] = [];
  const add = (column: number): void => {
    if (isExpanded.has(column)) for (const field of columns[column]!.fields) add(field);
    else present.push(column);
  };
  for (const [column, { parent }] of columns.entries()) if (parent === undefined) add(column);
  return present;
}

/** Whether a column is a field of a struct, or of a struct in it. */
export function isWithin(columns: TreeColumns, column: number, struct: number): boolean {
  for (let at = columns[column]?.parent; at !== undefined; at = columns[at]!.parent) if (at === struct) return true;
  return false;
}

/** Returns the structs around a column, the outermost first. */
export function structsAround(columns: TreeColumns, column: number): number[] {
  const structs: number[] = [];
  for (let at = columns[column]?.parent; at !== undefined; at = columns[at]!.parent) structs.unshift(at);
  return structs;
}

/** Shows the fields of a struct instead of the struct. They are where it was, and pinned or hidden as it was. */
export function expandColumn(choices: ColumnChoices, columns: TreeColumns, struct: number): ColumnChoices {
  const { fields } = columns[struct]!;
  if (fields.length === 0 || choices.expanded.includes(struct)) return choices;
  const replace = (some: readonly number[]): number[] => some.flatMap((one) => (one === struct ? fields : [one]));
  const { pinned, hidden, order } = choices;
  return {
    ...choices,
    expanded: [...choices.expanded, struct],
    pinned: replace(pinned),
    hidden: replace(hidden),
    order: replace(order),
  };
}

/** Shows a struct instead of its fields, where the first of them was. It is hidden if all of them were. */
export function collapseColumn(choices: ColumnChoices, columns: TreeColumns, struct: number): ColumnChoices {
  if (!choices.expanded.includes(struct)) return choices;
  const isInside = (column: number): boolean => isWithin(columns, column, struct);
  const replace = (some: readonly number[]): number[] => {
    const first = some.findIndex(isInside);
    return some.flatMap((one, index) => (index === first ? [struct] : isInside(one) ? [] : [one]));
  };
  const hidden = new Set(choices.hidden);
  const isHidden = presentColumns(columns, choices.expanded)
    .filter(isInside)
    .every((column) => hidden.has(column));
  return {
    ...choices,
    expanded: choices.expanded.filter((one) => one !== struct && !isInside(one)),
    pinned: replace(choices.pinned),
    hidden: isHidden ? replace(choices.hidden) : choices.hidden.filter((one) => !isInside(one)),
    order: replace(choices.order),
  };
}

import { DataType, Precision } from '#arrow';
import { columnReader } from '#catalog/arrow/rowValues.ts';
import { SqlCursor } from '#shared/sqlTokens.ts';
import type { Table } from '#catalog/table/table.ts';
import { typedLiteral } from '#catalog/typedLiteral.ts';
import { CatalogError } from '#shared/errors.ts';
import { parseFieldPath, quotedFieldPath } from '#shared/fieldPath.ts';

/** Writes a column for a condition, or the path of a nested field; `undefined` for a name that a path can't have. */
export function conditionName(column: string): string | undefined {
  const path = parseFieldPath(column);
  return path && quotedFieldPath(path);
}

/** @throws CatalogError InvalidInput (13) for a name that a condition can't have */
function nameFor(column: string): string {
  const name = conditionName(column);
  if (name !== undefined) return name;
  const what = `Can't filter by "${column}": a filter can't have a name with these characters.`;
  throw new CatalogError('InvalidInput', what, 'Write a filter by hand.');
}

/**
 * Returns the condition that a column has a value, exactly. It is also true for a zero with the other sign.
 * @param value as in the rows of a query with `bigint`s
 * @throws CatalogError InvalidInput (13) for a value that SQL can't express
 */
export function equalCondition(type: DataType, value: unknown, column: string, operator: '=' | '<>' = '='): string {
  const name = nameFor(column);
  if (value === null) return `${name} IS NULL`;
  if (Number.isNaN(value)) return `isnan(${name})`;
  return `${comparedName(type, name)} ${operator} ${valueLiteral(type, value, column)}`;
}

/** Returns a column as it can be compared with a literal. */
export function comparedName(type: DataType, name: string): string {
  // The engine converts no literal to a float of 16 bits, but such a float to a longer one, exactly.
  const isHalf = DataType.isFloat(type) && type.precision === Precision.HALF;
  return isHalf ? `CAST(${name} AS DOUBLE)` : name;
}

/** Returns a value other than null and NaN as SQL. @throws as `equalCondition` */
export const valueLiteral = (type: DataType, value: unknown, column: string): string =>
  value === Infinity || value === -Infinity ? `CAST('${value}' AS DOUBLE)` : typedLiteral(type, value, column);

/** Returns the condition that a column has another value; null is another one too. @throws as `equalCondition` */
function otherCondition(type: DataType, value: unknown, column: string): string {
  const name = nameFor(column);
  if (value === null) return `${name} IS NOT NULL`;
  if (Number.isNaN(value)) return `(NOT isnan(${name}) OR ${name} IS NULL)`;
  return `(${equalCondition(type, value, column, '<>')} OR ${name} IS NULL)`;
}

/** Returns a filter that is true where both are. */
export function bothConditions(where: string | undefined, condition: string): string {
  if (where === undefined || where.trim() === '') return condition;
  // AND binds stronger than OR.
  let [isLoose, hasComment] = [false, false];
  for (const cursor = new SqlCursor(where); cursor.next();) {
    if (cursor.kind === 'word' && cursor.text.toLowerCase() === 'or') isLoose = true;
    if (cursor.kind === 'space' && cursor.text.startsWith('--')) hasComment = true;
  }
  const before = hasComment ? `${where}\n` : where.trim();
  return `${isLoose || hasComment ? `(${before})` : before} AND ${condition}`;
}

/** A cell, and whether only rows with its value are wanted or all others. */
export type CellCondition = { readonly column: string; readonly isOther: boolean };

/**
 * Returns the filter of the rows that have the value of a cell, or another one, in addition to a filter.
 * @param read returns the column of the cell, of one row
 * @throws CatalogError InvalidInput (13) for a column or a value that SQL can't express
 */
export async function narrowedFilter(
  read: () => ReturnType<ReturnType<Table['query']>['toArrow']>,
  where: string | undefined,
  { column, isOther }: CellCondition,
): Promise<string> {
  nameFor(column);
  const vector = (await read()).getChild(column);
  const data = vector?.data.find(({ length }) => length > 0);
  if (!vector || !data || vector.length !== 1)
    throw new CatalogError('InvalidInput', 'The row of the cell was not found.', 'Open the table again.');
  const value = columnReader(data)(0);
  const condition = isOther ? otherCondition : equalCondition;
  return bothConditions(where, condition(vector.type as DataType, value, column));
}

import { DataType, type Schema } from '#arrow';
import { CatalogError } from '#shared/errors.ts';
import { convertValue, isTypedArray, builtinTag } from '#catalog/arrow/convertValue.ts';
import { checkOptions } from './options.ts';
import { checkFilter } from '#catalog/query.ts';
import { sqlLiteral } from '#catalog/sqlText.ts';
import type { UpdateSpec } from '#catalog/table.ts';

/**
 * Checks an update and returns its columns with the SQL of the new values. The checks are the same for every
 * implementation.
 * @throws CatalogError InvalidInput (13) for no column, a column given twice, a value without a literal, bad SQL text
 */
export function updateEntries(spec: UpdateSpec): [column: string, sql: string][] {
  checkOptions('update', spec, ['where', 'values', 'valuesSql']);
  if (spec?.where !== undefined) checkFilter(spec.where);
  const values = Object.entries(spec?.values ?? {});
  const valuesSql = Object.entries(spec?.valuesSql ?? {});
  const twice = valuesSql.find(([column]) => Object.hasOwn(spec.values ?? {}, column));
  if (twice) fail(`The update has two values for "${twice[0]}".`, 'Set it either in values or in valuesSql.');
  const noSql = valuesSql.find(([, sql]) => typeof sql !== 'string' || sql.trim() === '');
  if (noSql) fail(`The SQL for "${noSql[0]}" is missing.`, 'Write an expression, for instance "price * 2".');
  if (values.length + valuesSql.length === 0) {
    fail('The update changes no column.', 'Write for instance update({ where: "id = 3", values: { name: "mug" } }).');
  }
  return [...values.map(([column, value]): [string, string] => [column, sqlLiteral(value, column)]), ...valuesSql];
}

/**
 * Rejects values that the engine would silently change: the engine stores null for a list of another length, infinity
 * for a number that is too large, and whole seconds for fractions of a second. The engine itself checks strings and SQL
 * expressions.
 * @param schemaOf returns the schema of the table; called only if a value needs this check
 * @throws CatalogError SchemaValidation (20) naming the value and what the column holds
 */
export async function checkFits({ values = {} }: UpdateSpec, schemaOf: () => Promise<Schema>): Promise<void> {
  const checked = Object.entries(values).filter(([, value]) => isNumber(value) || isWhole(value) || isDate(value));
  if (checked.length === 0) return;
  const { fields } = await schemaOf();
  for (const [column, value] of checked) {
    const type = fields.find(({ name }) => name === column)?.type;
    if (type && isLossy(type, value)) convertValue(type, value, { column });
  }
}

const isNumber = (value: unknown): boolean => typeof value === 'number' || typeof value === 'bigint';
const isDate = (value: unknown): boolean => typeof value === 'object' && value !== null && builtinTag(value) === 'Date';
/** A list, or bytes. */
const isWhole = (value: unknown): boolean => Array.isArray(value) || isTypedArray(value);

function isLossy(type: DataType, value: unknown): boolean {
  if (isNumber(value)) return DataType.isInt(type) || DataType.isFloat(type) || DataType.isDecimal(type);
  if (isDate(value)) return DataType.isTimestamp(type) || DataType.isDate(type);
  return DataType.isList(type) || DataType.isFixedSizeList(type) || DataType.isFixedSizeBinary(type);
}

function fail(what: string, hint: string): never {
  throw new CatalogError('InvalidInput', what, hint);
}

import type { DataType, Schema } from '#arrow';
import { CatalogError } from '#shared/errors.ts';
import { checkOptions } from './options.ts';
import { checkFilter } from '#catalog/query/query.ts';
import { sqlLiteral } from '#catalog/sqlText.ts';
import { typedLiteral } from '#catalog/typedLiteral.ts';
import type { ColumnsSql, UpdateOptions, UpdateSpec } from '#catalog/table/table.ts';
import { isRecord } from '#shared/records.ts';
import { describeType } from './tableArguments.ts';

/**
 * Returns the update that a call describes: values, SQL, or columns with their SQL as in LanceDB's package.
 * @throws CatalogError InvalidInput (13) for an unknown option, two conditions, a condition that is not a string, or a
 * column whose SQL is not a string
 */
export function updateArguments(given: UpdateSpec | ColumnsSql, options: UpdateOptions): PlainUpdate {
  checkOptions('update', options, ['signal', 'where']);
  const { where: condition } = options;
  checkCondition(options);
  if (!isUpdateSpec(given)) return { where: condition, valuesSql: columnsSql(given) };
  checkOptions('update', given, ['where', 'values', 'valuesSql']);
  checkCondition(given);
  if (condition !== undefined && given.where !== undefined) {
    fail('The update has two conditions.', 'Set where once.');
  }
  const { where = condition, values, valuesSql } = given;
  return { where, values: plain(values), valuesSql: plain(valuesSql) };
}

/**
 * Refuses a `where` that is set to `undefined`: this is usually a mistake, and an update without a condition changes
 * every row.
 */
function checkCondition(given: object | null | undefined): void {
  if (given && 'where' in given) checkFilter(given.where as string);
}

/** An update whose values are in objects and not in maps. */
type PlainUpdate = {
  where: string | undefined;
  values?: Readonly<Record<string, unknown>> | undefined;
  valuesSql?: Readonly<Record<string, string>> | undefined;
};

const isPart = (part: unknown): boolean => part !== undefined && typeof part !== 'string';

/**
 * Whether `given` is an `UpdateSpec` and not an object of columns with their SQL. A column can also have the name
 * `values`, but its SQL is a string, while the `values` of an `UpdateSpec` are an object.
 */
function isUpdateSpec(given: UpdateSpec | ColumnsSql): given is UpdateSpec {
  if (!isRecord(given) || given instanceof Map) return given === undefined || given === null;
  return isPart(given['values']) || isPart(given['valuesSql']) || Object.keys(given).every((key) => key === 'where');
}

function columnsSql(given: ColumnsSql): Readonly<Record<string, string>> {
  if (!isRecord(given)) fail(`Expected an object for update, got ${describeType(given)}.`, example);
  const columns = plain(given) ?? {};
  for (const [column, sql] of Object.entries(columns)) {
    if (typeof sql === 'string') continue;
    const hint = `For values write update({ values: { … } }), and for SQL a string.`;
    fail(`Expected SQL for the column "${column}" of update, got ${describeType(sql)}.`, hint);
  }
  return columns;
}

function plain<T>(
  given: ReadonlyMap<string, T> | Readonly<Record<string, T>> | undefined,
): Record<string, T> | undefined {
  if (given === undefined || given === null) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- not a map
  return given instanceof Map ? Object.fromEntries(given) : (given as Record<string, T>);
}

const example = 'Write for instance update({ where: "id = 3", values: { name: "mug" } }).';

/**
 * Checks an update and returns its columns with the SQL of the new values. The checks are the same for every
 * implementation. Values are converted as in `add`, because the engine would silently change a value of another type.
 * @param schemaOf returns the schema of the table; `updateEntries` calls it only if a value is not null
 * @throws CatalogError InvalidInput (13) for no column, a column given twice, a value without a literal, bad SQL text;
 * SchemaValidation (20) for a value that its column can't hold
 */
export async function updateEntries(
  spec: PlainUpdate,
  schemaOf: () => Promise<Schema>,
): Promise<[column: string, sql: string][]> {
  if (spec.where !== undefined) checkFilter(spec.where);
  const values = Object.entries(spec.values ?? {});
  const valuesSql = Object.entries(spec.valuesSql ?? {});
  const twice = valuesSql.find(([column]) => Object.hasOwn(spec.values ?? {}, column));
  if (twice) fail(`The update has two values for "${twice[0]}".`, 'Set it either in values or in valuesSql.');
  const noSql = valuesSql.find(([, sql]) => typeof sql !== 'string' || sql.trim() === '');
  if (noSql) fail(`The SQL for "${noSql[0]}" is missing.`, 'Write an expression, for instance "price * 2".');
  if (values.length + valuesSql.length === 0) {
    fail('The update changes no column.', example);
  }
  const hasValue = values.some(([, value]) => value !== null && value !== undefined);
  const fields = hasValue ? (await schemaOf()).fields : [];
  const literals = values.map(([column, value]): [string, string] => {
    const type = fields.find(({ name }) => name === column)?.type as DataType | undefined;
    // The engine reports a column that does not exist.
    return [column, type ? typedLiteral(type, value, column) : sqlLiteral(value, column)];
  });
  return [...literals, ...valuesSql];
}

function fail(what: string, hint: string): never {
  throw new CatalogError('InvalidInput', what, hint);
}

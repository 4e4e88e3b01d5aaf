import { CatalogError } from '#shared/errors.ts';
import { checkOptions } from './options.ts';
import { checkFilter } from './query.ts';
import { sqlLiteral } from './sqlLiteral.ts';
import type { UpdateSpec } from './table.ts';

/**
 * The columns of an update with the SQL of their new values, checked: the same for every implementation.
 * @throws CatalogError InvalidInput (13) for no column, one that is there twice, a value without a literal, bad SQL text
 */
export function updateEntries(spec: UpdateSpec): [column: string, sql: string][] {
  checkOptions('update', spec, ['where', 'values', 'valuesSql']);
  if (spec?.where !== undefined) checkFilter(spec.where);
  const values = Object.entries(spec?.values ?? {});
  const valuesSql = Object.entries(spec?.valuesSql ?? {});
  const twice = valuesSql.find(([column]) => Object.hasOwn(spec.values ?? {}, column));
  if (twice) fail(`The update has two values for "${twice[0]}".`, 'Give it in values or in valuesSql.');
  const noSql = valuesSql.find(([, sql]) => typeof sql !== 'string' || sql.trim() === '');
  if (noSql) fail(`The SQL for "${noSql[0]}" is not there.`, 'Write an expression, for instance "price * 2".');
  if (values.length + valuesSql.length === 0) {
    fail('The update changes no column.', 'Write for instance update({ where: "id = 3", values: { name: "mug" } }).');
  }
  return [...values.map(([column, value]): [string, string] => [column, sqlLiteral(value, column)]), ...valuesSql];
}

function fail(what: string, hint: string): never {
  throw new CatalogError('InvalidInput', what, hint);
}

import { CatalogError } from '#shared/errors.ts';
import { checkChoice, checkOptions } from './options.ts';
import type { FullTextOptions, Ordering, QueryOptions, QuerySpec } from './querySpec.ts';
import { checkText, checkTexts, whatItIs } from './tableArguments.ts';

// What a query is narrowed by, checked when it is said: a misspelled option that is quietly dropped finds other rows.

/** @throws CatalogError InvalidInput (13) for an unknown option, or one that makes no sense */
export function checkVectorOptions(options: QueryOptions): QueryOptions {
  checkOptions('nearestTo', options, [
    'column',
    'distanceType',
    'nprobes',
    'refineFactor',
    'ef',
    'bypassVectorIndex',
    'lowerBound',
    'upperBound',
  ]);
  if (options.column !== undefined) checkText('nearestTo', 'column', options.column);
  checkChoice('nearestTo', 'distanceType', options.distanceType, ['l2', 'cosine', 'dot']);
  for (const name of ['nprobes', 'refineFactor', 'ef'] as const) {
    const value: unknown = options[name];
    if (value !== undefined && !(Number.isSafeInteger(value) && Number(value) >= 1)) {
      refuse(`nearestTo: ${text(value)} is no ${name}.`, 'Give a whole number from 1.');
    }
  }
  for (const name of ['lowerBound', 'upperBound'] as const) {
    const value: unknown = options[name];
    if (value !== undefined && !Number.isFinite(value))
      refuse(`nearestTo: ${text(value)} is no ${name}.`, 'Give a number.');
  }
  return options;
}

/** @throws CatalogError InvalidInput (13) for an unknown option, or one that makes no sense */
export function checkFullTextOptions(options: FullTextOptions): FullTextOptions {
  checkOptions('fullTextSearch', options, ['columns']);
  return options.columns === undefined ? {} : { columns: checkTexts('fullTextSearch', 'column', options.columns) };
}

/**
 * The columns of a result, by name or as new ones by their SQL.
 * @throws CatalogError InvalidInput (13) for none, or what is no text
 */
export function checkSelection(
  columns: readonly string[] | string | Readonly<Record<string, string>>,
): Pick<QuerySpec, 'columns' | 'columnAliases'> {
  if (typeof columns === 'string') return { columns: [checkText('select', 'column', columns)] };
  if (isList(columns)) return { columns: checkTexts('select', 'column', columns) };
  checkTexts('select', 'column', Object.keys(Object(columns)));
  for (const [name, sql] of Object.entries(columns)) checkText('select', `SQL for "${name}"`, sql);
  return { columnAliases: { ...columns } };
}

/** @throws CatalogError InvalidInput (13) for no column, or an unknown option of one */
export function checkOrder(ordering: string | Ordering | readonly (string | Ordering)[]): Ordering[] {
  const list: readonly (string | Ordering)[] = isList(ordering) ? ordering : [ordering];
  if (list.length === 0) refuse('orderBy names no column.', 'Write for instance orderBy("price").');
  return list.map((one) => {
    const order = typeof one === 'string' ? { column: one } : one;
    checkOptions('orderBy', order, ['column', 'descending', 'nullsFirst']);
    checkText('orderBy', 'column', order?.column);
    return order;
  });
}

// `Array.isArray` alone does not narrow a readonly array.
const isList = <T>(value: T | readonly T[] | string | object): value is readonly T[] => Array.isArray(value);

const text = (value: unknown): string => (typeof value === 'number' ? String(value) : whatItIs(value));

function refuse(what: string, hint: string): never {
  throw new CatalogError('InvalidInput', what, hint);
}

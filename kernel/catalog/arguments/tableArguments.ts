import { CatalogError } from '#shared/errors.ts';

// Argument checks of table calls, made before anything is sent or opened, because a notebook cell can pass any value.

/** Describes a value for an error message: `null`, "a number", "an object". */
export function describeType(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** @throws CatalogError InvalidInput (13) unless the value is a non-empty string */
export function checkText(call: string, what: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  const found = value === '' ? 'empty' : `${describeType(value)}, not a string`;
  throw new CatalogError('InvalidInput', `${call}: the ${what} is ${found}.`, `Pass the ${what} as a string.`);
}

/** @throws CatalogError InvalidInput (13) unless the value is `true` or `false` */
export function checkFlag(call: string, what: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw new CatalogError('InvalidInput', `${call}: the ${what} is ${describeType(value)}.`, 'Pass true or false.');
}

/** @throws CatalogError InvalidInput (13) unless the value is a whole number from 1 */
export function checkCount(call: string, what: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
  throw new CatalogError(
    'InvalidInput',
    `${call}: ${String(value)} is not a valid ${what}.`,
    'Pass a whole number from 1.',
  );
}

/** @throws CatalogError InvalidInput (13) unless the value is a non-empty list of non-empty strings */
export function checkTexts(call: string, what: string, value: unknown): string[] {
  if (value !== undefined && !Array.isArray(value)) {
    const found = `Expected a list with each ${what} for ${call}, got ${describeType(value)}.`;
    throw new CatalogError('InvalidInput', found, 'Pass a list of names.');
  }
  const list: unknown[] = value ?? [];
  if (list.length > 0) return list.map((item) => checkText(call, what, item));
  throw new CatalogError('InvalidInput', `${call} needs at least one ${what}.`, `Pass a list of names.`);
}

import { isRecord } from '#shared/records.ts';

// What must be true of data that came from a wire or a file before it is taken for what its type says.

/** Whether a value has a shape. */
export type Check = (value: unknown) => boolean;

export const isText: Check = (value) => typeof value === 'string';
export const isFlag: Check = (value) => typeof value === 'boolean';
/** A finite number that is not negative: rows, bytes, seconds, milliseconds since 1970. */
export const isAmount: Check = (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0;
export const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;

export const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

/** JSON has no `undefined` in lists and drops it in objects; files say null. */
export const nullable =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);

export const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

export const mapOf =
  (check: Check): Check =>
  (value) =>
    isRecord(value) && Object.values(value).every(check);

export const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);

export const anyOf =
  (...checks: readonly Check[]): Check =>
  (value) =>
    checks.some((check) => check(value));

export const allOf =
  (...checks: readonly Check[]): Check =>
  (value) =>
    checks.every((check) => check(value));

/** An object whose fields fit, one check for each; fields that are not named may be anything. */
export const shape =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isRecord(value) && Object.entries(fields).every(([name, check]) => check(value[name]));

/** As `shape`, complete for a type: a field that is forgotten does not compile. */
export const shapeOf = <T extends object>(fields: { readonly [K in keyof Required<T>]: Check }): Check => shape(fields);

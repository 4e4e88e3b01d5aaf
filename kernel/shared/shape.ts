import { isRecord } from './records.ts';

// Checks whether data from outside (a wire, a file, a user's object) has the shape that the code expects. `shape` and
// the functions beside it build checks from checks. For JSON of other products use fields.ts, because in such JSON a
// missing field is normal.

/** Returns whether a value is a `T`. */
export type Check<T = unknown> = (value: unknown) => value is T;

/** A check of an object, with the names of the fields that it knows. */
export type ShapeCheck<T> = Check<T> & { readonly fields: readonly string[] };

type CheckedBy<C> = C extends Check<infer T> ? T : never;
type Shaped<F> = { [K in keyof F]: CheckedBy<F[K]> };

export const isString: Check<string> = (value) => typeof value === 'string';
export const isBoolean: Check<boolean> = (value) => typeof value === 'boolean';
/** Excludes infinity, because JSON can contain it: `1e999`. */
export const isFiniteNumber: Check<number> = (value): value is number => Number.isFinite(value);
/** A finite number, not negative: rows, bytes, seconds, milliseconds since 1970. */
export const isNonNegativeNumber: Check<number> = (value): value is number => isFiniteNumber(value) && value >= 0;
export const isInteger: Check<number> = (value): value is number => Number.isSafeInteger(value);
export const isCount: Check<number> = (value): value is number => isInteger(value) && value >= 0;

export const optional =
  <T>(check: Check<T>): Check<T | undefined> =>
  (value): value is T | undefined =>
    value === undefined || check(value);

/**
 * Accepts `null` too. For files, because they have `null` instead of `undefined`: JSON drops `undefined` in objects and
 * can't have it in lists.
 */
export const nullable =
  <T>(check: Check<T>): Check<T | null> =>
  (value): value is T | null =>
    value === null || check(value);

export const listOf =
  <T>(check: Check<T>): Check<T[]> =>
  (value): value is T[] =>
    Array.isArray(value) && value.every((each) => check(each));

export const mapOf =
  <T>(check: Check<T>): Check<Record<string, T>> =>
  (value): value is Record<string, T> =>
    isRecord(value) && Object.values(value).every((each) => check(each));

export const oneOf =
  <const T>(...values: readonly T[]): Check<T> =>
  (value): value is T =>
    values.some((each) => each === value);

export const anyOf =
  <const C extends readonly Check[]>(...checks: C): Check<CheckedBy<C[number]>> =>
  (value): value is CheckedBy<C[number]> =>
    checks.some((check) => check(value));

export const bothOf =
  <A, B>(first: Check<A>, second: Check<B>): Check<A & B> =>
  (value): value is A & B =>
    first(value) && second(value);

/**
 * Checks the named fields of an object; other fields may be anything. Inherited fields are checked too, because the
 * code that uses the object reads them.
 */
export function shape<const F extends Readonly<Record<string, Check>>>(fields: F): ShapeCheck<Shaped<F>> {
  const checks = Object.entries(fields);
  const isShaped = (value: unknown): value is Shaped<F> =>
    isRecord(value) && checks.every(([name, check]) => check(value[name]));
  return Object.assign(isShaped, { fields: Object.keys(fields) });
}

/**
 * Like `shape`, but complete for a type: code that forgets a field, or gives a field the check of another type, does
 * not compile.
 */
export const shapeFor = <T extends object>(fields: {
  readonly [K in keyof Required<T>]: Check<T[K]>;
}): ShapeCheck<T> => shape(fields) as Check<object> as ShapeCheck<T>;

/**
 * Returns a value that passes the check. @throws the error that `refuse` returns or throws, if the value does not pass
 */
export function ensureShape<T>(value: unknown, check: Check<T>, refuse: (value: unknown) => Error): T {
  if (check(value)) return value;
  throw refuse(value);
}

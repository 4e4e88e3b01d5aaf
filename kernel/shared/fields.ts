import { isRecord } from './records.ts';
import { isFiniteNumber, isString } from './shape.ts';

// Reads fields of JSON that another product wrote: Kubernetes, Ray, a cloud, a plugin. A field of an unexpected type
// counts as missing, and no function throws. Data that this product writes is checked completely, by shape.ts.

/** Returns the value at a path of keys; `undefined` if a key is missing. */
export function fieldAt(value: unknown, ...path: readonly string[]): unknown {
  let here = value;
  for (const key of path) {
    if (!isRecord(here) || !Object.hasOwn(here, key)) return undefined;
    here = here[key];
  }
  return here;
}

/** Returns a string that is not empty. */
export function stringAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = fieldAt(value, ...path);
  return isString(found) && found !== '' ? found : undefined;
}

export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = fieldAt(value, ...path);
  return isFiniteNumber(found) ? found : undefined;
}

export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = fieldAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** Returns the strings of a list, without other elements. */
export function textsAt(value: unknown, ...path: readonly string[]): string[] {
  return listAt(value, ...path).filter(isString);
}

/** Returns the strings of a map, without other values. */
export function mapAt(value: unknown, ...path: readonly string[]): Readonly<Record<string, string>> {
  const found = fieldAt(value, ...path);
  if (!isRecord(found)) return {};
  return Object.fromEntries(Object.entries(found).filter((entry): entry is [string, string] => isString(entry[1])));
}

import { isRecord } from '#shared/records.ts';

// Reads fields of API replies. A missing field and one of an unexpected type read the same; nothing throws.

/** Returns the value at a path of keys; `undefined` if a key is missing. */
export function fieldAt(value: unknown, ...path: readonly string[]): unknown {
  let here = value;
  for (const key of path) {
    if (!isRecord(here) || !Object.hasOwn(here, key)) return undefined;
    here = here[key];
  }
  return here;
}

export function stringAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = fieldAt(value, ...path);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = fieldAt(value, ...path);
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined;
}

export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = fieldAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** Returns the strings of a list, without other elements. */
export function textsAt(value: unknown, ...path: readonly string[]): string[] {
  return listAt(value, ...path).filter((one) => typeof one === 'string');
}

export function mapAt(value: unknown, ...path: readonly string[]): Readonly<Record<string, string>> {
  const found = fieldAt(value, ...path);
  if (!isRecord(found)) return {};
  return Object.fromEntries(Object.entries(found).filter((entry): entry is [string, string] => isText(entry[1])));
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** Returns whether a status condition holds, such as `Ready` or `Established`; `undefined` if it is not set. */
export function conditionAt(value: unknown, type: string, ...path: readonly string[]): boolean | undefined {
  const condition = listAt(value, ...(path.length === 0 ? ['status', 'conditions'] : path)).find(
    (one) => stringAt(one, 'type') === type,
  );
  return condition === undefined ? undefined : stringAt(condition, 'status') === 'True';
}

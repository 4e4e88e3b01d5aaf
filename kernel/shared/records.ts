/** Whether the user's answer means yes; an empty or any other answer means no. */
export const isAffirmative = (answer: string): boolean => /^\s*y(?:es)?\s*$/i.test(answer);

/** Whether an untrusted value is an object with fields to check; an array is not. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses the text of a JSON object; `undefined` for anything else. */
export function parseRecord(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Removes entries with the value `undefined`, for readers that treat such a key as set. */
export const definedEntries = <T extends object>(entries: T): Given<T> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same object with fewer of its entries
  Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as Given<T>;

/** Returns the fields of an untrusted value; an empty object if the value is not an object. */
export const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

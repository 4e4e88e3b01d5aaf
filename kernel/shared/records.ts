/** Whether what somebody has typed says yes; nothing and everything else says no. */
export const isYes = (answer: string): boolean => /^\s*y(?:es)?\s*$/i.test(answer);

/** Whether something that came from outside is an object with fields to be looked at one by one; an array is none. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The entries that have a value: for a reader to whom a key that is there is one, `undefined` or not. */
export const given = <T extends object>(entries: T): Given<T> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same object with fewer of its entries
  Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as Given<T>;

/** The fields of something that came from outside; none when it is no object. */
export const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

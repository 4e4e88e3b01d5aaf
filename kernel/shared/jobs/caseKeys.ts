import { isRecord } from '#shared/records.ts';

/** Fields whose keys are user-defined names (columns, headers, node labels). These keys stay unchanged. */
const ownNames: ReadonlySet<string> = new Set([
  'inputs',
  'headers',
  'storageOptions',
  'storage_options',
  'kept',
  'cluster',
]);

/** Converts keys to snake_case at every depth, for wires and files; `undefined` is omitted. */
export const toSnake = (value: unknown): unknown => renamed(value, snakeKey);

/** Converts keys to camelCase at every depth. */
export const toCamel = (value: unknown): unknown => renamed(value, camelKey);

function renamed(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one) => renamed(one, rename));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).flatMap(([key, one]) =>
    one === undefined ? [] : [[rename(key), ownNames.has(key) ? one : renamed(one, rename)] as const],
  );
  return Object.fromEntries(entries);
}

// A key with a dot, such as `headers.x-team`, is a user-defined name too.
const snakeKey = (key: string): string =>
  key.includes('.') ? key : key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camelKey = (key: string): string =>
  key.includes('.') ? key : key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

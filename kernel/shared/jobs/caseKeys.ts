import { isRecord } from '#shared/records.ts';

/** Fields whose keys are somebody's own names (columns, headers, labels of nodes) and stay as they are. */
const ownNames: ReadonlySet<string> = new Set([
  'inputs',
  'headers',
  'storageOptions',
  'storage_options',
  'kept',
  'cluster',
]);

/** JSON as it goes on wires and into files: keys in snake_case all the way down; `undefined` is left out. */
export const toSnake = (value: unknown): unknown => renamed(value, snakeKey);

/** The same back: keys in camelCase all the way down. */
export const toCamel = (value: unknown): unknown => renamed(value, camelKey);

function renamed(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one) => renamed(one, rename));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).flatMap(([key, one]) =>
    one === undefined ? [] : [[rename(key), ownNames.has(key) ? one : renamed(one, rename)] as const],
  );
  return Object.fromEntries(entries);
}

// A key with a dot, such as `headers.x-team`, is somebody's own name as well.
const snakeKey = (key: string): string =>
  key.includes('.') ? key : key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camelKey = (key: string): string =>
  key.includes('.') ? key : key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

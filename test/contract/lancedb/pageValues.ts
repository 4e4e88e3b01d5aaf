import { writeFileSync } from 'node:fs';

// The test, the program with LanceDB's package and the kernel run this file, so it imports only modules of Node.

/**
 * Converts a value that a page read to JSON, so that values of two processes can be compared. These differences between
 * LanceDB's package and this client are documented or without meaning, so they are left out of the comparison:
 *
 * - 64-bit integers: the package returns bigints, this client numbers where they are exact
 * - lists and vectors: the package returns Arrow's vectors, this client arrays and typed arrays
 * - rows and structs: the package returns Arrow's rows, this client plain objects
 * - timestamps and dates: the package returns milliseconds, this client `Date`
 * - undefined is null, which is how JSON writes it in arrays
 * - the order of an object's properties; the columns of tables are compared by their schemas
 */
export function toComparable(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : `${value}n`;
  // JSON has no NaN and no infinity.
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value !== 'object') return value;
  if (value instanceof Date) return value.getTime();
  if (value instanceof Map) return toComparable([...value]);
  if (isList(value)) return Array.from(value, toComparable);
  const entries = Object.entries(hasToJson(value) ? (value.toJSON() as object) : value);
  const sorted = entries.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, one]) => [name, toComparable(one)]));
}

/** Whether a value is an array, a typed array or a vector of Arrow. */
const isList = (value: object): value is Iterable<unknown> => Symbol.iterator in value && 'length' in value;

/** Whether a value is a row of Arrow. Plain objects of this client may also have `toJSON`, and are read as they are. */
const hasToJson = (value: object): value is { toJSON(): unknown } =>
  Object.getPrototypeOf(value) !== Object.prototype && 'toJSON' in value;

/** Writes what a page read to a file, by the names of the readings. */
export function writeReadings(file: string, results: readonly Record<string, unknown>[]): void {
  const entries = results.flatMap((result) => Object.entries(result));
  writeFileSync(file, JSON.stringify(entries.map(([name, value]) => [name, toComparable(value)])));
}

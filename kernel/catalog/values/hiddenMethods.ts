import { bytesText, floatText } from '#shared/format/numbers.ts';
import { type InspectOptions, inspectSymbol, styled } from './inspectStyle.ts';

// JSON can't hold bigints, maps and typed arrays, and `util.inspect` prints a hundred numbers of a vector. So such
// values in rows get their own methods for JSON and for `util.inspect`. The methods are not enumerable: comparisons,
// copies and `Object.keys` see plain values, and the prototypes of the language stay as they are.

type ValueArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array;

/** Adds a method to a list or an object that holds bigints, so that JSON can hold it. */
export function withBigintJson<T extends object>(value: T): T {
  // A column may have the name `toJSON`. Its value stays.
  if (Object.hasOwn(value, 'toJSON')) return value;
  return Object.defineProperty(value, 'toJSON', bigintJson);
}

/** Adds a method that writes a map to JSON as an object, with the keys as text. */
export const withMapJson = <T extends Map<unknown, unknown>>(map: T): T =>
  Object.defineProperty(map, 'toJSON', mapJson);

/** Adds methods that write a vector to JSON as a list, and to outputs as short text. */
export function withVectorMethods<T extends ValueArray>(vector: T): T {
  Object.defineProperty(vector, 'toJSON', vectorJson);
  return Object.defineProperty(vector, inspectSymbol, vectorInspect);
}

/** Adds methods that write bytes to JSON as base64, and to outputs as short text. */
export function withBytesMethods<T extends Uint8Array>(bytes: T): T {
  Object.defineProperty(bytes, 'toJSON', bytesJson);
  return Object.defineProperty(bytes, inspectSymbol, bytesInspect);
}

const hidden = <T extends (...args: never[]) => unknown>(value: T) => ({
  value,
  configurable: true,
  enumerable: false,
  writable: true,
});

/**
 * Returns a bigint as a number if the number is exact, else as text, so that no reader of the JSON rounds it. Returns
 * other values unchanged.
 */
const jsonValue = (value: unknown): unknown => {
  if (typeof value !== 'bigint') return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
};

const bigintJson = hidden(function toJSON(this: object): unknown {
  if (Array.isArray(this)) return this.map(jsonValue);
  return Object.fromEntries(Object.entries(this).map(([name, value]) => [name, jsonValue(value)]));
});

const mapJson = hidden(function toJSON(this: Map<unknown, unknown>): unknown {
  return Object.fromEntries(Array.from(this, ([key, value]) => [keyText(key), jsonValue(value)]));
});

/** The text of a key; for an object, its JSON without quotes. */
const keyText = (key: unknown): string =>
  typeof key === 'object' && key !== null ? JSON.stringify(key).replace(/^"(.*)"$/s, '$1') : String(key);

const vectorJson = hidden(function toJSON(this: ValueArray): unknown {
  return Array.from<number | bigint, unknown>(this, jsonValue);
});

const bytesJson = hidden(function toJSON(this: Uint8Array): string {
  return Buffer.from(this.buffer, this.byteOffset, this.byteLength).toString('base64');
});

/** Vectors up to this length are shown whole. */
const wholeVector = 6;
const shownItems = 4;
const shownBytes = 8;

type Inspect = (value: unknown, options: unknown) => string;

/** Whether `util.inspect` was called for the vector itself, and not for a row that holds the vector. */
const isOutermost = (depth: unknown, options: { depth?: unknown } | undefined): boolean =>
  depth === options?.depth && depth !== -1;

const vectorInspect = hidden(function inspectVector(
  this: ValueArray,
  depth: unknown,
  options?: InspectOptions & { depth?: unknown },
  inspect?: Inspect,
): string {
  if (inspect && isOutermost(depth, options)) return inspect(plainView(this), options);
  const shown = this.length > wholeVector ? shownItems : this.length;
  const texts = Array.from({ length: shown }, (_, index) => styled(itemText(this, index), 'number', options));
  if (shown < this.length) texts.push(`… ${this.length - shown} more`);
  const name = `${this.constructor.name}(${this.length})`;
  return texts.length === 0 ? `${name} []` : `${name} [ ${texts.join(', ')} ]`;
});

const bytesInspect = hidden(function inspectBytes(
  this: Uint8Array,
  depth: unknown,
  options?: InspectOptions & { depth?: unknown },
  inspect?: Inspect,
): string {
  if (inspect && isOutermost(depth, options)) return inspect(plainView(this), options);
  const hex = Array.from(this.subarray(0, shownBytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `Uint8Array 0x${hex}${this.length > shownBytes ? '…' : ''} (${bytesText(this.length)})`;
});

/** The same values without the methods of this module. */
const plainView = (values: ValueArray): ValueArray => values.subarray();

/** A number of a vector, as tables show it: without the digits that a 32-bit float does not have. */
export function itemText(values: ValueArray, index: number): string {
  const value = values[index]!;
  if (typeof value === 'bigint') return `${value}n`;
  return values instanceof Float32Array ? floatText(value) : Object.is(value, -0) ? '-0' : String(value);
}

import { inspect, types } from 'node:util';
import { counted, oneLine } from '#shared/markup.ts';
import { dataProperty, isObject } from './shapes.ts';

// The entries of a value, each kind of object its own way, by functions of the language itself: a class that overrides
// `entries` or `get` is not asked.

/** One entry: a value, or a note in place of one that would have to be run. */
export type Child = { label: string | undefined; value: unknown } | { label: string; note: string; stack?: string };
type Children = { children: Child[]; total: number };

/** A getter of the language, to be called on a value that may have hidden it. */
function getterOf(prototype: object, key: string): (value: object) => unknown {
  const found = Object.getOwnPropertyDescriptor(prototype, key);
  return (value) => found?.get?.call(value) as unknown;
}

const typedArrayLength = getterOf(Object.getPrototypeOf(Uint8Array.prototype) as object, 'length');
const mapSize = getterOf(Map.prototype, 'size');
const setSize = getterOf(Set.prototype, 'size');
const sizeOf = (value: object): number => Number((types.isMap(value) ? mapSize : setSize)(value));
const lengthOf = (value: NodeJS.TypedArray): number => Number(typedArrayLength(value));

/** A value in one line as Node writes it, without what it holds. */
export function leafText(value: unknown): string {
  try {
    const text = inspect(value, { depth: -1, maxStringLength: null, breakLength: Infinity, colors: false });
    return typeof value === 'string' ? text : oneLine(text);
  } catch (error) {
    return `[a value that can't be shown: ${error instanceof Error ? error.message : 'its inspect threw'}]`;
  }
}

/** What a value says of itself through `util.inspect.custom`; `undefined` for one that says nothing. */
export function ownWords(value: object): string | undefined {
  if (typeof dataProperty(value, inspect.custom) !== 'function') return undefined;
  try {
    return inspect(value, { depth: 2, colors: false, maxArrayLength: 100, maxStringLength: 10_000 });
  } catch {
    // Then it is shown as the object that it is.
    return undefined;
  }
}

/** What an object with entries is called, `Map(3)`; `undefined` for one without, such as a date or a proxy. */
export function nameOf(value: object): string | undefined {
  if (types.isProxy(value)) return undefined;
  const name = className(value);
  if (Array.isArray(value)) return `${name ?? 'Array'}(${value.length})`;
  if (types.isMap(value) || types.isSet(value)) return `${name ?? 'Map'}(${sizeOf(value)})`;
  if (types.isTypedArray(value)) return `${name ?? 'TypedArray'}(${lengthOf(value)})`;
  if (types.isNativeError(value) || isErrorLike(value)) return oneLine(errorLine(value));
  if (isOpaque(value)) return undefined;
  return name ?? 'Object: null prototype';
}

const isOpaque = (value: object): boolean =>
  typeof value === 'function' ||
  types.isDate(value) ||
  types.isRegExp(value) ||
  types.isBoxedPrimitive(value) ||
  types.isPromise(value) ||
  types.isWeakMap(value) ||
  types.isWeakSet(value) ||
  types.isAnyArrayBuffer(value) ||
  types.isDataView(value) ||
  types.isExternal(value) ||
  types.isGeneratorObject(value);

const isErrorLike = (value: object): value is Error =>
  typeof dataProperty(value, 'stack') === 'string' && typeof dataProperty(value, 'message') === 'string';

function errorLine(error: object): string {
  const message = dataProperty(error, 'message');
  const own = dataProperty(error, 'name');
  const name = typeof own === 'string' && own !== '' ? own : (className(error) ?? 'Error');
  return typeof message === 'string' && message !== '' ? `${name}: ${message}` : name;
}

function className(value: object): string | undefined {
  let at: unknown = Object.getPrototypeOf(value);
  for (let depth = 0; depth < 100 && isObject(at) && !types.isProxy(at); depth++) {
    const made: unknown = Object.getOwnPropertyDescriptor(at, 'constructor')?.value;
    const name: unknown = isObject(made) && Object.getOwnPropertyDescriptor(made, 'name')?.value;
    if (typeof name === 'string' && name !== '') return name;
    at = Object.getPrototypeOf(at);
  }
  return undefined;
}

/** The first entries of an object and the number of all. */
export function childrenOf(value: object, limit: number): Children {
  if (Array.isArray(value)) return listOf(value, value.length, limit);
  if (types.isTypedArray(value)) return listOf(value, lengthOf(value), limit);
  if (types.isMap(value)) return mapOf(value, limit);
  if (types.isSet(value)) return setOf(value, limit);
  if (types.isNativeError(value) || isErrorLike(value)) return errorOf(value, limit);
  return propertiesOf(value, limit);
}

function listOf(list: object, length: number, limit: number): Children {
  const children: Child[] = [];
  for (let i = 0; i < Math.min(length, limit); i++) {
    const found = Object.getOwnPropertyDescriptor(list, i);
    children.push(found ? property(String(i), found) : { label: String(i), note: '<empty>' });
  }
  return { children, total: length };
}

function mapOf(map: Map<unknown, unknown>, limit: number): Children {
  const children: Child[] = [];
  // Not by `for … of`, which asks a class of its own for its iterator.
  const entries = Map.prototype.entries.call(map);
  for (let i = 0; i < limit; i++) {
    const { value: entry, done } = entries.next();
    if (done) break;
    const [key, value] = entry;
    const label = typeof key === 'object' && key !== null ? (nameOf(key) ?? leafText(key)) : leafText(key);
    children.push({ label: `${label} =>`, value });
  }
  return { children, total: sizeOf(map) };
}

function setOf(set: Set<unknown>, limit: number): Children {
  const children: Child[] = [];
  const values = Set.prototype.values.call(set);
  for (let i = 0; i < limit; i++) {
    const { value, done } = values.next();
    if (done) break;
    children.push({ label: undefined, value });
  }
  return { children, total: sizeOf(set) };
}

/** What the engine has in place of the property `stack` of an error: a getter of its own, which runs no code of a value. */
const stackProperty = Object.getOwnPropertyDescriptor(new Error('to look at'), 'stack');

function stackOf(error: object): unknown {
  const found = Object.getOwnPropertyDescriptor(error, 'stack');
  const isEngines = found?.get !== undefined && found.get === stackProperty?.get;
  return isEngines ? (error as Error).stack : dataProperty(error, 'stack');
}

/** The stack, the cause and the errors of an error, then what else it has. */
function errorOf(error: object, limit: number): Children {
  const stack = stackOf(error);
  const frames = typeof stack === 'string' ? stack.split('\n').filter((line) => /^\s+at /.test(line)) : [];
  const trace: Child[] =
    frames.length > 0 ? [{ label: 'stack', note: counted(frames.length, 'frame'), stack: frames.join('\n') }] : [];
  const own = propertiesOf(error, limit, ['cause', 'errors']);
  return { children: [...trace, ...own.children].slice(0, limit), total: own.total + trace.length };
}

/** Own properties that can be listed, symbols too. `hidden` ones come as well where they are there. */
function propertiesOf(value: object, limit: number, hidden: readonly string[] = []): Children {
  const children: Child[] = [];
  let total = 0;
  for (const key of Reflect.ownKeys(value)) {
    const found = descriptorOf(value, key);
    if (!found || (!found.enumerable && !hidden.includes(String(key)))) continue;
    total++;
    if (children.length < limit) children.push(property(typeof key === 'symbol' ? `[${String(key)}]` : key, found));
  }
  return { children, total };
}

// The binding of a module that has not run yet throws when it is looked at.
function descriptorOf(value: object, key: PropertyKey): PropertyDescriptor | undefined {
  try {
    return Object.getOwnPropertyDescriptor(value, key);
  } catch {
    return { value: undefined, enumerable: true };
  }
}

function property(label: string, found: PropertyDescriptor): Child {
  if (!found.get && !found.set) return { label, value: found.value as unknown };
  return { label, note: found.get && found.set ? '[Getter/Setter]' : found.get ? '[Getter]' : '[Setter]' };
}

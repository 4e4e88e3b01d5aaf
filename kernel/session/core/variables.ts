import { inspect, types } from 'node:util';
import { withoutUrlSecrets } from '#shared/format/withoutUrlSecrets.ts';
import type { VariableInfo, VariableList } from '#shared/protocol/kernelMessages.ts';

/** Maximum number of listed variables, because each value has to be inspected. */
const maxVariables = 500;
const previewChars = 120;

/**
 * Lists the variables of a notebook, without running code of their values: no getter, proxy trap or `toString`.
 * @param locals the notebook's variables by name
 * @param given the kernel's initial values, which are left out while unchanged
 */
export function listVariables(
  locals: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): VariableList {
  const names = Object.getOwnPropertyNames(locals).filter(
    (name) => isNamed(name) && !isGiven(name, locals, given) && !isNoResult(name, locals),
  );
  const variables = names.slice(0, maxVariables).map((name) => describe(name, localOf(locals, name)));
  return { variables, omitted: names.length - variables.length };
}

/** Returns the variable that holds a value; undefined if none does. */
export const nameOfValue = (locals: Readonly<Record<string, unknown>>, value: unknown): string | undefined =>
  Object.getOwnPropertyNames(locals).find((name) => isNamed(name) && name !== '_' && localOf(locals, name) === value);

// Names that the compiler generates are left out.
const isNamed = (name: string): boolean => !name.startsWith('__') && !name.startsWith('tsLastExpr');

/** `_` has the last result of `%%sql`. If the first one fails, there is no result yet. */
const isNoResult = (name: string, locals: Readonly<Record<string, unknown>>): boolean =>
  name === '_' && localOf(locals, name) === undefined;

const isGiven = (
  name: string,
  locals: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): boolean => Object.hasOwn(given, name) && localOf(locals, name) === given[name];

/**
 * Reads a variable. A variable that is a getter was created by the compiler. Until the declaration has run, such a
 * getter throws, and the result is undefined.
 */
function localOf(locals: Readonly<Record<string, unknown>>, name: string): unknown {
  try {
    return locals[name];
  } catch {
    return undefined;
  }
}

/** Reads a plain property; returns undefined for a getter, which would run code. */
const valueOf = (object: object, name: PropertyKey): unknown => Object.getOwnPropertyDescriptor(object, name)?.value;

function describe(name: string, value: unknown): VariableInfo {
  const { size, isTable } = measure(value);
  const place = tablePathText(value);
  // For users every table of a catalog is a `Table`. The name of its class is internal and not shown.
  if (place !== undefined) return { name, type: 'Table', size, preview: shortened(place), isTable };
  const catalog = catalogText(value);
  if (catalog !== undefined) return { name, type: 'Catalog', size, preview: shortened(catalog), isTable };
  return { name, type: typeOf(value), size, preview: preview(value), isTable };
}

/** The path of a table in its catalog: `shop/eu/orders`. */
function tablePathText(value: unknown): string | undefined {
  if (!isObject(value) || types.isProxy(value) || !hasMethods(value, 'query', 'countRows')) return undefined;
  const [name, path] = [valueOf(value, 'name'), valueOf(value, 'namespacePath')];
  if (typeof name !== 'string' || !Array.isArray(path)) return undefined;
  return [...path, name].filter((part) => typeof part === 'string').join('/');
}

/** The directory or address of a catalog, without the parts of a URL that may hold credentials. */
function catalogText(value: unknown): string | undefined {
  if (!isObject(value) || types.isProxy(value)) return undefined;
  if (!hasMethods(value, 'openTable', 'createTable', 'listNamespaces')) return undefined;
  const location = valueOf(value, 'location');
  return typeof location === 'string' ? withoutUrlSecrets(location) : '';
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'function') return isClass(value) ? 'class' : 'function';
  if (typeof value !== 'object') return typeof value;
  return types.isProxy(value) ? 'Proxy' : (classOf(value) ?? 'Object');
}

// The source text of a class starts with `class`. The text is read with the built-in `toString`, so that the value's
// own `toString` is not called.
const isClass = (value: object): boolean => /^class\b/.test(Function.prototype.toString.call(value));

/** The name of the class that created an object, read from plain properties only. */
function classOf(value: object): string | undefined {
  for (let at: object | null = value; at && !types.isProxy(at); at = Object.getPrototypeOf(at) as object | null) {
    const made = valueOf(at, 'constructor');
    if (typeof made !== 'function' || types.isProxy(made)) continue;
    const name = valueOf(made, 'name');
    if (typeof name === 'string' && name) return name;
  }
  return undefined;
}

/**
 * Returns the size of a value, and whether it is a table. Runs no code of the value: reads only its plain properties.
 */
function measure(value: unknown): { size: string; isTable: boolean } {
  const none = { size: '', isTable: false };
  if (typeof value === 'string') return { size: count(value.length, 'character'), isTable: false };
  if (typeof value !== 'object' || value === null || types.isProxy(value)) return none;
  if (Array.isArray(value)) return { size: count(value.length, 'element'), isTable: false };
  if (types.isMap(value) || types.isSet(value)) return { size: count(sizeOf(value), 'entry'), isTable: false };
  if (types.isTypedArray(value)) return { size: count(lengthOf(value), 'element'), isTable: false };
  if (types.isAnyArrayBuffer(value)) return { size: count(value.byteLength, 'byte'), isTable: false };
  return measureTable(value) ?? none;
}

/** Recognizes an Arrow table of any copy of the library, a catalog table or a query by their members. */
function measureTable(value: object): { size: string; isTable: boolean } | undefined {
  if (types.isProxy(value)) return undefined;
  const batches = valueOf(value, 'batches');
  if (Array.isArray(batches) && isObject(valueOf(value, 'schema'))) {
    const rows = batches.reduce<number>((sum, batch) => sum + rowsOf(batch), 0);
    return { size: count(rows, 'row'), isTable: true };
  }
  if (hasMethods(value, 'query', 'countRows') || hasMethods(value, 'toArrow', 'limit'))
    return { size: '', isTable: true };
  return undefined;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function rowsOf(batch: unknown): number {
  const data = isObject(batch) && !types.isProxy(batch) ? valueOf(batch, 'data') : undefined;
  const length = isObject(data) && !types.isProxy(data) ? valueOf(data, 'length') : undefined;
  return typeof length === 'number' ? length : 0;
}

/** Whether an object or its prototypes have methods of all these names. */
function hasMethods(value: object, ...names: readonly string[]): boolean {
  const left = new Set(names);
  for (let at: object | null = value; at && !types.isProxy(at); at = Object.getPrototypeOf(at) as object | null) {
    for (const name of left) if (typeof valueOf(at, name) === 'function') left.delete(name);
  }
  return left.size === 0;
}

// Getters of the language itself. They are called directly, so that a property of the object with the same name is not
// read.
const getterOf =
  (prototype: object, name: string) =>
  (value: object): unknown =>
    Reflect.get(prototype, name, value);
const mapSize = getterOf(Map.prototype, 'size');
const setSize = getterOf(Set.prototype, 'size');
const arrayLength = getterOf(Object.getPrototypeOf(Uint8Array.prototype) as object, 'length');
const sizeOf = (value: object): number => Number((types.isMap(value) ? mapSize : setSize)(value));
const lengthOf = (value: object): number => Number(arrayLength(value));

function count(number: number, unit: string): string {
  if (number === 1) return `1 ${unit}`;
  return `${number.toLocaleString('en')} ${unit === 'entry' ? 'entries' : `${unit}s`}`;
}

/**
 * Returns a preview of a value on one line. The preview of a table has only the column names, because type and size are
 * listed next to the preview.
 */
function preview(value: unknown): string {
  if (typeof value === 'string') return shortened(JSON.stringify(value.slice(0, previewChars + 1)));
  if (isObject(value) && (types.isProxy(value) || measureTable(value))) return columnsOf(value);
  // `customInspect` is off, because it would call methods of the value. Getters are not called by default.
  const text = inspect(value, {
    depth: 1,
    customInspect: false,
    maxArrayLength: 20,
    maxStringLength: 200,
    breakLength: Infinity,
  });
  // Only the first line of an error is used, because the other lines are the stack, which does not say what the error
  // is.
  return shortened((types.isNativeError(value) ? (text.split('\n', 1)[0] ?? '') : text).replaceAll(/\s+/g, ' '));
}

function columnsOf(value: object): string {
  const schema = types.isProxy(value) ? undefined : valueOf(value, 'schema');
  const fields = isObject(schema) && !types.isProxy(schema) ? valueOf(schema, 'fields') : undefined;
  if (!Array.isArray(fields)) return '';
  const names = fields.slice(0, 20).map((field: unknown) => (isObject(field) ? String(valueOf(field, 'name')) : ''));
  return shortened(names.join(', '));
}

const shortened = (text: string): string =>
  text.length <= previewChars ? text : `${text.slice(0, previewChars - 1)}…`;

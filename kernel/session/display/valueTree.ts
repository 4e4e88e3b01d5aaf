import { inspect, types } from 'node:util';
import { floatText } from '#shared/format/numbers.ts';
import { pluralize, cutText, oneLine, escapeControlCharacters } from '#shared/format/markup.ts';
import {
  arrowTable,
  dataProperty,
  isArrowSchema,
  isArrowVector,
  isObject,
  isRecordBatch,
  isTableLike,
} from './typeGuards.ts';

// A value as a tree of text, with limits on depth, entries and length. Reading it runs no code of the value: no getter,
// no proxy trap.

/**
 * Returns the label of an Arrow value inside another value, `Table(3 rows × 2 columns)`, because users can't read its
 * buffers; `undefined` for any other value.
 */
function arrowShape(value: unknown): string | undefined {
  if (isArrowSchema(value)) return `Schema(${pluralize(value.fields.length, 'column')})`;
  if (isArrowVector(value)) return `Vector(${pluralize(value.length, 'value')})`;
  const isBatch = isRecordBatch(value);
  if (!isBatch && !isTableLike(value)) return undefined;
  const name = isBatch ? 'RecordBatch' : 'Table';
  try {
    const table = arrowTable(value);
    return table && `${name}(${pluralize(table.numRows, 'row')} × ${pluralize(table.numCols, 'column')})`;
  } catch {
    // A table with a column type of a later Arrow version is shown by its name only.
    return dataProperty(value, 'schema') === undefined ? undefined : name;
  }
}

// The entries of a value, read with built-in functions only, because a class may override `entries` or `get` with its
// own code.

/** An entry: a value, or a note instead of a value whose reading would run code. */
type Child = { label: string | undefined; value: unknown } | { label: string; note: string; stack?: string };
type Children = { children: Child[]; total: number };

/** Returns a built-in getter as a function. It works also on values that have an own property of the same name. */
function getterOf(prototype: object, key: string): (value: object) => unknown {
  const found = Object.getOwnPropertyDescriptor(prototype, key);
  return (value) => found?.get?.call(value) as unknown;
}

const typedArrayLength = getterOf(Object.getPrototypeOf(Uint8Array.prototype) as object, 'length');
const mapSize = getterOf(Map.prototype, 'size');
const setSize = getterOf(Set.prototype, 'size');
const sizeOf = (value: object): number => Number((types.isMap(value) ? mapSize : setSize)(value));
const lengthOf = (value: NodeJS.TypedArray): number => Number(typedArrayLength(value));

/** Returns a value in one line as `util.inspect` writes it, without its contents. */
function leafText(value: unknown): string {
  try {
    const text = inspect(value, { depth: -1, maxStringLength: null, breakLength: Infinity, colors: false });
    return typeof value === 'string' ? text : oneLine(text);
  } catch (error) {
    return `[a value that can't be shown: ${error instanceof Error ? error.message : 'its inspect threw'}]`;
  }
}

/** Returns the text of a value's `util.inspect.custom` method; `undefined` if the value has no such method. */
function customInspectText(value: object): string | undefined {
  if (typeof dataProperty(value, inspect.custom) !== 'function') return undefined;
  try {
    const options = { depth: 2, colors: false, maxArrayLength: 100, maxStringLength: 10_000 };
    // A vector shows all its values unless it is a part of another value.
    return types.isTypedArray(value) ? inspect([value], options).slice(2, -2).trim() : inspect(value, options);
  } catch {
    // If the method throws, the value is shown as a plain object.
    return undefined;
  }
}

/**
 * Returns the label of an object with entries, `Map(3)`; `undefined` for an object without entries, such as a date or a
 * proxy.
 */
function nameOf(value: object): string | undefined {
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

function childrenOf(value: object, limit: number): Children {
  if (Array.isArray(value)) return listOf(value, value.length, limit);
  if (types.isTypedArray(value)) return listOf(value, lengthOf(value), limit);
  if (types.isMap(value)) return mapOf(value, limit);
  if (types.isSet(value)) return setOf(value, limit);
  if (types.isNativeError(value) || isErrorLike(value)) return errorOf(value, limit);
  return propertiesOf(value, limit);
}

function listOf(list: object, length: number, limit: number): Children {
  const children: Child[] = [];
  // The digits that a 32-bit float does not have are left out, as in tables.
  const isFloat32 = types.isFloat32Array(list);
  for (let i = 0; i < Math.min(length, limit); i++) {
    if (isFloat32) {
      children.push({ label: String(i), value: Number(floatText(list[i]!)) });
      continue;
    }
    const found = Object.getOwnPropertyDescriptor(list, i);
    children.push(found ? property(String(i), found) : { label: String(i), note: '<empty>' });
  }
  return { children, total: length };
}

function mapOf(map: Map<unknown, unknown>, limit: number): Children {
  const children: Child[] = [];
  // The built-in iterator is used, because `for … of` would call an iterator that a subclass overrides.
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

/**
 * The `stack` property of a new error. In some versions of V8 it is a getter. An error with the same getter can be read
 * safely, because this getter belongs to V8 and not to the error.
 */
const stackProperty = Object.getOwnPropertyDescriptor(new Error('to look at'), 'stack');

function stackOf(error: object): unknown {
  const found = Object.getOwnPropertyDescriptor(error, 'stack');
  const isEngines = found?.get !== undefined && found.get === stackProperty?.get;
  return isEngines ? (error as Error).stack : dataProperty(error, 'stack');
}

/** Returns the stack, `cause` and `errors` of an error, then its other properties. */
function errorOf(error: object, limit: number): Children {
  const stack = stackOf(error);
  const frames = typeof stack === 'string' ? stack.split('\n').filter((line) => /^\s+at /.test(line)) : [];
  const trace: Child[] =
    frames.length > 0 ? [{ label: 'stack', note: pluralize(frames.length, 'frame'), stack: frames.join('\n') }] : [];
  const own = propertiesOf(error, limit, ['cause', 'errors']);
  return { children: [...trace, ...own.children].slice(0, limit), total: own.total + trace.length };
}

/**
 * Returns the own enumerable properties, including symbols, and the properties named in `hidden` even if they are not
 * enumerable.
 */
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

// Returns a property without reading its value. Even the descriptor can't be read for a binding of a module that has
// not been evaluated yet.
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

type NodeKind = 'string' | 'number' | 'boolean' | 'empty' | 'object' | 'function' | 'note';

export type ValueNode = {
  kind: NodeKind;
  /** The value in one line; `Map(3)` for a value with entries. */
  text: string;
  /** Text of several lines: a long string, the stack of an error. */
  long?: string;
  /** A row's vector or bytes in one line, for the text of a value that contains them. */
  line?: string;
  entries: readonly ValueEntry[];
  omitted: number;
  /** The limit that caused entries to be omitted. */
  cutBy?: keyof Omit<TreeLimits, 'chars'>;
  /** Whether the value is an Arrow value. The contents of an Arrow value are not read. */
  isArrow?: boolean;
  brackets: '[]' | '{}';
};
export type ValueEntry = { label: string | undefined; node: ValueNode };

export type TreeLimits = {
  /** Maximum entries per collection. */
  entries: number;
  /** Maximum levels below the value. */
  depth: number;
  /** Maximum entries of the whole tree; entries near the root take precedence. */
  nodes: number;
  /** Maximum characters of a string. */
  chars: number;
};

export const treeLimits: TreeLimits = { entries: 500, depth: 6, nodes: 1000, chars: 10_000 };

/** Maps the frames of an error's stack to lines of cells. */
export type TranslateStack = (stack: string) => string;

/** Characters of a string in the line of its entry. */
const lineChars = 160;

type Open = { node: Writable; value: object; depth: number; above: readonly object[] };
type Writable = ValueNode & { entries: ValueEntry[] };

/** Reads a value level by level. So the deepest entries are omitted if there are too many. */
export function readValue(
  value: unknown,
  limits: TreeLimits = treeLimits,
  translate: TranslateStack = (stack) => stack,
): ValueNode {
  let left = limits.nodes;
  const open: Open[] = [];
  const enter = (child: unknown, depth: number, above: readonly object[]): Writable => {
    const node = nodeOf(child, limits);
    if (node.kind !== 'object' || !isObject(child)) return node;
    if (above.includes(child)) return { ...node, kind: 'note', text: `[Circular ${node.text}]` };
    open.push({ node, value: child, depth, above });
    return node;
  };
  const root = enter(value, 0, []);
  for (let at = 0; at < open.length; at++) {
    const { node, value: parent, depth, above } = open[at]!;
    const wanted = depth >= limits.depth ? 0 : Math.min(limits.entries, left);
    const { children, total } = childrenOf(parent, wanted);
    left -= children.length;
    node.omitted = total - children.length;
    if (node.omitted > 0)
      node.cutBy = depth >= limits.depth ? 'depth' : children.length < limits.entries ? 'nodes' : 'entries';
    const path = [...above, parent];
    for (const child of children) node.entries.push({ label: child.label, node: childNode(child, depth + 1, path) });
  }
  return root;

  function childNode(child: Child, depth: number, path: readonly object[]): ValueNode {
    if ('note' in child)
      return { ...leaf('note', child.note), ...(child.stack !== undefined && { long: translate(child.stack) }) };
    return enter(child.value, depth, path);
  }
}

const leaf = (kind: NodeKind, text: string): Writable => ({ kind, text, entries: [], omitted: 0, brackets: '{}' });

function nodeOf(value: unknown, limits: TreeLimits): Writable {
  switch (typeof value) {
    case 'string':
      return stringNode(value, limits);
    case 'number':
    case 'bigint':
      return leaf('number', leafText(value));
    case 'boolean':
      return leaf('boolean', String(value));
    case 'function':
      return leaf('function', leafText(value));
    case 'undefined':
    case 'symbol':
      return leaf('empty', String(value));
    case 'object': {
      if (value === null) return leaf('empty', 'null');
      const shape = arrowShape(value);
      if (shape !== undefined) return { ...leaf('note', shape), isArrow: true };
      const words = customInspectText(value);
      // A vector is not returned here, so that its entries can be expanded.
      if (words !== undefined && !types.isTypedArray(value)) return linesNode(words);
      const name = nameOf(value);
      if (name === undefined) return leaf('note', leafText(value));
      const line = words === undefined ? {} : { line: words };
      return { ...leaf('object', name), brackets: isList(value) ? '[]' : '{}', ...line };
    }
  }
}

function stringNode(value: string, { chars }: TreeLimits): Writable {
  const isLong = value.length > lineChars || /\n./s.test(value);
  const node = leaf('string', leafText(isLong ? `${value.slice(0, lineChars)}…` : value));
  if (!isLong) return node;
  const rest = value.length - chars;
  return {
    ...node,
    long: rest > 0 ? `${value.slice(0, chars)}… ${rest.toLocaleString('en-US')} more characters` : value,
  };
}

function linesNode(words: string): Writable {
  const [first = ''] = words.split('\n', 1);
  const node = leaf('note', cutText(escapeControlCharacters(first), lineChars));
  return node.text === words ? node : { ...node, long: words };
}

const isList = (value: object): boolean => Array.isArray(value) || types.isTypedArray(value) || types.isSet(value);

/** An incomplete collection in a tree, with its path as code, `[0].photo`; the path of the whole value is empty. */
export type CutNode = { node: ValueNode; path: string };

/** Yields the nodes that omit entries, those near the root first in each branch. */
export function* cutNodes(node: ValueNode, path = ''): Generator<CutNode> {
  if (node.omitted > 0) yield { node, path };
  for (const { label, node: child } of node.entries) yield* cutNodes(child, `${path}${stepTo(label, node.brackets)}`);
}

function stepTo(label: string | undefined, brackets: ValueNode['brackets']): string {
  if (label === undefined || label.endsWith('=>')) return '[…]';
  if (brackets === '[]') return `[${label}]`;
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(label) ? `.${label}` : `[${JSON.stringify(label)}]`;
}

export const countEntries = (node: ValueNode): number =>
  node.entries.reduce((sum, entry) => sum + 1 + countEntries(entry.node), 0);

/** The most characters of a constant: larger ones are data, and belong into a column or a file. */
const maxText = 64 * 1024;
const maxDepth = 8;

/**
 * A value as code that makes it again: texts, numbers, truths, regular expressions, dates, and lists, sets, maps, typed
 * arrays and plain objects of them.
 * @returns undefined for anything else, and for what is too large
 */
export function constantText(value: unknown): string | undefined {
  const text = textOf(value, 0);
  return text !== undefined && text.length <= maxText ? text : undefined;
}

function textOf(value: unknown, depth: number): string | undefined {
  if (depth > maxDepth) return undefined;
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value);
    case 'bigint':
      return `${value}n`;
    case 'boolean':
      return String(value);
    case 'undefined':
      return 'undefined';
    case 'object':
      return value === null ? 'null' : objectText(value, depth + 1);
    case 'function':
    case 'symbol':
      return undefined;
  }
}

function objectText(value: object, depth: number): string | undefined {
  if (Array.isArray(value)) return listText(value, depth);
  // Of a class of one's own, or with more to it than its entries, it is no constant.
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return plainText(value, depth);
  if (prototype === RegExp.prototype) return RegExp.prototype.toString.call(value);
  if (prototype === Date.prototype) return `new Date(${Number(value)})`;
  if (prototype === Set.prototype) return wrapped('Set', listText([...(value as Set<unknown>)], depth));
  if (prototype === Map.prototype) return wrapped('Map', listText([...(value as Map<unknown, unknown>)], depth));
  const isNumbers = ArrayBuffer.isView(value) && !(value instanceof DataView) && !Buffer.isBuffer(value);
  if (!isNumbers) return undefined;
  const { name } = value.constructor;
  if (prototype !== (globalThis as unknown as Record<string, { prototype: unknown }>)[name]?.prototype)
    return undefined;
  return wrapped(name, listText(Array.from(value as unknown as Iterable<unknown>), depth));
}

const wrapped = (name: string, list: string | undefined): string | undefined => list && `new ${name}(${list})`;

function listText(list: readonly unknown[], depth: number): string | undefined {
  if (list.length > maxText) return undefined;
  const parts: string[] = [];
  for (const each of list) {
    const text = textOf(each, depth);
    if (text === undefined) return undefined;
    parts.push(text);
  }
  return `[${parts.join(', ')}]`;
}

function plainText(value: object, depth: number): string | undefined {
  const parts: string[] = [];
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    const text = 'value' in property && property.enumerable ? textOf(property.value, depth) : undefined;
    if (text === undefined) return undefined;
    parts.push(`[${JSON.stringify(name)}]: ${text}`);
  }
  return Object.getOwnPropertySymbols(value).length > 0 ? undefined : `({ ${parts.join(', ')} })`;
}

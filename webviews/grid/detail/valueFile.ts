import type { CellValue, NestedValue, VectorValue } from '../cellValue.ts';
import { jsonNode } from './treeNodes.ts';

/** Bytes of a part of a file. */
const partBytes = 512 * 1024;

/** A value as a file. */
export type ValueFile = {
  /** Without a dot. */
  readonly extension: string;
  /** `undefined` if it is not known before the parts are made. */
  readonly size: number | undefined;
  /** Makes the parts one after another. Each fills its buffer. */
  readonly parts: () => Iterable<Uint8Array<ArrayBuffer>>;
};

const extensions: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'image/svg+xml': 'svg',
};

/** Returns a value as a file; `undefined` if it has no content. */
export function valueFile(value: CellValue): ValueFile | undefined {
  switch (value.kind) {
    case 'null':
    case 'omitted':
      return undefined;
    case 'binary':
      return bytesFile(value.bytes, extensions[value.mime ?? ''] ?? 'bin');
    case 'text':
      return bytesFile(value.bytes, jsonNode(value.bytes) ? 'json' : 'txt');
    case 'number':
    case 'boolean':
    case 'time':
      return bytesFile(new TextEncoder().encode(value.text), 'txt');
    case 'vector':
    case 'list':
    case 'map':
    case 'struct':
      return { extension: 'json', size: undefined, parts: () => encoded(jsonParts(value)) };
  }
}

const bytesFile = (bytes: Uint8Array, extension: string): ValueFile => ({
  extension,
  size: bytes.length,
  *parts() {
    // A view would be sent with its whole buffer.
    for (let at = 0; at < bytes.length; at += partBytes) yield bytes.slice(at, at + partBytes);
  },
});

function* encoded(texts: Iterable<string>): Iterable<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  let some = '';
  for (const text of texts) {
    some += text;
    if (some.length < partBytes) continue;
    yield encoder.encode(some).slice();
    some = '';
  }
  if (some !== '') yield encoder.encode(some).slice();
}

/** Returns a nested value as JSON with exact numbers, in parts. Bytes are in hexadecimal, times are strings. */
export function* jsonParts(value: CellValue, indent = ''): Iterable<string> {
  switch (value.kind) {
    case 'null':
      return yield 'null';
    case 'number':
    case 'boolean':
      return yield jsonLiteral(value.text);
    case 'time':
    case 'omitted':
      return yield JSON.stringify(value.text);
    case 'text':
      return yield JSON.stringify(utf8.decode(value.bytes));
    case 'binary':
      return yield JSON.stringify(hexText(value.bytes));
    case 'vector':
      return yield* vectorParts(value);
    case 'list':
    case 'map':
    case 'struct':
      return yield* nestedParts(value, indent);
  }
}

function* vectorParts({ values, itemText }: VectorValue): Iterable<string> {
  yield '[';
  for (let at = 0; at < values.length; at++) yield `${at === 0 ? '' : ', '}${jsonLiteral(itemText(at))}`;
  yield ']';
}

function* nestedParts({ kind, size, item }: NestedValue, indent: string): Iterable<string> {
  const [open, close] = kind === 'list' ? ['[', ']'] : ['{', '}'];
  if (size === 0) return yield `${open}${close}`;
  const inner = `${indent}  `;
  yield open;
  for (let at = 0; at < size; at++) {
    const { name, value } = item(at);
    yield `${at === 0 ? '' : ','}\n${inner}${kind === 'list' ? '' : `${JSON.stringify(name)}: `}`;
    yield* jsonParts(value, inner);
  }
  yield `\n${indent}${close}`;
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Returns what JSON has no literal for, such as NaN, as a string. */
const jsonLiteral = (text: string): string =>
  /^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)$/.test(text) ? text : JSON.stringify(text);

/** `0x89504e47` */
export function hexText(bytes: Uint8Array): string {
  const parts: string[] = ['0x'];
  for (let at = 0; at < bytes.length; at += partBytes)
    parts.push(Array.from(bytes.subarray(at, at + partBytes), (byte) => byte.toString(16).padStart(2, '0')).join(''));
  return parts.join('');
}

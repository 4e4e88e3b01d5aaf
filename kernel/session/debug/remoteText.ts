import type { Runtime } from 'node:inspector';

// Formats values of the main thread as one line, from the inspector's descriptions.

const maxString = 10_000;
const maxLine = 120;

/** Formats a value. With `isWhole`, which is used for the clipboard, a long string is not shortened. */
export function formatRemoteObject(value: Runtime.RemoteObject, isWhole = false): string {
  if (value.type === 'string') return quoted(String(value.value), isWhole ? Infinity : maxString);
  if (value.type === 'function') return functionText(value.description ?? '');
  if (value.type !== 'object') return value.description ?? String(value.value ?? value.type);
  if (value.subtype === 'null') return 'null';
  const { preview, description = 'Object' } = value;
  if (!preview || isSaid(value.subtype)) return firstLine(description);
  return previewText(preview);
}

/** Returns the type of a value for display. */
export const typeOf = (value: Runtime.RemoteObject): string =>
  value.type === 'object' ? (value.subtype === 'null' ? 'null' : (value.className ?? 'Object')) : value.type;

/** Whether a value can be expanded. */
export const hasParts = (value: Runtime.RemoteObject): value is Runtime.RemoteObject & { objectId: string } =>
  value.objectId !== undefined && value.type !== 'symbol';

/** Returns the length of an array or typed array, from its description, such as `Array(3)`. */
export function lengthOf({ subtype, description = '' }: Runtime.RemoteObject): number | undefined {
  if (subtype !== 'array' && subtype !== 'typedarray') return undefined;
  const [, length] = /\((\d+)\)$/.exec(description) ?? [];
  return length === undefined ? undefined : Number(length);
}

// Types whose description is complete enough for one line.
const isSaid = (subtype: Runtime.RemoteObject['subtype']): boolean =>
  subtype === 'error' || subtype === 'date' || subtype === 'regexp' || subtype === 'promise';

function previewText(preview: Runtime.ObjectPreview): string {
  const { description = '', properties, entries, overflow, subtype } = preview;
  const isArray = subtype === 'array' || subtype === 'typedarray';
  const parts = entries
    ? entries.map(({ key, value }) => `${key ? `${previewText(key)} => ` : ''}${previewText(value)}`)
    : properties.map((each) => (isArray && /^\d+$/.test(each.name) ? '' : `${each.name}: `) + propertyText(each));
  if (preview.type !== 'object') return preview.type === 'string' ? quoted(description) : description;
  const all = [...parts, ...(overflow ? ['…'] : [])].join(', ');
  const [open, close] = isArray ? ['[', ']'] : ['{', '}'];
  const name = description === 'Object' ? '' : `${description} `;
  return firstLine(`${name}${open}${all}${close}`);
}

function propertyText({ type, value = '', subtype }: Runtime.PropertyPreview): string {
  if (type === 'string') return quoted(value);
  if (type === 'function') return 'ƒ';
  if (type === 'accessor') return '(getter)';
  return type === 'object' && value === 'Object' && subtype === undefined ? '{…}' : value;
}

function functionText(description: string): string {
  const line = firstLine(description);
  return line.startsWith('class') ? line : `ƒ ${line.replace(/^function\s*/, '')}`;
}

function firstLine(text: string): string {
  const [line = ''] = text.split('\n', 1);
  return line.length > maxLine ? `${line.slice(0, maxLine - 1)}…` : line;
}

const quoted = (text: string, most = maxLine): string =>
  JSON.stringify(text.length > most ? `${text.slice(0, most)}…` : text);

import type { ClusterError } from '#cluster/errors.ts';
import { nearestName } from '#shared/names.ts';
import { isRecord } from '#shared/records.ts';
import { toSettingName } from './settingNames.ts';
import { looksSecret, secretError, settingError, type SettingPath } from './settingPath.ts';

/** The type and limits of a setting, as data for the reader and the editor's schema. */
export type Field = { readonly description: string; readonly default?: string | number | boolean } & (
  | { readonly kind: 'text'; readonly pattern: RegExp; readonly takes: string }
  | { readonly kind: 'choice'; readonly values: readonly string[]; readonly meanings: readonly string[] }
  | { readonly kind: 'flag' }
  /** An integer, 0 or more. */
  | { readonly kind: 'count' }
  /** A number or a Kubernetes quantity. */
  | { readonly kind: 'quantity'; readonly takes: string }
  /** String values by user-defined names, such as labels. */
  | { readonly kind: 'map' }
  | { readonly kind: 'section'; readonly fields: Fields }
  | { readonly kind: 'sections'; readonly fields: Fields }
  /** Checked by the reader of the profile. */
  | { readonly kind: 'other'; readonly schema: Readonly<Record<string, unknown>> }
);

export type Fields = Readonly<Record<string, Field>>;

type ValueOf<F> = F extends { kind: 'text' }
  ? string
  : F extends { kind: 'choice'; values: readonly (infer V)[] }
    ? V
    : F extends { kind: 'flag' }
      ? boolean
      : F extends { kind: 'count' }
        ? number
        : F extends { kind: 'quantity' }
          ? number | string
          : F extends { kind: 'map' }
            ? Readonly<Record<string, string>>
            : F extends { kind: 'section'; fields: infer S }
              ? Values<S>
              : F extends { kind: 'sections'; fields: infer S }
                ? readonly Values<S>[]
                : unknown;

/** The values of fields, all optional. */
export type Values<S> = { readonly [K in keyof S]?: ValueOf<S[K]> };

/**
 * Reads settings by their fields. Settings are untrusted input: users type them, and a repository may contain them.
 * @param path path of the settings, for the message
 * @throws ClusterError ProfileInvalid for the first error
 */
export function readFields<const S extends Fields>(path: SettingPath, value: unknown, fields: S): Values<S> {
  if (!isRecord(value)) throw invalidSetting(path, 'must be an object with settings', value);
  const read: Record<string, unknown> = {};
  const spelled = new Map<string, string>();
  for (const [written, each] of Object.entries(value)) {
    const key = toSettingName(written);
    const here: SettingPath = [...path, written];
    if (!Object.hasOwn(fields, key)) throw unknownKey(path, written, fields);
    // In JSON, `null` means a setting that is not set.
    if (each === null || each === undefined) continue;
    const other = spelled.get(key);
    if (other !== undefined) throw settingError(here, `sets the same as ${other}.`, 'Remove one of the two.');
    spelled.set(key, written);
    read[key] = readField(here, each, fields[key] as Field);
  }
  // `readField` has checked every value against its field.
  return read as Values<S>;
}

function readField(path: SettingPath, value: unknown, field: Field): unknown {
  switch (field.kind) {
    case 'text':
      return readText(path, value, field);
    case 'choice':
      if (typeof value === 'string' && field.values.includes(value)) return value;
      throw invalidSetting(path, `must be ${field.values.map((one) => JSON.stringify(one)).join(' or ')}`, value);
    case 'flag':
      if (typeof value === 'boolean') return value;
      throw invalidSetting(path, 'must be true or false', value);
    case 'count':
      if (Number.isSafeInteger(value) && Number(value) >= 0) return value;
      throw invalidSetting(path, 'must be a whole number, 0 or more', value);
    case 'quantity':
      if (isQuantity(value)) return value;
      throw invalidSetting(path, `must be ${field.takes}`, value);
    case 'map':
      return readMap(path, value);
    case 'section':
      return readFields(path, value, field.fields);
    case 'sections':
      if (!Array.isArray(value)) throw invalidSetting(path, 'must be a list', value);
      return value.map((one, index) => readFields([...path, index], one, field.fields));
    case 'other':
      return value;
  }
}

function readText(path: SettingPath, value: unknown, field: Extract<Field, { kind: 'text' }>): string {
  if (typeof value !== 'string') throw invalidSetting(path, `must be ${field.takes}`, value);
  if (looksSecret(value)) throw secretError(path);
  if (!field.pattern.test(value)) throw invalidSetting(path, `must be ${field.takes}`, value);
  return value;
}

function readMap(path: SettingPath, value: unknown): Readonly<Record<string, string>> {
  if (!isRecord(value)) throw invalidSetting(path, 'must be an object with string values', value);
  for (const [key, each] of Object.entries(value)) {
    if (typeof each !== 'string') throw invalidSetting([...path, key], 'must be a string in quotes', each);
    if (looksSecret(each)) throw secretError([...path, key]);
  }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, String(each)]));
}

const quantity = /^(?=[\d.]*\d)\d*\.?\d*(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/;

const isQuantity = (value: unknown): boolean =>
  typeof value === 'number' ? Number.isFinite(value) && value > 0 : typeof value === 'string' && isPositive(value);

const isPositive = (text: string): boolean => quantity.test(text) && Number.parseFloat(text) > 0;

export function invalidSetting(path: SettingPath, mustBe: string, value: unknown): ClusterError {
  const where = typeof path[0] === 'string' ? 'profile' : 'call';
  return settingError(path, `${mustBe}, but is ${shown(value)}.`, `Correct it in the ${where}.`);
}

/** Shows a value for a message. Long strings are not quoted, since they may be a pasted secret. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return value === null ? 'null' : 'an object';
  if (typeof value !== 'string') return JSON.stringify(value) ?? typeof value;
  if (value === '') return 'empty';
  if (value.length > 80) return `a string of ${value.length} characters`;
  // A URL may have a password or a signed query, which the user may not notice when pasting it.
  if (/:\/\/[^/]*@|\?/.test(value)) return 'a URL with a password or a query';
  return JSON.stringify(value);
}

function unknownKey(path: SettingPath, written: string, fields: Fields): ClusterError {
  if (looksSecret('', written)) return secretError([...path, written]);
  const known = Object.keys(fields);
  const meant = nearestName(toSettingName(written), known) ?? nearestName(written, known);
  const [root] = path;
  return settingError(
    [...path, written],
    typeof root === 'string' ? 'is not a setting of a profile.' : `is not an option of ${root.call}.`,
    meant === undefined ? `Use one of ${known.join(', ')}.` : `Did you mean ${meant}?`,
  );
}

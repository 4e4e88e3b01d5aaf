import { nearestName } from './names.ts';
import { isRecord } from './records.ts';
import { isBoolean, isCount, isString, listOf } from './shape.ts';

// A table of fields describes what a user may write, such as the settings of a cluster profile or a job file. The
// reader, the type of the values and the JSON Schema for the editor are derived from the table. The reader reports
// problems as data, because each kind of file has its own messages for them.

type JsonSchema = Readonly<Record<string, unknown>>;

/** The type and limits of a field. `takes` completes "must be …". */
export type Field = {
  readonly description: string;
  readonly isNeeded?: true;
  readonly default?: string | number | boolean;
} &
  /** A string that is not blank. */
  (
    | { readonly kind: 'text'; readonly takes: string; readonly pattern?: RegExp }
    | { readonly kind: 'choice'; readonly values: readonly string[]; readonly meanings: readonly string[] }
    | { readonly kind: 'flag' }
    /** An integer, `minimum` or more. */
    | { readonly kind: 'count'; readonly minimum: 0 | 1 }
    /** Strings that are not blank, at least one. */
    | { readonly kind: 'texts'; readonly takes: string }
    /** String values by user-defined names, such as labels. */
    | { readonly kind: 'map' }
    | { readonly kind: 'section'; readonly fields: Fields }
    | { readonly kind: 'sections'; readonly fields: Fields }
    /** Any other value. `read` returns `undefined` for an invalid one. */
    | {
        readonly kind: 'other';
        readonly takes: string;
        readonly read: (value: unknown) => unknown;
        readonly schema: JsonSchema;
        /** Values that the editor suggests. */
        readonly examples?: readonly unknown[];
      }
  );

export type Fields = Readonly<Record<string, Field>>;

type ValueKinds<F> = {
  text: string;
  choice: F extends { values: readonly (infer V)[] } ? V : never;
  flag: boolean;
  count: number;
  texts: readonly string[];
  map: Readonly<Record<string, string>>;
  section: F extends { fields: infer S } ? Values<S> : never;
  sections: F extends { fields: infer S } ? readonly Values<S>[] : never;
  other: F extends { read: (value: unknown) => infer V } ? Exclude<V, undefined> : never;
};

type ValueOf<F> = F extends { kind: infer K extends Field['kind'] } ? ValueKinds<F>[K] : never;

/** The values of fields, all optional. */
export type Values<S> = { readonly [K in keyof S]?: ValueOf<S[K]> };

/** Keys and indexes, as the user spelled them. */
export type FieldPath = readonly (string | number)[];

export type FieldProblem =
  /** `expected` completes "must be …". */
  | { readonly kind: 'value'; readonly expected: string; readonly value: unknown }
  | { readonly kind: 'notSection'; readonly value: unknown }
  /** `meant` is a known name with a similar spelling. */
  | {
      readonly kind: 'unknown';
      readonly name: string;
      readonly known: readonly string[];
      readonly meant: string | undefined;
    }
  /** `other` is the same field in another spelling. */
  | { readonly kind: 'duplicate'; readonly other: string }
  | { readonly kind: 'missing'; readonly name: string; readonly description: string };

type FieldReading = {
  /** Converts a name to the table's spelling. */
  readonly toName: (written: string) => string;
  /** Receives each problem, in the order of the file. May throw, to stop at the first problem. */
  readonly report: (path: FieldPath, problem: FieldProblem) => void;
  /** Receives each string before it is checked. May throw. */
  readonly inspect?: (path: FieldPath, text: string) => void;
};

/**
 * Reads untrusted user input that a table of fields describes.
 * @returns the valid values; the key of an invalid value is present with `undefined`. If `value` is not an object, the
 * result is `undefined`
 */
export const readFieldTable = <const S extends Fields>(
  value: unknown,
  fields: S,
  reading: FieldReading,
): Values<S> | undefined =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `readField` checks every value against its field
  readSection([], value, fields, reading) as Values<S> | undefined;

function readSection(
  path: FieldPath,
  value: unknown,
  fields: Fields,
  reading: FieldReading,
): Readonly<Record<string, unknown>> | undefined {
  const { toName, report } = reading;
  if (!isRecord(value)) {
    report(path, { kind: 'notSection', value });
    return undefined;
  }
  const read: Record<string, unknown> = {};
  const spelled = new Map<string, string>();
  for (const [written, each] of Object.entries(value)) {
    const here = [...path, written];
    const name = toName(written);
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!field) {
      const known = Object.keys(fields).filter((one) => !one.startsWith('$'));
      const meant = nearestName(name, known) ?? nearestName(written, known);
      report(here, { kind: 'unknown', name: written, known, meant });
      continue;
    }
    // In JSON, `null` means a field that is not set.
    if (each === null || each === undefined) continue;
    const other = spelled.get(name);
    if (other === undefined) read[name] = readField(here, each, field, reading);
    else report(here, { kind: 'duplicate', other });
    spelled.set(name, written);
  }
  for (const [name, { isNeeded, description }] of Object.entries(fields))
    if (isNeeded && !spelled.has(name)) report(path, { kind: 'missing', name, description });
  return read;
}

function readField(path: FieldPath, value: unknown, field: Field, reading: FieldReading): unknown {
  const { report, inspect } = reading;
  const refuse = (expected: string): undefined => {
    report(path, { kind: 'value', expected, value });
    return undefined;
  };
  switch (field.kind) {
    case 'text':
      if (isString(value)) inspect?.(path, value);
      return isText(value) && (field.pattern?.test(value) ?? true) ? value : refuse(field.takes);
    case 'choice':
      if (isString(value) && field.values.includes(value)) return value;
      return refuse(field.values.map((one) => JSON.stringify(one)).join(' or '));
    case 'flag':
      return isBoolean(value) ? value : refuse('true or false');
    case 'count':
      if (isCount(value) && value >= field.minimum) return value;
      return refuse(`a whole number, ${field.minimum} or more`);
    case 'texts':
      return isTexts(value) ? value : refuse(field.takes);
    case 'map':
      return isRecord(value) ? readMap(path, value, reading) : refuse('an object with string values');
    case 'section':
      return readSection(path, value, field.fields, reading);
    case 'sections':
      if (!Array.isArray(value)) return refuse('a list');
      return value.map((one, index) => readSection([...path, index], one, field.fields, reading));
    case 'other':
      return field.read(value) ?? refuse(field.takes);
  }
}

function readMap(path: FieldPath, map: Record<string, unknown>, { report, inspect }: FieldReading): unknown {
  for (const [key, value] of Object.entries(map)) {
    if (isString(value)) inspect?.([...path, key], value);
    else report([...path, key], { kind: 'value', expected: 'a string in quotes', value });
  }
  return { ...map };
}

const isText = (value: unknown): value is string => isString(value) && value.trim() !== '';
/** Whether a value is a list of strings that are not blank, with at least one. */
export const isTexts = (value: unknown): value is string[] =>
  listOf(isString)(value) && value.length > 0 && value.every(isText);

/** Returns a path as text: `function.inputs[0]`. */
export const formatFieldPath = (path: FieldPath): string =>
  path.length === 0
    ? 'The file'
    : path.reduce<string>((text, step) => {
        if (typeof step === 'number') return `${text}[${step}]`;
        return text === '' ? step : `${text}.${step}`;
      }, '');

/** Returns a value as text for the sentence of a problem, so it is short. */
export function describeValue(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return value === null ? 'null' : 'an object';
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'nothing';
  if (value.trim() === '') return 'empty';
  return value.length > 60 ? `a string of ${value.length} characters` : JSON.stringify(value);
}

/**
 * Returns the JSON Schema of a table, for completion and validation in the editor.
 * @param otherSpellings returns the other names of a field. These names are valid, but the editor does not suggest
 * them, because it would list each field twice
 */
export function toJsonSchema(fields: Fields, otherSpellings: (name: string) => readonly string[]): JsonSchema {
  const needed = Object.keys(fields).filter((name) => fields[name]?.isNeeded);
  const entries = Object.entries(fields).map(([name, field]) => [name, fieldSchema(field, otherSpellings)] as const);
  const others = entries.flatMap(([name, schema]) =>
    otherSpellings(name).map((other) => [other, { ...schema, doNotSuggest: true }] as const),
  );
  return {
    type: 'object',
    additionalProperties: false,
    ...(needed.length > 0 && { required: needed }),
    properties: Object.fromEntries([...entries, ...others]),
  };
}

/** JSON Schema of a string that is not empty. */
export const textSchema = { type: 'string', minLength: 1 } as const;

function fieldSchema(field: Field, otherSpellings: (name: string) => readonly string[]): JsonSchema {
  const { description, default: standard } = field;
  const common = { markdownDescription: description, ...(standard !== undefined && { default: standard }) };
  switch (field.kind) {
    case 'text': {
      if (!field.pattern) return { ...textSchema, ...common };
      const { source: pattern } = field.pattern;
      return { type: 'string', pattern, patternErrorMessage: `Must be ${field.takes}.`, ...common };
    }
    case 'choice':
      return { enum: field.values, enumDescriptions: field.meanings, ...common };
    case 'flag':
      return { type: 'boolean', ...common };
    case 'count':
      return { type: 'integer', minimum: field.minimum, ...common };
    case 'texts':
      return { type: 'array', minItems: 1, items: textSchema, ...common };
    case 'map':
      return { type: 'object', additionalProperties: { type: 'string' }, ...common };
    case 'section':
      return { ...toJsonSchema(field.fields, otherSpellings), ...common };
    case 'sections':
      return { type: 'array', items: toJsonSchema(field.fields, otherSpellings), ...common };
    case 'other':
      return { ...field.schema, ...common };
  }
}

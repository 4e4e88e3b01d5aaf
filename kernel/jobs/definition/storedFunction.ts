import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Field } from '#arrow';
import type { Completeness, ComputedFunction, FunctionBody } from '#shared/jobs/computedFunction.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { readOnError } from '#shared/jobs/backfill.ts';
import { isRecord } from '#shared/records.ts';
import { isCount, isString, listOf, shapeFor } from '#shared/shape.ts';
import { maxCodeBytes } from './bundle.ts';
import { functionHash, type Unhashed } from './hash.ts';
import { encodeOutput } from './outputType.ts';

// Functions are stored in the metadata of their field, which directories, object stores and servers all support. Any
// writer of the table can change the metadata. So readers check that the function matches its hash, and trust nothing
// else in the metadata.

export const functionKey = 'lance-catalog.function';
const codeKey = 'lance-catalog.function.code';
/** Hash of the function that computed all existing values. */
export const valuesKey = 'lance-catalog.function.values';
/**
 * Counts of rows when all values were computed: all rows, and those for which the function returned no value. Without
 * them, rows without a value would look like rows to compute.
 */
export const completeKey = 'lance-catalog.function.complete';

const isCompleteness = shapeFor<Completeness>({ rows: isCount, empty: isCount });

/** Reads the counts of `completeKey`. Any writer of the table can set them, so they are only for display. */
export function readCompleteness({ metadata }: Pick<Field, 'metadata'>): Completeness | undefined {
  try {
    const counts: unknown = JSON.parse(metadata.get(completeKey) ?? '');
    return isCompleteness(counts) ? { rows: counts.rows, empty: counts.empty } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether all values come from this function after a run over all rows in scope. Otherwise some values may come from an
 * earlier version of the function, or the scope is not the whole table.
 */
export function madeAll(
  { where, function: { hash } }: { readonly where: string | undefined; readonly function: { readonly hash: string } },
  { metadata }: Pick<Field, 'metadata'>,
): boolean {
  if (where !== undefined) return /^\s*true\s*$/i.test(where);
  const made = metadata.get(valuesKey);
  return made === undefined || made === hash;
}

/** Limit in characters of encoded code, because clients read the code with every schema. */
const maxStoredCode = 256 * 1024;

export type StoredFunction = {
  readonly function: ComputedFunction;
  readonly author: string;
  /** ISO 8601, UTC. */
  readonly registeredAt: string;
};

/**
 * Converts a function to metadata of its field.
 * @throws JobError FunctionInvalid if it is too large, or exists only on a server
 */
export function metadataOf({ function: fn, author, registeredAt }: StoredFunction): Record<string, string | null> {
  const about = {
    version: 1,
    name: fn.name,
    function_version: fn.version,
    hash: fn.hash,
    kind: fn.kind,
    inputs: fn.inputs,
    on_error: fn.onError,
    author,
    registered_at: registeredAt,
  };
  if (fn.kind === 'sql') {
    return { [functionKey]: JSON.stringify({ ...about, expression: fn.expression }), [codeKey]: null };
  }
  if (fn.kind === 'server')
    throw new JobError(
      'FunctionInvalid',
      `The function "${fn.name}" exists only on the catalog server, so it can't be stored on the column.`,
      'Pass a SQL expression, a TypeScript file or a Python file.',
    );
  const entry = fn.kind === 'python' ? { entry: fn.entry } : {};
  const parts = fn.kind === 'python' ? { code: fn.code } : { code: fn.code, source: fn.source };
  const code = deflateRawSync(JSON.stringify(parts), { level: 9 }).toString('base64');
  if (code.length > maxStoredCode) {
    throw new JobError(
      'FunctionInvalid',
      `The function "${fn.name}" has ${Math.ceil(code.length / 1024)} KiB of code, more than the ${maxStoredCode / 1024} KiB that a table can store.`,
      'Import less, or use a smaller package.',
    );
  }
  return { [functionKey]: JSON.stringify({ ...about, takes: fn.takes, ...entry }), [codeKey]: code };
}

/**
 * Reads the function of a field, undefined if there is none.
 * @throws JobError FunctionInvalid if it is damaged, does not match its hash or was stored by a newer version
 */
export function readStored(field: Field): StoredFunction | undefined {
  const text = field.metadata.get(functionKey);
  if (text === undefined) return undefined;
  const json = parsed(text);
  if (!isRecord(json)) throw damaged(field.name);
  if (json['version'] !== 1) {
    const what = `The function of the column "${field.name}" was registered by a newer version of Lance Catalog.`;
    throw new JobError('FunctionInvalid', what, 'Update Lance Catalog, or register the function again.');
  }
  const { name, function_version: version, hash, inputs } = json;
  const { author, registered_at: registeredAt } = json;
  const isRead = typeof name === 'string' && typeof hash === 'string' && isStrings(inputs);
  const body = isRead ? bodyOf(json, field) : undefined;
  const onError = readOnError(json['on_error']);
  if (!isRead || !body || !onError) throw damaged(field.name);
  const fn: Unhashed = {
    name,
    version: stringOrEmpty(version),
    inputs,
    output: encodeOutput(field.name, field.type),
    onError,
    ...body,
  };
  // Users consent to a hash. So the hash must be the hash of the code that would run.
  if (functionHash(fn) !== hash) {
    const what = `The function stored on the column "${field.name}" has changed since it was registered: its code or the type of the column differs.`;
    throw new JobError('FunctionInvalid', what, 'Register the function again.');
  }
  return {
    function: Object.freeze({ ...fn, hash }),
    author: stringOrEmpty(author),
    registeredAt: stringOrEmpty(registeredAt),
  };
}

function bodyOf(json: Record<string, unknown>, field: Field): FunctionBody | undefined {
  const { kind, takes, entry, expression } = json;
  if (kind === 'sql') return typeof expression === 'string' ? { kind, expression } : undefined;
  if (takes !== 'row' && takes !== 'batch') return undefined;
  const { code, source } = codeOf(field);
  if (typeof code !== 'string') return undefined;
  if (kind === 'python') return typeof entry === 'string' ? { kind, takes, code, entry } : undefined;
  return kind === 'typescript' && typeof source === 'string' ? { kind, takes, code, source } : undefined;
}

function codeOf(field: Field): { code?: unknown; source?: unknown } {
  const packed = field.metadata.get(codeKey);
  if (packed === undefined) return {};
  try {
    // The limit is for code and source together.
    const text = inflateRawSync(Buffer.from(packed, 'base64'), { maxOutputLength: 2 * maxCodeBytes });
    const json = parsed(text.toString('utf8'));
    return isRecord(json) ? json : {};
  } catch (cause) {
    throw damaged(field.name, cause);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const stringOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');

const isStrings = listOf(isString);

const damaged = (column: string, cause?: unknown): JobError =>
  new JobError(
    'FunctionInvalid',
    `The stored function of the column "${column}" is damaged.`,
    'Register the function again.',
    {
      cause,
    },
  );

import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import type { DistanceType, QuerySpec } from '#client/querySpec.ts';
import { noLimit } from '#client/wire.ts';

// What comes in a JSON body is checked here before anything acts on it: a field of the wrong type is refused, and so is
// one that the specification knows and this server does not do, which would change the answer.

type Json = Record<string, unknown>;

const wrong = (field: string, wanted: string): never => {
  throw new CatalogError(
    'InvalidInput',
    `The field "${field}" of the request is not ${wanted}.`,
    'Correct the request.',
  );
};

export function text(body: Json, field: string): string | undefined {
  const value = body[field] ?? undefined;
  return value === undefined || typeof value === 'string' ? value : wrong(field, 'text');
}

export function requiredText(body: Json, field: string): string {
  return text(body, field) ?? wrong(field, 'there');
}

export function count(body: Json, field: string): number | undefined {
  const value = body[field] ?? undefined;
  if (value === undefined) return undefined;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    ? value
    : wrong(field, 'a whole number from 0');
}

export function textList(body: Json, field: string): string[] | undefined {
  const value = body[field] ?? undefined;
  if (value === undefined) return undefined;
  return Array.isArray(value) && value.every((item): item is string => typeof item === 'string')
    ? value
    : wrong(field, 'a list of texts');
}

export function textMap(body: Json, field: string): Record<string, string> | undefined {
  const value = object(body, field);
  if (value === undefined) return undefined;
  const entries = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return entries.length === Object.keys(value).length ? Object.fromEntries(entries) : wrong(field, 'a map of texts');
}

function object(body: Json, field: string): Json | undefined {
  const value = body[field] ?? undefined;
  if (value === undefined) return undefined;
  return isRecord(value) ? value : wrong(field, 'an object');
}

/** `ExistOk`, `EXIST_OK` and `exist_ok` are the same word to the specification. */
export const snakeCase = (word: string | undefined): string | undefined =>
  word?.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();

const notOffered = [
  'full_text_query',
  'branch',
  'ef',
  'fast_search',
  'lower_bound',
  'upper_bound',
  'nprobes',
  'refine_factor',
  'with_row_id',
  'bypass_vector_index',
] as const;

const distances: readonly DistanceType[] = ['l2', 'cosine', 'dot'];

/** @throws CatalogError InvalidInput (13), Unsupported (0) for parts of the specification that are not offered */
export function querySpec(body: Json): { spec: QuerySpec; version: number | undefined } {
  for (const field of notOffered) {
    const value = body[field];
    if (value !== undefined && value !== null && value !== false) {
      throw new CatalogError('Unsupported', `This server does no "${field}" in a query.`, 'Leave it out.');
    }
  }
  if (body['prefilter'] === false) {
    throw new CatalogError('Unsupported', 'This server filters before a search, not after.', 'Leave prefilter out.');
  }
  const k = count(body, 'k');
  if (k === undefined) wrong('k', 'there');
  const columns = object(body, 'columns');
  if (columns?.['column_aliases'] !== undefined) {
    throw new CatalogError('Unsupported', 'This server does no column aliases.', 'Give columns.column_names.');
  }
  const names = columns && textList(columns, 'column_names');
  const filter = text(body, 'filter');
  const offset = count(body, 'offset');
  const vector = queryVector(body);
  const spec: QuerySpec = {
    ...(names && { columns: names }),
    ...(filter !== undefined && { filter }),
    ...(k !== undefined && k !== noLimit && { limit: k }),
    ...(offset !== undefined && { offset }),
    ...(vector && { vector }),
  };
  return { spec, version: count(body, 'version') };
}

function queryVector(body: Json): QuerySpec['vector'] {
  const vector = object(body, 'vector');
  if (vector?.['multi_vector'] !== undefined && vector['multi_vector'] !== null) {
    throw new CatalogError('Unsupported', 'This server searches by one vector.', 'Send vector.single_vector.');
  }
  const values = vector?.['single_vector'] ?? [];
  if (!Array.isArray(values) || !values.every((value): value is number => typeof value === 'number')) {
    return wrong('vector.single_vector', 'a list of numbers');
  }
  const column = text(body, 'vector_column');
  const word = text(body, 'distance_type');
  const distanceType = distances.find((known) => known === word?.toLowerCase());
  if (word !== undefined && !distanceType) wrong('distance_type', `one of ${distances.join(', ')}`);
  // The specification requires a vector; an empty one means a plain scan.
  if (values.length === 0) return undefined;
  return { values, ...(column !== undefined && { column }), ...(distanceType && { distanceType }) };
}

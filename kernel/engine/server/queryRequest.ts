import { CatalogError } from '#shared/errors.ts';
import { definedEntries } from '#shared/records.ts';
import type { Ordering, QueryOptions, QuerySpec } from '#catalog/query/querySpec.ts';
import { distanceTypes } from '#shared/vectorTypes.ts';
import { noLimit } from '#catalog/contract.ts';
import { parseFullTextQuery } from './fullTextRequest.ts';
import {
  allTexts,
  choice,
  count,
  optionalBoolean,
  missing,
  optionalNumber,
  object,
  objectList,
  requiredCount,
  requiredString,
  optionalString,
  textList,
  invalidRequestField,
  type Json,
} from './requestBody.ts';

/**
 * Parses a "QueryTableRequest"; `order_by` is an extension of this server (`Prefer: order_by`).
 * @throws CatalogError InvalidInput (13), Unsupported (0) for parts of the specification that are not supported
 */
export function querySpec(body: Json): QuerySpec {
  const limit = requiredCount(body, 'k');
  const filter = optionalString(body, 'filter');
  const offset = count(body, 'offset');
  const vector = vectorOf(body);
  const fullText = fullTextOf(body);
  const prefilter = optionalBoolean(body, 'prefilter');
  return {
    ...columnsOf(body),
    ...(filter !== undefined && filter !== '' && { filter }),
    ...(limit !== noLimit && { limit }),
    ...(offset !== undefined && offset > 0 && { offset }),
    ...(optionalBoolean(body, 'with_row_id') && { withRowId: true }),
    ...(prefilter === false && { prefilter }),
    ...(optionalBoolean(body, 'fast_search') && { fastSearch: true }),
    ...(vector && { vector }),
    ...(fullText && { fullText }),
    ...orderOf(body),
  };
}

function columnsOf(body: Json): Pick<QuerySpec, 'columns' | 'columnAliases'> {
  const columns = object(body, 'columns');
  if (!columns) return {};
  const names = textList(columns, 'column_names');
  const aliases = object(columns, 'column_aliases');
  if (names && aliases) invalidRequestField('columns', 'either column_names or column_aliases');
  if (names?.includes('')) invalidRequestField('columns.column_names', 'a list of non-empty names');
  if (names) return { columns: names };
  return aliases ? { columnAliases: allTexts(aliases, 'columns.column_aliases') } : {};
}

const isNumberList = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'number');

function vectorOf(body: Json): QuerySpec['vector'] {
  const vector = object(body, 'vector');
  const single = vector?.['single_vector'] ?? [];
  if (!isNumberList(single)) return invalidRequestField('vector.single_vector', 'a list of numbers');
  const several = vector?.['multi_vector'] ?? [];
  if (!Array.isArray(several) || !several.every(isNumberList))
    return invalidRequestField('vector.multi_vector', 'a list of lists of numbers');
  if (single.length > 0 && several.length > 0) invalidRequestField('vector', 'either single_vector or multi_vector');
  const [values = single, ...more] = several;
  const options: QueryOptions = {
    column: optionalString(body, 'vector_column'),
    distanceType: choice(optionalString(body, 'distance_type'), 'distance_type', distanceTypes),
    ...probesOf(body),
    refineFactor: count(body, 'refine_factor'),
    ef: count(body, 'ef'),
    bypassVectorIndex: optionalBoolean(body, 'bypass_vector_index'),
    lowerBound: optionalNumber(body, 'lower_bound'),
    upperBound: optionalNumber(body, 'upper_bound'),
  };
  // The specification requires a vector; an empty one means a plain scan.
  if (values.length === 0) return undefined;
  return { ...definedEntries(options), values, ...(more.length > 0 && { more }) };
}

/**
 * Returns the numbers of partitions to search. A minimum or a maximum replaces `nprobes`. A minimum without a maximum may
 * search all partitions; LanceDB's client sends the maximum 0 for the same.
 */
function probesOf(body: Json): QueryOptions {
  const minimumNprobes = count(body, 'minimum_nprobes');
  const maximumNprobes = count(body, 'maximum_nprobes');
  if (minimumNprobes === undefined && maximumNprobes === undefined) return { nprobes: count(body, 'nprobes') };
  return { minimumNprobes, maximumNprobes: maximumNprobes ?? 0 };
}

function fullTextOf(body: Json): QuerySpec['fullText'] {
  const asked = object(body, 'full_text_query');
  if (!asked) return undefined;
  const structured = object(asked, 'structured_query');
  if (structured)
    return { query: parseFullTextQuery(object(structured, 'query') ?? missing('structured_query.query')) };
  const words = object(asked, 'string_query') ?? missing('full_text_query.string_query');
  const columns = textList(words, 'columns');
  return { ...(columns && columns.length > 0 && { columns }), query: requiredString(words, 'query') };
}

function orderOf(body: Json): Pick<QuerySpec, 'orderBy'> {
  if ((body['order_by'] ?? undefined) === undefined) return {};
  const orderBy = objectList(body, 'order_by').map((entry): Ordering => {
    const descending = optionalBoolean(entry, 'descending');
    const nullsFirst = optionalBoolean(entry, 'nulls_first');
    return {
      column: requiredString(entry, 'column'),
      ...(descending !== undefined && { descending }),
      ...(nullsFirst !== undefined && { nullsFirst }),
    };
  });
  return orderBy.length > 0 ? { orderBy } : {};
}

/**
 * Returns the version or branch to query. @throws CatalogError InvalidInput (13), VersionNotFound (11) for version 0
 */
export function versionOf(body: Json): { version?: number; branch?: string } {
  const version = count(body, 'version');
  const branch = optionalString(body, 'branch');
  if (version === 0) throw new CatalogError('VersionNotFound', 'No table has a version 0.', 'Versions start at 1.');
  return { ...(version !== undefined && { version }), ...(branch !== undefined && branch !== '' && { branch }) };
}

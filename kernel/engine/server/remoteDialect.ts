import type { IncomingMessage } from 'node:http';
import { noLimit, type Operation } from '#catalog/contract.ts';
import { CatalogError, type CatalogErrorKind } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import { typeOfLance } from './lanceTypeNames.ts';
import { invalidRequestField, type Json, object, optionalString, requiredString, textList } from './requestBody.ts';

// The protocol of LanceDB's remote client (`connect("db://…")`). It has the URLs of the specification with a slash at
// the end, and other forms of some requests and responses. This module converts them, so that the handlers know only
// the specification. On URLs of this client the forms of the specification are accepted too.

/** The protocol of a request: that of the specification, or that of LanceDB's remote client. */
export type Dialect = 'specification' | 'lancedb';

type Route = { readonly dialect: Dialect; readonly operation: Operation | undefined };

/**
 * The header by which LanceDB's remote client learns what a server supports. Without it, the client sends only the
 * words of a full-text query, so that a query for all of several words finds rows with one of them. From 0.2.0 it sends
 * several vectors in one request, and from 0.3.0 full-text queries with their structure. From 0.4.0 it would split
 * inserts into parts, which this server does not support.
 */
const remoteVersionHeader = { 'phalanx-version': '0.3.0' } as const;

/**
 * Returns the headers that every response to LanceDB's remote client has. The client remembers the version with the
 * tables of every list, even if the URL of the list has no slash at the end. So its requests are also recognized by the
 * header with the name of a database.
 */
export const remoteHeaders = ({ dialect }: Route, { headers }: IncomingMessage): Readonly<Record<string, string>> =>
  dialect === 'lancedb' || headers['x-lancedb-database'] !== undefined ? remoteVersionHeader : {};

type Translation = {
  /** Converts the JSON body of a request to that of the specification. */
  readonly body?: (body: Json) => Json;
  /** Converts the JSON of a response from that of the specification. */
  readonly response?: (response: Json) => unknown;
  /** Parameters of the URL that the client never sends, with the values that it means. */
  readonly parameters?: Readonly<Record<string, string>>;
};

const translations: { readonly [K in Operation]?: Translation } = {
  QueryTable: { body: queryBody },
  AnalyzeTableQueryPlan: { body: queryBody },
  ExplainTableQueryPlan: {
    body: (body) => (isRecord(body['query']) ? { ...body, query: queryBody(body['query']) } : body),
  },
  UpdateTable: { response: (response) => ({ ...response, rows_updated: response['updated_rows'] }) },
  CreateTableIndex: { body: indexBody },
  CreateTableScalarIndex: { body: indexBody },
  AlterTableAlterColumns: { body: alterBody },
  // The client reads all tags from one response, which has no page token.
  ListTableTags: {
    response: ({ tags }) => tags,
    parameters: { limit: String(Number.MAX_SAFE_INTEGER) },
  },
};

/** Returns the operation that the client means. The client lists the tables of the root by the URL for all tables. */
export const remoteOperation = (operation: Operation): Operation =>
  operation === 'ListAllTables' ? 'ListTables' : operation;

/** Adds the parameters that the client means, although it does not send them. */
export function addParameters(query: URLSearchParams, operation: Operation): void {
  for (const [name, value] of Object.entries(translations[operation]?.parameters ?? {}))
    if (!query.has(name)) query.set(name, value);
}

const translationOf = ({ dialect, operation }: Route): Translation | undefined =>
  dialect === 'lancedb' && operation ? translations[operation] : undefined;

/**
 * Returns the JSON body of a request in the form of the specification.
 * @throws CatalogError InvalidInput (13), Unsupported (0) for a query that the specification can't express
 */
export const specificationBody = (route: Route, body: Json): Json => translationOf(route)?.body?.(body) ?? body;

/** Returns the JSON of a response in the form that the client reads. */
export function dialectResponse(route: Route, response: unknown): unknown {
  const convert = translationOf(route)?.response;
  return convert && isRecord(response) ? convert(response) : response;
}

/**
 * Kinds whose status misleads the client. The client takes every 404 for a missing table. After a 409 it repeats the
 * request, and its last error reports only the number of attempts.
 */
const refusedKinds: ReadonlySet<CatalogErrorKind> = new Set([
  'BranchNotFound',
  'ColumnNotFound',
  'IndexAlreadyExists',
  'IndexNotFound',
  'InvalidTableState',
  'TableAlreadyExists',
  'TagAlreadyExists',
  'TagNotFound',
  'VersionNotFound',
] satisfies CatalogErrorKind[]);

/** Returns the error for the client: with the status 400 if the client would misunderstand the actual status. */
export function dialectError({ dialect, operation }: Route, error: CatalogError): CatalogError {
  // The client returns nothing if the statistics of an index have the status 404.
  const isAnswer = operation === 'DescribeTableIndexStats' && error.kind === 'IndexNotFound';
  if (dialect !== 'lancedb' || isAnswer || !refusedKinds.has(error.kind)) return error;
  // The client recognizes a table that it can't create by these words.
  const isCreated = operation === 'CreateTable' && error.kind === 'TableAlreadyExists';
  const what = isCreated ? `Table "${error.identifier ?? ''}" already exists.` : error.what;
  return new CatalogError(error.kind, what, error.hint, { status: 400, cause: error }).about(error);
}

function queryBody(body: Json): Json {
  const { k, vector, columns, full_text_query: text, order_by: order } = body;
  return {
    ...body,
    // Without a limit the client sends the largest integer of 64 bits.
    ...(typeof k === 'number' && k > Number.MAX_SAFE_INTEGER && { k: noLimit }),
    ...(Array.isArray(vector) && { vector: vectors(vector) }),
    ...(Array.isArray(columns) && { columns: { column_names: columns } }),
    ...(isAliases(columns) && { columns: { column_aliases: columns } }),
    ...(isRecord(text) && 'query' in text && { full_text_query: fullTextQuery(text) }),
    ...(Array.isArray(order) && { order_by: order.map(ordering) }),
  };
}

const vectors = (vector: readonly unknown[]): Json =>
  vector.some((one) => Array.isArray(one)) ? { multi_vector: vector } : { single_vector: vector };

/** Whether `columns` maps names to SQL. In the form of the specification its values are lists or objects. */
const isAliases = (columns: unknown): boolean =>
  isRecord(columns) && Object.values(columns).some((value) => typeof value === 'string');

function ordering(entry: unknown): unknown {
  if (!isRecord(entry) || !('column_name' in entry)) return entry;
  const { column_name: column, ascending, ...rest } = entry;
  if (typeof ascending !== 'boolean' && (ascending ?? undefined) !== undefined)
    invalidRequestField('order_by[].ascending', 'true or false');
  return { ...rest, column, descending: ascending === false };
}

/** Converts a query for text: words with columns, or one with structure. */
function fullTextQuery(text: Json): Json {
  const { query } = text;
  if (!isRecord(query)) {
    const columns = textList(text, 'columns');
    return { string_query: { query, ...(columns && columns.length > 0 && { columns }) } };
  }
  const match = object(query, 'match');
  return match && (match['column'] ?? undefined) === undefined
    ? { string_query: { query: wordsOf(match) } }
    : { structured_query: { query: textClause(query) } };
}

const plainMatch = { boost: 1, fuzziness: 0, max_expansions: 50, operator: 'Or', prefix_length: 0 };

/**
 * Returns the words of a match in all columns.
 * @throws CatalogError Unsupported (0) for a match with options, because the options need a column
 */
function wordsOf(match: Json): string {
  const changed = Object.entries(plainMatch).find(([name, usual]) => name in match && match[name] !== usual);
  if (!changed) return requiredString(match, 'terms');
  throw new CatalogError(
    'Unsupported',
    `This server does not support the option "${changed[0]}" in a full-text query without a column.`,
    'Name the column of the query.',
  );
}

/** Converts a clause of a full-text query. Lance writes a `multi_match` as one text with a list of columns. */
function textClause(clause: unknown): unknown {
  if (!isRecord(clause)) return clause;
  const several = object(clause, 'multi_match');
  if (several && 'columns' in several) return { multi_match: { match_queries: matchQueries(several) } };
  const boost = object(clause, 'boost');
  if (boost)
    return { boost: { ...boost, positive: textClause(boost['positive']), negative: textClause(boost['negative']) } };
  const boolean = object(clause, 'boolean');
  if (!boolean) return clause;
  const parts = Object.entries(boolean).map(([occur, list]) => [
    occur,
    Array.isArray(list) ? list.map(textClause) : list,
  ]);
  return { boolean: Object.fromEntries(parts) };
}

function matchQueries(several: Json): Json[] {
  const terms = optionalString(several, 'query');
  const boosts: unknown = several['boost'];
  return (textList(several, 'columns') ?? []).map((column, index) => ({
    terms,
    column,
    ...(Array.isArray(boosts) && { boost: boosts[index] }),
  }));
}

function indexBody({ metric_type: distance, ...body }: Json): Json {
  return { ...((distance ?? undefined) !== undefined && { distance_type: distance }), ...body };
}

function alterBody(body: Json): Json {
  const { alterations } = body;
  if (!Array.isArray(alterations)) return body;
  const converted = alterations.map((entry: unknown) =>
    isRecord(entry) && 'data_type' in entry ? { ...entry, data_type: typeOfLance(entry['data_type']) } : entry,
  );
  return { ...body, alterations: converted };
}

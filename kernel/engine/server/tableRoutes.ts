import { isAbsolute, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { type Schema, Table as ArrowTable, tableToIPC } from '#arrow';
import { preference } from '#catalog/contract.ts';
import { definedEntries } from '#shared/records.ts';
import { isObjectStore } from '#catalog/root.ts';
import { jsonSchema } from '#catalog/arrow/jsonArrow.ts';
import {
  allTexts,
  choice,
  unsupportedByServer,
  object,
  queryFlag,
  queryText,
  requiredString,
  optionalBoolean,
  optionalString,
  textList,
  textMap,
  invalidRequestField,
  type Json,
} from './requestBody.ts';
import { lanceSchema } from './lanceTypeNames.ts';
import { versionOf } from './queryRequest.ts';
import { taggedVersion } from './dataRoutes.ts';
import { openTable, tableOf, type RequestContext, type Handlers } from './routeTypes.ts';
import type { ServedCatalog } from './servedCatalog.ts';

/**
 * Returns the field `storage_options` of a response. It never has the server's own credentials: a server that vends
 * credentials sends temporary ones for this table.
 * @param wanted the field `vend_credentials` of the request. If it is missing, credentials are sent too, because
 * pylance reads them from the response to its first description of a table, which it requests without this field
 */
async function storageOptions(
  { vendCredentials, id }: Pick<RequestContext, 'vendCredentials' | 'id'>,
  location: string | undefined,
  wanted: boolean | undefined,
  isRequired = false,
): Promise<{ storage_options?: Record<string, string> }> {
  if (wanted === false || location === undefined) return {};
  return definedEntries({ storage_options: await vendCredentials?.({ id, location, isRequired }) });
}

/** Parses a map that the query string contains as JSON. */
function queryMap(query: URLSearchParams, field: string): Record<string, string> {
  const given = queryText(query, field);
  if (given === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(given);
  } catch {
    invalidRequestField(field, 'JSON');
  }
  return allTexts(object({ [field]: value }, field) ?? {}, field);
}

/** Returns the version, tag or branch to describe; a tag can't be combined with the others. */
async function tableAt(call: RequestContext, body: Json): Promise<{ version?: number; branch?: string }> {
  const at = versionOf(body);
  const tag = optionalString(body, 'tag');
  if (tag === undefined || tag === '') return at;
  if (at.version !== undefined || at.branch !== undefined) {
    const what = 'The field "tag" of the request can\'t be combined with "version" or "branch".';
    throw new CatalogError('InvalidInput', what, 'Send only one of them.');
  }
  return taggedVersion(call, tag);
}

/**
 * Checks that a requested location of a table is below the root: relative to it, or in the form that this server
 * writes. The client is authorized for this catalog only.
 * @throws CatalogError InvalidInput (13) for any other location
 */
function placeIn({ location: root }: ServedCatalog, place: string): string {
  const inside = isObjectStore(root)
    ? place.startsWith(`${root.replace(/\/+$/, '')}/`)
    : isAbsolute(place) && !relative(root, place).split(sep).includes('..') && relative(root, place) !== '';
  const isPath = !isObjectStore(place) && !isAbsolute(place) && !/^[A-Za-z][\w+.-]*:/.test(place);
  const steps = place.split(/[\\/]/);
  if ((inside || isPath) && !steps.includes('..') && !steps.includes('.') && !place.includes('\0')) return place;
  throw new CatalogError(
    'InvalidInput',
    'The location is not below the root of this catalog.',
    'Send a path relative to the root, for instance "orders.lance".',
  );
}

/** Returns a location as a URL; locations in object stores are URLs already. */
const uriOf = (location: string): string => (isObjectStore(location) ? location : pathToFileURL(location).href);

async function describe(call: RequestContext): Promise<unknown> {
  const { catalog, dialect, id, query, preferences, signal } = call;
  const body = await call.json();
  const [name, namespacePath] = tableOf(id);
  const isDetailed = queryFlag(query, 'load_detailed_metadata') ?? false;
  const checksDeclared = queryFlag(query, 'check_declared') ?? false;
  const withUri = queryFlag(query, 'with_table_uri') ?? false;
  const isArrow = preferences.has(preference.arrowDescription);
  const wanted = optionalBoolean(body, 'vend_credentials');
  const at = await tableAt(call, body);
  const placeReply = async (location: string | undefined) => ({
    ...(location !== undefined && { location }),
    ...(withUri && location !== undefined && { table_uri: uriOf(location) }),
    ...(await storageOptions(call, location, wanted, wanted === true)),
  });
  let found: Awaited<ReturnType<ServedCatalog['describe']>>;
  try {
    const parts = { rows: isArrow && isDetailed, fragments: isDetailed && !isArrow };
    found = await catalog.describe(name, namespacePath, { ...at, ...parts, signal });
  } catch (error) {
    const isUnwritten = !isDetailed && isCatalogError(error, 'InvalidTableState');
    const location = isUnwritten ? await catalog.declaredLocation(name, namespacePath, { signal }) : undefined;
    if (location === undefined) throw error;
    return { table: name, namespace: namespacePath, ...(await placeReply(location)), is_only_declared: true };
  }
  const { version, schema, numRows, numFragments } = found;
  const shown = {
    table: name,
    namespace: namespacePath,
    ...(await placeReply(found.location)),
    // If the table can be described, its data has been written.
    ...((checksDeclared || isDetailed) && { is_only_declared: false }),
    version,
  };
  // The JSON form of a schema has no units and zones of times, and takes long for thousands of columns.
  if (isArrow) return { ...shown, ...definedEntries({ num_rows: numRows }), arrow_schema: schemaText(schema) };
  // LanceDB's remote client opens a table by a request without a version, and then does not need its schema. So a table
  // whose schema it can't read can be opened, counted, renamed and dropped.
  if (dialect === 'lancedb' && !isDetailed)
    return { ...shown, ...('version' in body && { schema: lanceSchema(schema, name) }) };
  // LanceDB's own client reads the version and the schema without requesting details, so these are always returned.
  if (!isDetailed) return { ...shown, schema: jsonOf(schema) };
  return {
    ...shown,
    schema: jsonOf(schema),
    metadata: Object.fromEntries(schema.metadata),
    // The engine reports only the number of existing rows, not of deleted ones.
    stats: { num_fragments: numFragments, num_deleted_rows: 0 },
  };
}

const jsonSchemas = new WeakMap<Schema, ReturnType<typeof jsonSchema>>();

/** Returns the JSON form of a schema, which is computed once per schema object: for 10,000 columns this takes 50 ms. */
function jsonOf(schema: Schema): ReturnType<typeof jsonSchema> {
  const known = jsonSchemas.get(schema) ?? jsonSchema(schema);
  jsonSchemas.set(schema, known);
  return known;
}

/** Encodes a schema as a base64 Arrow IPC stream without rows. */
const schemaText = (schema: Schema): string =>
  Buffer.from(tableToIPC(new ArrowTable(schema), 'stream')).toString('base64');

/**
 * Returns the namespace that a table moves to. The specification calls it `new_namespace_id`, LanceDB's remote client
 * `new_namespace`.
 */
function newNamespaceOf(body: Json): string[] | undefined {
  const path = textList(body, 'new_namespace_id');
  const other = textList(body, 'new_namespace');
  if (path && other && !isDeepStrictEqual(path, other))
    invalidRequestField('new_namespace', 'the value of new_namespace_id, or nothing');
  return path ?? other;
}

export const tableHandlers: Handlers = {
  async CreateTable(call) {
    const { catalog, id, query, arrow, own, preferences, signal } = call;
    const [name, path] = tableOf(id);
    const mode = choice(queryText(query, 'mode'), 'mode', ['create', 'exist_ok', 'overwrite']);
    if (Object.keys(queryMap(query, 'properties')).length > 0) {
      // The status is 400, because the specification has no 406 for this operation.
      const hint = 'Leave out the properties, or first declare the table with its properties and then insert the rows.';
      throw new CatalogError('InvalidInput', "Can't set properties of a table that is created with rows.", hint);
    }
    if (Object.keys(queryMap(query, 'storage_options')).length > 0) {
      unsupportedByServer('storage options in a request', 'Leave storage_options out.');
    }
    const { schema, batches } = await arrow();
    const table = own(await catalog.createTable(name, batches, path, { mode, schema, signal }));
    const { location } = await catalog.describe(name, path, { signal });
    // The request has no field for this. The request succeeds without credentials too, because the table exists now.
    const storage = await storageOptions(call, location, !preferences.has(preference.noCredentials));
    const version = await table.version({ signal });
    return { json: { version, ...(location !== undefined && { location }), ...storage } };
  },
  async DeclareTable(call) {
    const { catalog, id, json, signal } = call;
    const [name, path] = tableOf(id);
    const body = await json();
    const wanted = optionalBoolean(body, 'vend_credentials');
    const place = optionalString(body, 'location');
    const { location } = await catalog.declareTable(name, path, {
      location: place === undefined ? undefined : placeIn(catalog, place),
      properties: textMap(body, 'properties'),
      signal,
    });
    // The request succeeds without credentials too, because the name is taken now: a repeated request would fail.
    return { json: { location, ...(await storageOptions(call, location, wanted)) } };
  },
  async RegisterTable({ catalog, id, json, signal }) {
    const [name, path] = tableOf(id);
    const body = await json();
    const location = placeIn(catalog, requiredString(body, 'location'));
    const mode = choice(optionalString(body, 'mode'), 'mode', ['create', 'overwrite']);
    await catalog.registerTable(name, location, path, { mode, properties: textMap(body, 'properties'), signal });
    return { json: { location } };
  },
  async DeregisterTable({ catalog, id, json, signal }) {
    const [name, path] = tableOf(id);
    await json();
    return { json: await catalog.deregisterTable(name, path, { signal }) };
  },
  async DescribeTable(call) {
    return { json: await describe(call) };
  },
  async TableExists(call) {
    const { catalog, id, signal } = call;
    const [name, path] = tableOf(id);
    const at = versionOf(await call.json());
    if (at.version === undefined) {
      // `tableExists` is also true for a table that exists but can't be read.
      if (await catalog.tableExists(name, path, { signal })) return { empty: true };
      await openTable(call);
    }
    await openTable(call, at);
    return { empty: true };
  },
  async DropTable({ catalog, id, optionalJson, signal }) {
    const [name, path] = tableOf(id);
    await optionalJson();
    await catalog.dropTable(name, path, { signal });
    return { json: {} };
  },
  async RenameTable({ catalog, id, json, signal }) {
    const [name, path] = tableOf(id);
    const body = await json();
    const newNamespacePath = newNamespaceOf(body);
    await catalog.renameTable(name, requiredString(body, 'new_table_name'), path, { newNamespacePath, signal });
    return { json: {} };
  },
};

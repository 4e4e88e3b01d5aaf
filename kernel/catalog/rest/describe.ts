import type { Schema } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { schemaOfJson } from '#catalog/arrow/jsonArrowTypes.ts';
import { preference } from '#catalog/contract.ts';
import type { Wire } from '#catalog/transport/request.ts';
import { readArrow } from '#shared/arrow/readArrow.ts';
import { CatalogError } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import { nextSteps } from '#shared/nextSteps.ts';
import { setNewest } from '#shared/setNewest.ts';
import { Reply } from './reply.ts';
import type { RestTarget } from './target.ts';

/** What a server reports about a table; our own server reports all of it. */
export type Described = {
  version: number | undefined;
  location: string | undefined;
  numRows: number | undefined;
  schema: Schema | undefined;
  /** The schema in the specification's JSON form, which has no units and time zones. Not checked. */
  jsonSchema: unknown;
};

/**
 * "DescribeTable": reads what the server reports about a table; fails if the table does not exist. The details
 * `version` and `all` request the version, for which the server has to read the table. Only our own server sends the
 * schema and the number of rows, for the details `schema` and `all`.
 */
export async function describe(
  { wire, id, version, branch }: RestTarget,
  detail: 'existence' | 'version' | 'schema' | 'all',
  { signal }: CallOptions,
): Promise<Described> {
  const body = await wire.json({
    operation: 'DescribeTable',
    id,
    query: detail === 'version' || detail === 'all' ? { load_detailed_metadata: true } : {},
    json: { ...(version !== undefined && { version }), ...(branch !== undefined && { branch }) },
    ...((detail === 'schema' || detail === 'all') && { prefer: preference.arrowDescription }),
    signal,
  });
  const reply = new Reply(wire, body);
  const found = reply.maybeCount('version');
  if (version !== undefined && found !== undefined && found !== version) {
    const what = `Table "${displayPath(id)}" has no version ${version}.`;
    throw new CatalogError('VersionNotFound', what, nextSteps.listVersions);
  }
  const schemaText = reply.maybeText('arrow_schema');
  const isAsked = detail === 'schema' || detail === 'all';
  // A table that was declared and not yet written has no schema on any server.
  if (isAsked && reply.maybeBoolean('is_only_declared') !== true) describesSchemas.set(wire, schemaText !== undefined);
  return {
    version: found,
    location: reply.maybeText('location') ?? reply.maybeText('table_uri'),
    numRows: reply.maybeCount('num_rows'),
    schema: schemaText === undefined ? undefined : decodeSchema(wire, schemaText),
    jsonSchema: reply.raw('schema'),
  };
}

function decodeSchema(wire: Wire, text: string): Schema {
  try {
    return readArrow(Buffer.from(text, 'base64')).schema;
  } catch (error) {
    throw wire.unexpected('an "arrow_schema" that can\'t be read', error);
  }
}

/** Reads the schema from a description. Returns `undefined` if the server describes no schema in Arrow's own form. */
export async function describedSchema(target: RestTarget, options: CallOptions): Promise<Schema | undefined> {
  if (describesSchemas.get(target.wire) === false) return undefined;
  return (await describe(target, 'schema', options)).schema;
}

/**
 * Returns the schema of a table from its JSON description, for a server that has no rows to read the schema from.
 * @throws CatalogError `missing` if the server describes no schema; Unsupported (0) if the JSON form leaves a type open
 */
export async function schemaWithoutRows(
  target: RestTarget,
  options: CallOptions,
  missing: CatalogError,
): Promise<Schema> {
  const { jsonSchema } = await describe(target, 'existence', options);
  if (jsonSchema === undefined) throw missing;
  return schemaOfJson(jsonSchema, (column, type) => {
    const what = `Can't read the schema of table "${displayPath(target.id)}": ${target.wire.name} describes column "${column}" as "${type}", without its details.`;
    return new CatalogError(
      'Unsupported',
      what,
      'See describeTable() for the columns, or open the table in its storage.',
    );
  });
}

/** Whether a server describes schemas in Arrow's own form, once that is known. */
const describesSchemas = new WeakMap<Wire, boolean>();

/** How long a described version counts as known, in milliseconds. After this time the table may have been dropped. */
const freshTime = 5_000;
const maxDescribed = 256;

/** The versions of tables that servers have just described, with the time of the description. */
const described = new WeakMap<Wire, Map<string, { version: number; time: number }>>();

export function noteDescribed(wire: Wire, id: readonly string[], version: number): void {
  const known = described.get(wire) ?? new Map<string, { version: number; time: number }>();
  described.set(wire, known);
  setNewest(known, JSON.stringify(id), { version, time: performance.now() }, maxDescribed);
}

export function isJustDescribed(wire: Wire, id: readonly string[], version: number): boolean {
  const found = described.get(wire)?.get(JSON.stringify(id));
  return found !== undefined && found.version === version && performance.now() - found.time < freshTime;
}

import type { CallOptions, CreateMode } from '#catalog/arguments/options.ts';
import { namespaceHasName } from '#catalog/nameErrors.ts';
import type { Wire } from '#catalog/transport/request.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import { namespaceExists, tableExists, unlessSilent } from './exists.ts';
import { Reply } from './reply.ts';
import { type Encoded, sendArrow } from './writes.ts';

// Creation of tables on a server. Some servers ignore optional parts of the specification; this file does those parts
// itself.

/**
 * "CreateTable", in the requested mode even on servers that support only one mode.
 * @throws CatalogError TableAlreadyExists (5)
 */
export async function createTable(
  wire: Wire,
  id: readonly string[],
  encoded: Encoded,
  mode: CreateMode,
  { signal }: CallOptions,
): Promise<void> {
  try {
    await sendArrow(wire, { operation: 'CreateTable', id, query: { mode }, signal }, encoded);
  } catch (error) {
    if (isCatalogError(error, 'Unsupported') && error.status === 406 && encoded.hasRows) throw withoutRows(id, error);
    if (!isCatalogError(error, 'TableAlreadyExists') || mode === 'create') throw error;
    // Servers send "already exists" also if a namespace has this name or if files of a deregistered table remain.
    if (!(await unlessSilent(tableExists(wire, id, { signal }))))
      throw (await namespaceExists(wire, id, { signal })) ? namespaceHasName(id, error) : error;
    // The table was kept, as requested.
    if (mode === 'exist_ok') return;
    const { body } = encoded;
    // A streamed body can't be sent a second time.
    if (!(body instanceof Uint8Array)) throw noOverwrite(wire, id, error);
    // An insert with the mode "overwrite" replaces all rows and columns at once, so the table never disappears.
    await wire.json({ operation: 'InsertIntoTable', id, query: { mode: 'overwrite' }, arrow: body, signal });
  }
}

/** Adds the next step for servers that create only empty tables. */
const withoutRows = (id: readonly string[], cause: CatalogError): CatalogError =>
  new CatalogError(
    'Unsupported',
    `Can't create table "${displayPath(id)}" with rows: ${cause.what}`,
    'If the server creates only empty tables, call createEmptyTable(), then write the rows to the storage of the table.',
    { status: cause.status, cause },
  );

const noOverwrite = (wire: Wire, id: readonly string[], cause: unknown): CatalogError =>
  new CatalogError(
    'Unsupported',
    `${wire.name} does not overwrite tables, and "${displayPath(id)}" exists already.`,
    'Open it and call add with mode: "overwrite", or drop it first.',
    { cause },
  );

/** "DeclareTable". @throws CatalogError TableAlreadyExists (5) */
export async function declareTable(
  wire: Wire,
  id: readonly string[],
  { location, properties, signal }: CallOptions & { location?: string | undefined; properties?: object | undefined },
): Promise<{ location: string }> {
  const json = { ...(location !== undefined && { location }), ...(properties && { properties }) };
  const body = await wire.json({ operation: 'DeclareTable', id, json, signal });
  return { location: new Reply(wire, body).text('location') };
}

/** "RegisterTable". @throws CatalogError TableAlreadyExists (5) */
export async function registerTable(
  wire: Wire,
  id: readonly string[],
  location: string,
  { mode, properties, signal }: CallOptions & { mode: 'create' | 'overwrite'; properties?: object | undefined },
): Promise<void> {
  const register = (where: string, more: object): Promise<unknown> =>
    wire.json({ operation: 'RegisterTable', id, json: { location: where, ...more }, signal });
  const asked = { mode, ...(properties && { properties }) };
  try {
    await register(location, asked);
  } catch (error) {
    if (mode === 'create' || !isCatalogError(error, 'TableAlreadyExists')) throw error;
    const before = await deregisterTable(wire, id, { signal });
    try {
      await register(location, asked);
    } catch (second) {
      // Registers the previous location again. The data at that location was never changed.
      if (before.location !== undefined) await register(before.location, { mode: 'create' }).catch(() => undefined);
      throw second;
    }
  }
}

/** "DeregisterTable". @throws CatalogError TableNotFound (4) */
export async function deregisterTable(
  wire: Wire,
  id: readonly string[],
  { signal }: CallOptions,
): Promise<{ location?: string }> {
  const body = await wire.json({ operation: 'DeregisterTable', id, json: {}, signal });
  const location = new Reply(wire, body).maybeText('location');
  return location === undefined ? {} : { location };
}

import { realpath } from 'node:fs/promises';
import * as path from 'node:path';
import { checkAddress, localRoot } from '#catalog/root.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { asRecord } from '#shared/records.ts';
import type { SecretOwner } from '../host/secrets.ts';
import { readProperties } from './implementationRules.ts';
import type { Connection, DirConnection, RestConnection } from '../explorer/node.ts';
import { addressProblem, cleanAddress, headerProblem } from './restRules.ts';

/** Returns the error message for an invalid name of a new connection; `undefined` if the name is valid. */
export function connectionNameProblem(name: string, existing: readonly { name: string }[]): string | undefined {
  if (name.trim() === '') return 'A connection needs a name.';
  if (existing.some((one) => one.name === name)) return `The connection "${name}" already exists.`;
  return undefined;
}

/** Suggests an unused name for a directory: its base name, with a number if needed. */
export const suggestName = (root: string, existing: readonly { name: string }[]): string =>
  uniqueName(path.basename(path.resolve(root)) || 'catalog', existing);

export function uniqueName(base: string, existing: readonly { name: string }[]): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base} ${n}`;
    if (!existing.some((one) => one.name === name)) return name;
  }
}

/** Base of relative roots: the home directory, and the first folder of the window if one is open. */
export type RootBase = { home: string; folder?: string | undefined };

/**
 * Returns the root in a form with the same meaning in the engine, kernels and other windows: an absolute path, or the
 * address of an object store. `~` is the home directory; other relative paths start at the folder.
 * @throws CatalogError InvalidInput (13) for a relative path if no folder is open, and for an invalid store address
 */
export function absoluteRoot(root: string, { home, folder }: RootBase): string {
  if (checkAddress(root)) return root;
  if (/^~(?=$|[/\\])/.test(root)) return path.resolve(path.join(home, root.slice(1)));
  if (path.isAbsolute(root) || /^file:\/\//i.test(root)) return localRoot(root);
  if (folder !== undefined) return path.resolve(folder, root);
  throw new CatalogError(
    'InvalidInput',
    `Can't resolve the relative path "${root}": no folder is open.`,
    'Use an absolute path or open a folder.',
  );
}

/** Returns the connection to a directory, also if a link or another spelling of its path was given. */
export async function connectionTo(root: string, existing: readonly Connection[]): Promise<DirConnection | undefined> {
  const directories = existing.filter((one) => one.kind === 'dir');
  const [wanted, ...found] = await Promise.all([root, ...directories.map((one) => one.root)].map(realRoot));
  return directories.find((_, nth) => found[nth] === wanted);
}

/** Addresses of object stores and folders that don't exist are compared as they are written. */
const realRoot = (root: string): Promise<string> =>
  path.isAbsolute(root) ? realpath(root).catch(() => path.resolve(root)) : Promise.resolve(root.replace(/\/+$/, ''));

/** @throws CatalogError InvalidInput (13) if the connection can't be opened in this window */
export function checkConnection<C extends Connection>(connection: C): C {
  if (connection.problem) throw connection.problem;
  return connection;
}

/** Describes the target of a connection: a directory, or an address with its database. Never contains a secret. */
export function connectionLabel(connection: Connection): string {
  if (connection.kind === 'dir') return connection.root;
  if (connection.kind === 'other') return `implementation "${connection.implementation}"`;
  const { uri, database, properties: { databasePrefix, endpoint, proxy } = {} } = connection;
  const parts = Object.entries({ database, prefix: databasePrefix, endpoint, proxy });
  return [uri, ...parts.flatMap(([part, value]) => (value === undefined ? [] : [`${part} ${value}`]))].join(', ');
}

/**
 * Returns the owner of a connection's secrets: the connection's name and address, and its `endpoint`, `ca` and `proxy`
 * if any of the three is set. A folder's settings can change these three properties. A key that the user entered for
 * one route must not be sent over another route.
 */
export function secretOwner({ name, uri, properties: { endpoint, ca, proxy } = {} }: RestConnection): SecretOwner {
  const way = endpoint ?? ca ?? proxy;
  return { name, uri: way === undefined ? uri : JSON.stringify([uri, endpoint, ca, proxy]) };
}

/**
 * Reads the connections from a stored value or a setting. Skips invalid entries, because an entry written by hand or by
 * another version must not hide the valid ones. An entry with `root` is a directory; `${workspaceFolder}` in `root` is
 * replaced. An entry with `uri` is a server. A connection that can't be opened in this window is kept unchanged, with
 * the reason as `problem`.
 */
export function readConnections(value: unknown, source: Connection['source'], base: RootBase): Connection[] {
  if (!Array.isArray(value)) return [];
  const found = new Map<string, Connection>();
  for (const entry of value) {
    const fields = asRecord(entry);
    const { name } = fields;
    if (typeof name !== 'string' || name.trim() === '' || found.has(name)) continue;
    const connection =
      source === 'setting' && typeof fields['implementation'] === 'string'
        ? readImplementation(fields['implementation'], fields['properties'], name, base)
        : (readDir(fields, name, source, base) ?? readRest(fields, name, source));
    if (connection) found.set(name, connection);
  }
  return [...found.values()];
}

/**
 * Reads an entry that sets `implementation` and `properties`. Resolves the root and cleans the address;
 * `connectNamespace` gets all other properties unchanged.
 */
function readImplementation(implementation: string, value: unknown, name: string, base: RootBase): Connection {
  const source = 'setting';
  if (implementation === 'dir') {
    const { properties, problem } = readProperties(name, 'dir', value);
    const { root = '', ...more } = properties;
    const { folder } = base;
    const where = folder === undefined ? root : root.replace('${workspaceFolder}', () => folder);
    const at = problem || where === '' ? { root: where } : place(where, base);
    return { name, kind: 'dir', source, ...at, properties: more, ...(problem && { problem }) };
  }
  if (implementation !== 'rest') return { name, kind: 'other', source, implementation };
  const { properties, problem } = readProperties(name, 'rest', value);
  const { uri = '', database, ...more } = properties;
  const wrong = addressProblem(uri);
  const found = problem ?? (wrong === undefined ? undefined : new CatalogError('InvalidInput', wrong, ''));
  return {
    name,
    kind: 'rest',
    source,
    uri: cleanAddress(uri),
    ...(database !== undefined && database !== '' && { database }),
    properties: more,
    ...(found && { problem: found }),
  };
}

type Fields = Record<string, unknown>;

function readDir(
  { root }: Fields,
  name: string,
  source: Connection['source'],
  base: RootBase,
): DirConnection | undefined {
  if (typeof root !== 'string' || root === '') return undefined;
  const { folder } = base;
  if (root.includes('${workspaceFolder}') && folder === undefined) return undefined;
  const where = folder === undefined ? root : root.replace('${workspaceFolder}', () => folder);
  return { name, kind: 'dir', source, ...place(where, base) };
}

function readRest(
  { uri, database, headers, endpoint, ca }: Fields,
  name: string,
  source: Connection['source'],
): RestConnection | undefined {
  if (typeof uri !== 'string' || uri.trim() === '') return undefined;
  const names = source === 'person' && Array.isArray(headers) ? headers.filter(isHeaderName) : [];
  const wrong = addressProblem(uri);
  const problem = wrong === undefined ? undefined : new CatalogError('InvalidInput', wrong, '');
  return {
    name,
    kind: 'rest',
    source,
    uri: cleanAddress(uri),
    ...(typeof database === 'string' && database !== '' && { database }),
    ...(names.length > 0 && { headerNames: names }),
    // Only the user's own connections have these fields. A folder can contain settings, so an entry of the setting must
    // not choose the endpoint that receives the user's key.
    ...(source === 'person' && { ...textIn('endpoint', endpoint), ...textIn('ca', ca) }),
    ...(problem && { problem }),
  };
}

const textIn = <K extends string>(name: K, value: unknown): { [P in K]?: string } =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a computed name makes it any name
  typeof value === 'string' && value !== '' ? ({ [name]: value } as { [P in K]?: string }) : {};

const isHeaderName = (name: unknown): name is string =>
  typeof name === 'string' && name !== '' && headerProblem(`${name}: x`) === undefined;

/** A connection in its stored form, without derived fields and without secrets. */
export type StoredConnection =
  | { name: string; root: string }
  | { name: string; implementation: string }
  | { name: string; uri: string; database?: string; headers?: readonly string[]; endpoint?: string; ca?: string };

export function storedConnection(connection: Connection): StoredConnection {
  const { name } = connection;
  if (connection.kind === 'dir') return { name, root: connection.root };
  if (connection.kind === 'other') return { name, implementation: connection.implementation };
  const { uri, database, headerNames, endpoint, ca } = connection;
  return {
    name,
    uri,
    ...(database !== undefined && { database }),
    ...(headerNames && { headers: headerNames }),
    ...textIn('endpoint', endpoint),
    ...textIn('ca', ca),
  };
}

function place(root: string, base: RootBase): Pick<DirConnection, 'root' | 'problem'> {
  try {
    return { root: absoluteRoot(root, base) };
  } catch (problem) {
    if (isCatalogError(problem)) return { root, problem };
    throw problem;
  }
}

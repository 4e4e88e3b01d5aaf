import type { CatalogError } from '#shared/errors.ts';
import type { ColumnInfo } from '#shared/protocol/webviewMessages.ts';
import { fieldsOf } from '#shared/records.ts';
import type { DirProperties, RestProperties } from '../connections/implementationRules.ts';

type AnyConnection = {
  name: string;
  /** `setting` ones come from `lanceCatalog.defaultConnections`. */
  source: 'person' | 'setting';
  /** Why it can't be opened in this window. */
  problem?: CatalogError;
};

/** A catalog in a directory. `root` is absolute, except where `problem` says why it is no place in this window. */
export type DirConnection = AnyConnection & {
  kind: 'dir';
  root: string;
  /** What else the setting gives `connectNamespace`. */
  properties?: DirProperties;
};

/** A catalog on a server. What lets the person in is not here but in the editor's secret storage. */
export type RestConnection = AnyConnection & {
  kind: 'rest';
  /** The address, without a slash at its end. */
  uri: string;
  database?: string;
  /** Names of the headers that are sent besides; their values are secrets. */
  headerNames?: readonly string[];
  /** Where to connect instead: a private endpoint, a tunnel. */
  endpoint?: string;
  /** The path of a file with the certificates of the authority that signed the server's. */
  ca?: string;
  /** What else the setting gives `connectNamespace`; no secrets. */
  properties?: RestProperties;
};

/** A catalog of an implementation that this process may not have, from the setting. */
type OtherConnection = AnyConnection & { kind: 'other'; implementation: string };

/** A catalog that the person has connected. */
export type Connection = DirConnection | RestConnection | OtherConnection;

/** Where a node is. `connection` is a connection's name; names are unique. */
export type Place = { connection: string; path: readonly string[] };

/** What a click on an error node does. */
export type Remedy = 'retry' | 'restart' | 'key';

/** What can be done to a catalog from the tree, where it lets one. */
export const abilityNames = ['createNamespace', 'dropNamespace', 'createTable', 'renameTable', 'dropTable'] as const;
export type Ability = (typeof abilityNames)[number];
export const allAbilities: ReadonlySet<Ability> = new Set(abilityNames);

/** A row of the catalog tree: plain data, drawn by render.ts, loaded by loaders.ts. */
export type CatalogNode =
  | { kind: 'connection'; connection: Connection }
  | ({ kind: 'namespace' } & Place)
  | ({ kind: 'table'; table: string } & Place)
  | ({ kind: 'column'; table: string; column: ColumnInfo } & Place)
  | ({ kind: 'more'; what: 'namespaces' | 'tables'; pageToken: string } & Place)
  | ({ kind: 'empty'; text: string; table?: string } & Place)
  | ({ kind: 'damage'; problems: readonly string[] } & Place)
  | ({ kind: 'error'; what: string; hint: string; about: string; remedy: Remedy; table?: string } & Place);

export type NodeOf<K extends CatalogNode['kind']> = Extract<CatalogNode, { kind: K }>;

/** The connection and namespace that a node is in; for those two kinds, what it is itself. */
export const placeOf = (node: CatalogNode): Place =>
  node.kind === 'connection'
    ? { connection: node.connection.name, path: [] }
    : { connection: node.connection, path: node.path };

/** One text per node, the same after a reload, so that the tree keeps what is expanded and selected. */
export function nodeId(node: CatalogNode): string {
  const { connection, path } = placeOf(node);
  return JSON.stringify([node.kind, connection, ...path, ...ownParts(node)]);
}

function ownParts(node: CatalogNode): string[] {
  switch (node.kind) {
    case 'connection':
    case 'namespace':
    case 'damage':
      return [];
    case 'table':
      return [node.table];
    case 'column':
      return [node.table, node.column.name];
    case 'more':
      return [node.what];
    case 'empty':
      return node.table === undefined ? [] : [node.table];
    case 'error':
      return [node.about, ...(node.table === undefined ? [] : [node.table])];
  }
}

/** The node that holds this one; a connection is at the root. */
export function parentOf(node: CatalogNode, connections: readonly Connection[]): CatalogNode | undefined {
  if (node.kind === 'connection') return undefined;
  const place = placeOf(node);
  if (node.kind !== 'table' && 'table' in node && node.table !== undefined) {
    return { kind: 'table', ...place, table: node.table };
  }
  const path = node.kind === 'namespace' ? place.path.slice(0, -1) : place.path;
  if (path.length > 0) return { kind: 'namespace', connection: place.connection, path };
  const connection = connections.find((one) => one.name === place.connection);
  return connection && { kind: 'connection', connection };
}

/** Whether `inner` is `outer` or lies under it. */
export function isWithin(inner: CatalogNode, outer: CatalogNode): boolean {
  const at = placeOf(inner);
  const top = placeOf(outer);
  if (at.connection !== top.connection || !top.path.every((name, i) => at.path[i] === name)) return false;
  if (outer.kind === 'connection' || outer.kind === 'namespace') return true;
  if (outer.kind !== 'table') return nodeId(inner) === nodeId(outer);
  return at.path.length === top.path.length && 'table' in inner && inner.table === outer.table;
}

const isStrings = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/** Checks what a command was given: it may come from a key binding or another extension. */
export function isNode<K extends CatalogNode['kind']>(value: unknown, ...kinds: K[]): value is NodeOf<K> {
  const node = fieldsOf(value);
  if (!kinds.some((kind) => kind === node['kind'])) return false;
  if (node['kind'] === 'connection') return typeof fieldsOf(node['connection'])['name'] === 'string';
  const inTable = node['kind'] === 'table' || node['kind'] === 'column';
  return (
    typeof node['connection'] === 'string' &&
    isStrings(node['path']) &&
    (!inTable || typeof node['table'] === 'string') &&
    (node['kind'] !== 'more' || typeof node['pageToken'] === 'string')
  );
}

/** A server as another extension or a key binding may give it. */
export type GivenServer = {
  uri: string;
  name?: string;
  database?: string;
  endpoint?: string;
  /** The path of a file of certificates. */
  ca?: string;
  apiKey?: string;
  token?: string;
  headers?: Record<string, string>;
};

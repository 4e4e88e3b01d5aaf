import type { CatalogError } from '#shared/errors.ts';
import type { ColumnInfo } from '#shared/protocol/webviewMessages.ts';
import { asRecord } from '#shared/records.ts';
import type { DirProperties, RestProperties } from '../connections/implementationRules.ts';
import { isString, listOf } from '#shared/shape.ts';

type AnyConnection = {
  name: string;
  /** `person`: the user added the connection. `setting`: the connection is from `lanceCatalog.defaultConnections`. */
  source: 'person' | 'setting';
  /** The reason why the connection can't be opened in this window. */
  problem?: CatalogError;
};

/** A catalog in a directory. `root` is absolute unless `problem` says why it can't be resolved in this window. */
export type DirConnection = AnyConnection & {
  kind: 'dir';
  root: string;
  /** Other properties for `connectNamespace`, from the setting. */
  properties?: DirProperties;
};

/** A catalog on a server. Its credentials are in VS Code's secret storage. */
export type RestConnection = AnyConnection & {
  kind: 'rest';
  /** Without a slash at the end. */
  uri: string;
  database?: string;
  /** Names of additional headers; their values are secrets. */
  headerNames?: readonly string[];
  /** A private endpoint or tunnel to connect to instead of `uri`. */
  endpoint?: string;
  /** Path of a file with the CA certificates for the server. */
  ca?: string;
  /** Other properties for `connectNamespace`, from the setting; no secrets. */
  properties?: RestProperties;
};

/** A catalog from the setting with another implementation than `dir` and `rest`, which this window can't open. */
type OtherConnection = AnyConnection & { kind: 'other'; implementation: string };

export type Connection = DirConnection | RestConnection | OtherConnection;

/** The connection and namespace of a node. `connection` is the unique name of a connection. */
export type CatalogLocation = { connection: string; path: readonly string[] };

export type ErrorAction = 'retry' | 'restart' | 'key';

/** Changes that the tree offers if the catalog supports them. */
export const abilityNames = [
  'createNamespace',
  'dropNamespace',
  'createTable',
  'renameTable',
  'optimizeTable',
  'dropTable',
] as const;
export type Ability = (typeof abilityNames)[number];
export const allAbilities: ReadonlySet<Ability> = new Set(abilityNames);

/** A row of the catalog tree as plain data, displayed by render.ts and loaded by loaders.ts. */
export type CatalogNode =
  | { kind: 'connection'; connection: Connection }
  | ({ kind: 'namespace' } & CatalogLocation)
  | ({ kind: 'table'; table: string } & CatalogLocation)
  | ({ kind: 'column'; table: string; column: ColumnInfo } & CatalogLocation)
  | ({ kind: 'more'; what: 'namespaces' | 'tables'; pageToken: string } & CatalogLocation)
  | ({ kind: 'empty'; text: string; table?: string } & CatalogLocation)
  | ({ kind: 'damage'; problems: readonly string[] } & CatalogLocation)
  | ({
      kind: 'error';
      what: string;
      hint: string;
      about: string;
      remedy: ErrorAction;
      table?: string;
    } & CatalogLocation);

export type NodeOf<K extends CatalogNode['kind']> = Extract<CatalogNode, { kind: K }>;

/** Returns the connection and namespace of a node. The path of a namespace node includes the namespace itself. */
export const nodePath = (node: CatalogNode): CatalogLocation =>
  node.kind === 'connection'
    ? { connection: node.connection.name, path: [] }
    : { connection: node.connection, path: node.path };

/** Returns a unique id that is the same after a reload, so that the tree keeps expanded and selected nodes. */
export function nodeId(node: CatalogNode): string {
  const { connection, path } = nodePath(node);
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

/** Returns the parent node; `undefined` for a connection. */
export function parentOf(node: CatalogNode, connections: readonly Connection[]): CatalogNode | undefined {
  if (node.kind === 'connection') return undefined;
  const place = nodePath(node);
  if (node.kind !== 'table' && 'table' in node && node.table !== undefined) {
    return { kind: 'table', ...place, table: node.table };
  }
  const path = node.kind === 'namespace' ? place.path.slice(0, -1) : place.path;
  if (path.length > 0) return { kind: 'namespace', connection: place.connection, path };
  const connection = connections.find((one) => one.name === place.connection);
  return connection && { kind: 'connection', connection };
}

/** Whether `inner` is `outer` or a descendant of it. */
export function isWithin(inner: CatalogNode, outer: CatalogNode): boolean {
  const at = nodePath(inner);
  const top = nodePath(outer);
  if (at.connection !== top.connection || !top.path.every((name, i) => at.path[i] === name)) return false;
  if (outer.kind === 'connection' || outer.kind === 'namespace') return true;
  if (outer.kind !== 'table') return nodeId(inner) === nodeId(outer);
  return at.path.length === top.path.length && 'table' in inner && inner.table === outer.table;
}

const isStrings = listOf(isString);

/** Validates a command argument, which a key binding or another extension may have passed. */
export function isNode<K extends CatalogNode['kind']>(value: unknown, ...kinds: K[]): value is NodeOf<K> {
  const node = asRecord(value);
  if (!kinds.some((kind) => kind === node['kind'])) return false;
  if (node['kind'] === 'connection') return typeof asRecord(node['connection'])['name'] === 'string';
  const inTable = node['kind'] === 'table' || node['kind'] === 'column';
  return (
    typeof node['connection'] === 'string' &&
    isStrings(node['path']) &&
    (!inTable || typeof node['table'] === 'string') &&
    (node['kind'] !== 'more' || typeof node['pageToken'] === 'string')
  );
}

/** A server in the arguments of a command that another extension or a key binding runs. */
export type GivenServer = {
  uri: string;
  name?: string;
  database?: string;
  endpoint?: string;
  /** Path of a PEM file. */
  ca?: string;
  apiKey?: string;
  token?: string;
  headers?: Record<string, string>;
  /** Whether to ask for the other fields step by step, with these filled in. */
  isDraft?: boolean;
};

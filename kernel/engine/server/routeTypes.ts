import { CatalogError } from '#shared/errors.ts';
import { idDelimiter } from '#shared/names.ts';
import type { OpenTableOptions } from '#catalog/catalog.ts';
import type { Operation } from '#catalog/contract.ts';
import type { QuerySpec } from '#catalog/query/querySpec.ts';
import type { DirTable } from '#engine/dir/dirTable.ts';
import type { ArrowBody } from './arrowBody.ts';
import type { BodyReader } from './httpBody.ts';
import { type Dialect, specificationBody } from './remoteDialect.ts';
import { checkEnvelope, checkId, type Json } from './requestBody.ts';
import type { ServedCatalog } from './servedCatalog.ts';
import type { ServerJobs } from './serverJobs.ts';

/**
 * Returns storage options with credentials for a table, for clients that open its files themselves; `undefined` if the
 * server vends none for it.
 * @throws CatalogError if `isRequired` and the credentials can't be obtained
 */
export type VendCredentials = (table: VendingRequest) => Promise<Record<string, string> | undefined>;

/** A table for which a client needs credentials. */
export type VendingRequest = {
  /** The components of the identifier. */
  readonly id: readonly string[];
  readonly location: string;
  /** Whether the request fails without credentials. */
  readonly isRequired: boolean;
};

/** One request, its parts read and checked on demand. */
export type RequestContext = {
  catalog: ServedCatalog;
  /** The protocol of the client; `json` and the response of the handler have the form of the specification. */
  dialect: Dialect;
  /** The components of the identifier in the URL. */
  id: readonly string[];
  indexName: string;
  query: URLSearchParams;
  /** Reads the JSON body; refuses one that names another object than the URL. */
  json: () => Promise<Json>;
  /**
   * Reads the JSON body of an operation that has none in the specification. A body of another content type counts as
   * empty.
   */
  optionalJson: () => Promise<Json>;
  /** Reads a JSON body that is a map as a whole. In such a body `id` is a key like any other. */
  map: () => Promise<Json>;
  /** Whether the body is an Arrow stream by its content type. */
  isArrow: boolean;
  arrow: () => Promise<ArrowBody>;
  /** What the client wants in addition to the specification (`Prefer`), by name. */
  preferences: ReadonlyMap<string, string>;
  /** Hands a table over to the server, which closes it once the response was sent or failed. */
  own: (table: DirTable) => DirTable;
  /** Runs jobs; undefined if the server runs none. */
  jobs: ServerJobs | undefined;
  /** Vends credentials for tables; undefined if the server vends none. */
  vendCredentials: VendCredentials | undefined;
  signal: AbortSignal;
};

export function callOf(
  route: {
    dialect: Dialect;
    operation: Operation | undefined;
    id: readonly string[];
    indexName: string;
    query: URLSearchParams;
  },
  {
    catalog,
    body,
    preferences,
    own,
    jobs,
    vendCredentials,
    signal,
  }: Pick<RequestContext, 'catalog' | 'preferences' | 'own' | 'jobs' | 'vendCredentials' | 'signal'> & {
    body: BodyReader;
  },
): RequestContext {
  const { dialect, id, indexName, query } = route;
  const json = async (): Promise<Json> => {
    const value = await body.json();
    checkEnvelope(value);
    checkId(value, id, query.get('delimiter') ?? idDelimiter);
    return specificationBody(route, value);
  };
  return {
    catalog,
    dialect,
    id,
    indexName,
    query,
    preferences,
    json,
    optionalJson: () => (body.isJson ? json() : Promise.resolve({})),
    map: () => body.json(),
    isArrow: body.isArrow,
    arrow: () => body.arrow(),
    own,
    jobs,
    vendCredentials,
    signal,
  };
}

export type Rows = { table: DirTable; spec: QuerySpec };

/**
 * The result of a handler: JSON, nothing, a complete Arrow IPC stream, or rows. `applied` names the preferences of the
 * client that were applied.
 */
type HandlerResult =
  | { json: unknown; status?: 200 | 201 | 202; applied?: string }
  | { empty: true }
  | { arrow: Uint8Array }
  | { rows: Rows };

export type Handler = (call: RequestContext) => Promise<HandlerResult>;

export type Handlers = Partial<Record<Operation, Handler>>;

/** @throws CatalogError InvalidInput (13) for the root, which is not a table */
export function tableOf(id: readonly string[]): [name: string, namespacePath: string[]] {
  const name = id.at(-1);
  if (name === undefined) throw new CatalogError('InvalidInput', 'The URL names no table.', 'Add the name of a table.');
  return [name, id.slice(0, -1)];
}

/** Opens the table named in the URL. The server closes it with the request. */
export async function openTable(
  { catalog, id, own, signal }: RequestContext,
  at: Pick<OpenTableOptions, 'version' | 'tag' | 'branch'> = {},
): Promise<DirTable> {
  const [name, path] = tableOf(id);
  return own(await catalog.openTable(name, path, { ...at, signal }));
}

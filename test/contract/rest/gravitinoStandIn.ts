import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { type Schema, tableFromIPC } from '#arrow';
import { jsonSchema } from '#catalog/arrow/jsonArrow.ts';
import type { Catalog } from '#catalog/catalog.ts';
import { isRecord } from '#shared/records.ts';

/** Opens a directory as a catalog. */
type OpenDirectory = (root: string) => Promise<Pick<Catalog, 'createEmptyTable' | 'openTable'>>;

export type GravitinoOptions = {
  /** An empty folder for the tables. */
  folder: string;
  openDirectory: OpenDirectory;
  /** The value of `authorization` that requests need. Default: requests need none, as with `simple`. */
  authorization?: string;
  /** Whether the service checks rights. Then the root has no identifier, and only schemas list tables. */
  hasRights?: boolean;
  /** Whether an unknown path has status 404. Default: a handler changes the status to 500. */
  hasPlain404?: boolean;
};

type Properties = Record<string, string>;
type Table = { location: string; schema: Schema | undefined; properties: Properties; version: number | null };
type Schemas = Map<string, { properties: Properties; tables: Map<string, Table> }>;
type Catalogs = Map<string, { properties: Properties; schemas: Schemas }>;

/** A refusal: the status and the code of the specification. */
class Refusal extends Error {
  readonly status: number;
  readonly code: number;
  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}
const invalid = (message: string): Refusal => new Refusal(400, 13, message);
const noNamespace = (name: string): Refusal => new Refusal(404, 1, `Namespace not found: ${name}`);

type Call = { id: string[]; text: string; query: URLSearchParams; request: IncomingMessage; bytes: Buffer };

/** The fields of the specification that a request may have, by operation. */
const fields: Readonly<Record<string, readonly string[]>> = {
  'namespace/create': ['id', 'mode', 'properties'],
  'namespace/describe': ['id'],
  'namespace/drop': ['id', 'mode', 'behavior'],
  'namespace/exists': ['id'],
  'table/describe': ['id', 'version', 'with_table_uri', 'load_detailed_metadata', 'check_declared', 'vend_credentials'],
  'table/exists': ['id', 'version'],
  'table/drop': ['id'],
  'table/register': ['id', 'location', 'mode', 'properties'],
  'table/deregister': ['id'],
  'table/declare': ['id', 'location', 'vend_credentials'],
};

const stackTrace = (message: string): string =>
  `java.lang.IllegalArgumentException: ${message}\n\tat com.google.common.base.Preconditions.checkArgument(Preconditions.java:143)\n\tat java.base/java.lang.Thread.run(Thread.java:840)`;

/**
 * Stands in for Apache Gravitino's Lance REST service. It is made from the documentation and the public source of that
 * service, which needs Java, a database and Gravitino's own server, so the real one can't run in these tests. It has
 * the 13 operations and no others, refuses unknown fields and rows, and its tables are real tables in a folder.
 */
export class GravitinoStandIn {
  /** A lasting secret in the storage options of all replies about tables, and in properties. */
  static readonly secret = 'planted-storage-secret-Zm9vYmFy';
  /** The `METHOD /path` of each request, without the base path. */
  readonly calls: string[] = [];
  readonly #options: GravitinoOptions;
  readonly #server: Server;
  readonly #catalogs: Catalogs = new Map();

  private constructor(options: GravitinoOptions, server: Server) {
    this.#options = options;
    this.#server = server;
  }

  static async start(options: GravitinoOptions): Promise<GravitinoStandIn> {
    const server = createServer((request, response) => void stand.#answer(request, response));
    const stand = new GravitinoStandIn(options, server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return stand;
  }

  get uri(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/lance`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://any');
    const path = request.url?.split('?')[0] ?? '';
    this.calls.push(`${request.method} ${path.replace(/^\/lance/, '')}`);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const send = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (/^(?:\/lance)?\/health/.test(pathname)) return send(200, { status: 'UP' });
    const { authorization, hasPlain404 } = this.#options;
    if (authorization !== undefined && request.headers.authorization !== authorization) {
      return send(401, { error: 'The provided credentials did not support', code: 401, detail: '', instance: '' });
    }
    try {
      send(200, await this.#route(path, searchParams, request, Buffer.concat(chunks)));
    } catch (error) {
      if (!(error instanceof Refusal)) return send(500, { error: String(error), code: 18, detail: '', instance: '' });
      if (error.status === 404 && error.code < 0) {
        if (hasPlain404) return void response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not Found</h1>');
        const detail = stackTrace(error.message);
        return send(500, { error: error.message, code: 18, detail, instance: '' });
      }
      const { status, code, message } = error;
      send(status, { error: message, code, detail: stackTrace(message), instance: '' });
    }
  }

  async #route(path: string, query: URLSearchParams, request: IncomingMessage, bytes: Buffer): Promise<unknown> {
    const { method, headers } = request;
    if (method === 'GET' && path === '/lance/v1/namespace/list') return this.#listNamespaces([], query);
    const [, kind = '', encoded = '', operation = ''] =
      /^\/lance\/v1\/(namespace|table)\/([^/]+)\/(table\/list|[a-z]+)$/.exec(path) ?? [];
    const id = decodeURIComponent(encoded)
      .split(query.get('delimiter') ?? '$')
      .filter((level) => level !== '');
    const name = `${kind}/${operation}`;
    if (method === 'GET' && name === 'namespace/list') return this.#listNamespaces(id, query, true);
    if (method === 'GET' && name === 'namespace/table/list') return this.#listTables(id, query);
    const isCreate = name === 'table/create';
    if (method !== 'POST' || (!isCreate && !Object.hasOwn(fields, name)))
      throw new Refusal(404, -1, 'HTTP 404 Not Found');
    const wanted = isCreate ? 'application/vnd.apache.arrow.stream' : 'application/json';
    if (headers['content-type'] !== wanted) throw new Refusal(415, 18, 'HTTP 415 Unsupported Media Type');
    const text = isCreate ? '' : bytes.toString('utf8');
    const call: Call = { id, text, query, request, bytes };
    if (isCreate) return this.#createTable(call);
    const body = JSON.parse(text) as Record<string, unknown>;
    const unknown = Object.keys(body).find((field) => !fields[name]!.includes(field));
    if (unknown !== undefined) throw invalid(`Unrecognized field "${unknown}"`);
    return kind === 'namespace' ? this.#onNamespace(operation, id, body) : this.#onTable(operation, id, body);
  }

  #listNamespaces(id: readonly string[], query: URLSearchParams, hasId = false): unknown {
    if (id.length === 0 && hasId && this.#options.hasRights) throw invalid('Unsupported Lance namespace identifier: $');
    if (id.length > 2) throw invalid(`Expected at most 2-level namespace but got: ${id.join('$')}`);
    const [catalog, schema] = id;
    if (catalog === undefined) return page('namespaces', [...this.#catalogs.keys()], query);
    const { schemas } = this.#catalog(catalog);
    if (schema !== undefined) return page('namespaces', [], query);
    return page('namespaces', [...schemas.keys()], query);
  }

  #listTables(id: readonly string[], query: URLSearchParams): unknown {
    if (this.#options.hasRights && id.length === 0) throw invalid('Unsupported Lance namespace identifier: $');
    if (this.#options.hasRights && id.length === 1) throw new Refusal(403, 15, 'User is not authorized');
    if (id.length !== 2) throw invalid(`Expected 2-level namespace but got: ${id.length}`);
    const delimiter = query.get('delimiter') ?? '$';
    return page(
      'tables',
      [...this.#schema(id).tables.keys()].map((name) => [...id, name].join(delimiter)),
      query,
    );
  }

  #onNamespace(operation: string, id: readonly string[], body: Record<string, unknown>): unknown {
    if (id.length === 0 || id.length > 2) {
      throw invalid(`Expected at most 2-level and at least 1-level namespace but got: ${id.join('$')}`);
    }
    const [catalog = '', schema] = id;
    if (operation === 'create') return this.#createNamespace(id, modeOf(body['mode'] ?? 'create'), body['properties']);
    if (operation === 'drop')
      return this.#dropNamespace(id, modeOf(body['behavior'] ?? 'restrict'), modeOf(body['mode']));
    const found = schema === undefined ? this.#catalog(catalog) : this.#schema(id);
    if (operation === 'exists') return undefined;
    return { properties: { ...found.properties, 'lance.storage.secret_access_key': GravitinoStandIn.secret } };
  }

  #createNamespace(id: readonly string[], mode: string, given: unknown): unknown {
    const [catalog = '', schema] = id;
    const properties = { ...(given as Properties | undefined) };
    const parent: Map<string, { properties: Properties }> =
      schema === undefined ? this.#catalogs : this.#catalog(catalog).schemas;
    const existing = parent.get(schema ?? catalog);
    if (existing && mode === 'CREATE') throw new Refusal(409, 2, `Namespace already exists: ${id.join('.')}`);
    if (existing && mode === 'OVERWRITE') existing.properties = properties;
    if (!existing && schema === undefined) this.#catalogs.set(catalog, { properties, schemas: new Map() });
    if (!existing && schema !== undefined)
      this.#catalog(catalog).schemas.set(schema, { properties, tables: new Map() });
    return { properties: { ...properties, 'lance.storage.secret_access_key': GravitinoStandIn.secret } };
  }

  #dropNamespace([catalog = '', schema]: readonly string[], behavior: string, mode: string): unknown {
    const parent: Map<string, unknown> = schema === undefined ? this.#catalogs : this.#catalog(catalog).schemas;
    if (!parent.has(schema ?? catalog)) {
      if (mode === 'SKIP') return {};
      throw noNamespace(schema ?? catalog);
    }
    const isEmpty =
      schema === undefined
        ? this.#catalog(catalog).schemas.size === 0
        : this.#schema([catalog, schema]).tables.size === 0;
    if (!isEmpty && behavior !== 'CASCADE') {
      throw invalid(schema === undefined ? `Catalog ${catalog} is not empty` : `Schema ${schema} is not empty.`);
    }
    // The files of external tables are kept.
    parent.delete(schema ?? catalog);
    return {};
  }

  async #onTable(operation: string, id: readonly string[], body: Record<string, unknown>): Promise<unknown> {
    const { tables, name } = this.#place(id);
    const location = body['location'] as string | undefined;
    if (operation === 'declare' || operation === 'register') {
      const isNew = operation === 'declare' || modeOf(body['mode'] ?? 'create') !== 'OVERWRITE';
      if (isNew && tables.has(name)) throw new Refusal(409, 5, `Table already exists: ${id.join('$')}`);
      const table: Table = {
        location: location ?? this.#locationOf(id),
        schema: operation === 'register' ? await this.#schemaAt(location ?? '') : undefined,
        properties: { ...(body['properties'] as Properties | undefined) },
        version: null,
      };
      tables.set(name, table);
      return operation === 'declare' ? withOptions({ location: table.location }) : { location: table.location };
    }
    const table = tables.get(name);
    if (!table) throw new Refusal(404, 4, `Table not found: ${id.join('$')}`);
    if (operation === 'exists') return undefined;
    if (operation === 'describe') {
      const { properties, schema, version } = table;
      const metadata = { ...properties, 'lance.storage.secret_access_key': GravitinoStandIn.secret };
      return withOptions({ location: table.location, schema: schemaJson(schema), version, metadata });
    }
    tables.delete(name);
    if (operation === 'drop') rmSync(table.location, { recursive: true, force: true });
    return { id, location: table.location, properties: table.properties };
  }

  async #createTable({ id, query, request, bytes }: Call): Promise<unknown> {
    const { tables, name } = this.#place(id);
    const found = tableFromIPC(bytes);
    if (found.numRows > 0) throw new Refusal(406, 0, 'CreateTable with records is not supported');
    const mode = modeOf(query.get('mode') ?? 'create');
    const existing = tables.get(name);
    if (existing && mode === 'CREATE') throw new Refusal(409, 5, `Table already exists: ${id.join('$')}`);
    if (existing && mode === 'EXISTOK') return withOptions({ location: existing.location, version: existing.version });
    const given = request.headers['x-lance-table-location'];
    const location = typeof given === 'string' ? given : this.#locationOf(id);
    const properties = JSON.parse(String(request.headers['x-lance-table-properties'] ?? '{}')) as Properties;
    if (existing) rmSync(existing.location, { recursive: true, force: true });
    await this.#write(location, found.schema);
    tables.set(name, { location, schema: found.schema, properties, version: 1 });
    return withOptions({ location, version: 1 });
  }

  /** Writes an empty table. A directory names the folders of its tables itself, so the folder is moved. */
  async #write(location: string, schema: Schema): Promise<void> {
    const work = mkdtempSync(join(this.#options.folder, '.new-'));
    const db = await this.#options.openDirectory(work);
    await db.createEmptyTable('new', schema);
    mkdirSync(dirname(location), { recursive: true });
    renameSync(join(work, 'new.lance'), location.replace(/\/$/, ''));
    rmSync(work, { recursive: true, force: true });
  }

  async #schemaAt(location: string): Promise<Schema | undefined> {
    const name = basename(location, '.lance');
    if (!location.endsWith('.lance') || !existsSync(location)) return undefined;
    const db = await this.#options.openDirectory(dirname(location));
    return (await db.openTable(name)).schema();
  }

  #locationOf([catalog = '', schema = '', table = '']: readonly string[]): string {
    const { properties, schemas } = this.#catalog(catalog);
    const own = schemas.get(schema)?.properties['location'];
    const parent = own ?? (properties['location'] === undefined ? undefined : join(properties['location'], schema));
    if (parent === undefined) throw invalid('Table location must be specified');
    return `${join(parent, table)}/`;
  }

  #place(id: readonly string[]): { tables: Map<string, Table>; name: string } {
    if (id.length !== 3) throw invalid(`Expected at 3-level namespace but got: ${id.length}`);
    return { tables: this.#schema(id).tables, name: id[2]! };
  }

  #catalog(name: string) {
    const found = this.#catalogs.get(name);
    if (!found) throw noNamespace(name);
    return found;
  }

  #schema([catalog = '', schema = '']: readonly string[]) {
    const found = this.#catalog(catalog).schemas.get(schema);
    if (!found) throw noNamespace(schema);
    return found;
  }
}

const modeOf = (text: unknown): string =>
  (typeof text === 'string' ? text : '').replaceAll(/[^A-Za-z0-9]/g, '').toUpperCase();

const withOptions = (reply: object): object => ({
  ...reply,
  storage_options: { access_key_id: 'AKIDPLANTED', secret_access_key: GravitinoStandIn.secret, region: 'eu-west-1' },
});

function page(key: string, all: readonly string[], query: URLSearchParams): unknown {
  const from = Number(query.get('page_token') ?? 0);
  const to = from + Number(query.get('limit') ?? 1000);
  const names = all.toSorted().slice(from, to);
  return { [key]: names, ...(to < all.length && { page_token: String(to) }) };
}

/** The service's JSON form has names and sizes only: no units, zones and digits. */
const schemaJson = (schema: Schema | undefined): unknown =>
  JSON.parse(
    JSON.stringify(schema ? jsonSchema(schema) : { fields: [] }, (key, value: unknown) => {
      if (key === 'unit' || key === 'timezone' || key === 'keys') return undefined;
      const isDecimal = key === 'type' && isRecord(value) && String(value['type']).startsWith('decimal');
      return isDecimal ? { type: 'decimal' } : value;
    }),
  );

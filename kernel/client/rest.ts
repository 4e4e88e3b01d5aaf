import { tableToIPC, Table as ArrowTable, type Schema } from '#arrow';
import { columnsOf } from '#shared/arrowTypes.ts';
import { CatalogError } from '#shared/errors.ts';
import { checkName, checkNamespacePath, encodeId, type NamespacePath } from '#shared/names.ts';
import type { CallOptions } from './callOptions.ts';
import type {
  Catalog,
  CreateEmptyTableOptions,
  CreateNamespaceOptions,
  CreateTableOptions,
  DropNamespaceOptions,
  DropTableOptions,
  NamespacePage,
  OpenTableOptions,
  PageOptions,
  RenameTableOptions,
  TableDescription,
  TablePage,
} from './catalog.ts';
import type { TableData } from './tableSource.ts';
import type { ConnectOptions, RestConfig } from './connect.ts';
import { checkCreateMode, checkDrop, checkOptions, checkPage, checkVersion, tableCall, type Tail } from './options.ts';
import { allPages } from './pages.ts';
import { field, RestTable } from './restTable.ts';
import { adoptSchema, toArrowTable } from './tableData.ts';
import { Transport, type TransportOptions } from './transport.ts';

/** @throws CatalogError InvalidInput (13) for a bad address; nothing is sent yet */
export async function openRest(config: RestConfig, options: ConnectOptions = {}): Promise<RestCatalog> {
  options.signal?.throwIfAborted();
  if (typeof config.uri !== 'string' || config.uri === '') {
    throw new CatalogError('InvalidInput', 'The catalog has no address.', 'Give it as uri, for instance "https://…".');
  }
  const { uri, headers = {} } = config;
  const wrong = Object.entries(headers).find(([, value]) => typeof value !== 'string');
  if (wrong) throw new CatalogError('InvalidInput', `The header "${wrong[0]}" is not text.`, 'Give text.');
  return new RestCatalog({ uri, headers }, uri);
}

/** A catalog on a server that speaks the Lance Namespace REST contract. */
export class RestCatalog implements Catalog {
  readonly implementation = 'rest';
  readonly location: string;
  readonly #transport: Transport;

  constructor(transport: TransportOptions, location: string) {
    this.#transport = new Transport(transport);
    this.location = location;
  }

  async createNamespace(namespacePath: NamespacePath, options: CreateNamespaceOptions = {}): Promise<void> {
    checkOptions('createNamespace', options, ['mode', 'properties', 'signal']);
    const mode = checkCreateMode('createNamespace', options.mode);
    const { properties } = options;
    await this.#namespace(namespacePath, 'create', { mode, ...(properties && { properties }) }, options);
  }

  async listNamespaces(namespacePath: NamespacePath = [], options: PageOptions = {}): Promise<NamespacePage> {
    const { names, pageToken } = await this.#list('listNamespaces', namespacePath, 'list', 'namespaces', options);
    return { namespaces: names, ...(pageToken !== undefined && { pageToken }) };
  }

  async describeNamespace(
    namespacePath: NamespacePath,
    options: CallOptions = {},
  ): Promise<{ properties: Record<string, string> }> {
    checkOptions('describeNamespace', options, ['signal']);
    const body = await this.#namespace(namespacePath, 'describe', {}, options);
    const properties = Object.entries(Object(field(body, 'properties') ?? {})).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
    return { properties: Object.fromEntries(properties) };
  }

  async dropNamespace(namespacePath: NamespacePath, options: DropNamespaceOptions = {}): Promise<void> {
    const { mode, behavior } = checkDrop(options);
    await this.#namespace(namespacePath, 'drop', { mode, behavior }, options);
  }

  async listTables(namespacePath: NamespacePath = [], options: PageOptions = {}): Promise<TablePage> {
    const { names, pageToken } = await this.#list('listTables', namespacePath, 'table/list', 'tables', options);
    return { tables: names, ...(pageToken !== undefined && { pageToken }) };
  }

  tableNames(namespacePath: NamespacePath = [], options: CallOptions = {}): Promise<string[]> {
    checkOptions('tableNames', options, ['signal']);
    return allPages((pageToken) =>
      this.#list('tableNames', namespacePath, 'table/list', 'tables', { ...options, pageToken, limit: 1000 }),
    );
  }

  async describeTable(name: string, ...tail: Tail<OpenTableOptions>): Promise<TableDescription> {
    const { namespacePath, options } = tableCall<OpenTableOptions>('describeTable', name, tail, ['version']);
    const asked = checkVersion('describeTable', options.version);
    const version = await new RestTable(this.#transport, name, namespacePath, asked).version(options);
    // At that version, so that columns and rows belong together though others write meanwhile.
    const table = new RestTable(this.#transport, name, namespacePath, version);
    const [schema, numRows] = await Promise.all([table.schema(options), table.countRows(undefined, options)]);
    return { name, namespacePath, version, columns: columnsOf(schema), numRows };
  }

  async createTable(name: string, data: TableData, ...tail: Tail<CreateTableOptions>): Promise<RestTable> {
    const { namespacePath, options } = tableCall<CreateTableOptions>('createTable', name, tail, ['mode', 'schema']);
    const mode = checkCreateMode('createTable', options.mode);
    return this.#create(name, namespacePath, toArrowTable('createTable', data, options.schema), mode, options);
  }

  async createEmptyTable(name: string, schema: Schema, ...tail: Tail<CreateEmptyTableOptions>): Promise<RestTable> {
    const { namespacePath, options } = tableCall<CreateEmptyTableOptions>('createEmptyTable', name, tail, ['mode']);
    const mode = checkCreateMode('createEmptyTable', options.mode);
    return this.#create(name, namespacePath, new ArrowTable(adoptSchema(schema)), mode, options);
  }

  async openTable(name: string, ...tail: Tail<OpenTableOptions>): Promise<RestTable> {
    const { namespacePath, options } = tableCall<OpenTableOptions>('openTable', name, tail, ['version']);
    const version = checkVersion('openTable', options.version);
    // Asked now, so that a missing table is told here and not at the first row.
    await this.#table(name, namespacePath, 'describe', version === undefined ? {} : { version }, options);
    return new RestTable(this.#transport, name, namespacePath, version);
  }

  async dropTable(name: string, ...tail: Tail<DropTableOptions>): Promise<void> {
    const { namespacePath, options } = tableCall<DropTableOptions>('dropTable', name, tail, []);
    await this.#table(name, namespacePath, 'drop', {}, options);
  }

  async renameTable(name: string, newName: string, ...tail: Tail<RenameTableOptions>): Promise<void> {
    const { namespacePath, options } = tableCall<RenameTableOptions>('renameTable', name, tail, ['newNamespacePath']);
    checkName('table', newName);
    const { newNamespacePath } = options;
    if (newNamespacePath !== undefined) checkNamespacePath(newNamespacePath);
    const body = { new_table_name: newName, ...(newNamespacePath && { new_namespace_id: newNamespacePath }) };
    await this.#table(name, namespacePath, 'rename', body, options);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  async #create(
    name: string,
    path: NamespacePath,
    table: ArrowTable,
    mode: string,
    options: CallOptions,
  ): Promise<RestTable> {
    await this.#transport.json({
      method: 'POST',
      path: `/v1/table/${encodeURIComponent(encodeId(path, name))}/create`,
      query: { mode },
      arrow: tableToIPC(table, 'stream'),
      signal: options.signal,
    });
    return new RestTable(this.#transport, name, path);
  }

  #namespace(path: NamespacePath, operation: string, json: object, options: CallOptions): Promise<unknown> {
    checkNamespacePath(path);
    return this.#transport.json({
      method: 'POST',
      path: `/v1/namespace/${encodeURIComponent(encodeId(path))}/${operation}`,
      json,
      signal: options.signal,
    });
  }

  #table(name: string, path: NamespacePath, operation: string, json: object, options: CallOptions): Promise<unknown> {
    return this.#transport.json({
      method: 'POST',
      path: `/v1/table/${encodeURIComponent(encodeId(path, name))}/${operation}`,
      json,
      signal: options.signal,
    });
  }

  async #list(
    call: string,
    path: NamespacePath,
    operation: string,
    key: string,
    options: PageOptions,
  ): Promise<{ names: string[]; pageToken?: string }> {
    checkOptions(call, options, ['limit', 'pageToken', 'signal']);
    checkNamespacePath(path);
    const { limit, pageToken } = checkPage(call, options);
    const body = await this.#transport.json({
      method: 'GET',
      path: `/v1/namespace/${encodeURIComponent(encodeId(path))}/${operation}`,
      query: { limit, page_token: pageToken },
      signal: options.signal,
    });
    const names = field(body, key);
    if (!Array.isArray(names) || !names.every((name): name is string => typeof name === 'string')) {
      throw this.#transport.unexpected(`no list of ${key}`);
    }
    const next = field(body, 'page_token');
    return { names, ...(typeof next === 'string' && next !== '' && { pageToken: next }) };
  }
}

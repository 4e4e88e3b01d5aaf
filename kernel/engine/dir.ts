import type { Connection, Table as NativeTable } from '@lancedb/lancedb';
import type { Schema } from '#arrow';
import { columnsOf } from '#shared/arrowTypes.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { checkName, checkNamespacePath, displayPath, type NamespacePath } from '#shared/names.ts';
import type { CallOptions } from '#client/callOptions.ts';
import type { Catalog, CreateEmptyTableOptions, CreateNamespaceOptions, CreateTableOptions, DropNamespaceOptions, DropTableOptions, NamespacePage, OpenTableOptions, PageOptions, RenameTableOptions, TableDescription, TablePage } from '#client/catalog.ts';
import type { TableData } from '#client/tableSource.ts';
import type { ConnectOptions, DirConfig } from '#client/connect.ts';
import {
  checkCreateMode,
  checkDrop,
  checkOptions,
  checkPage,
  checkVersion,
  tableCall,
  type Tail,
} from '#client/options.ts';
import { allPages } from '#client/pages.ts';
import { checkRoot, isObjectStore, localRoot } from '#client/root.ts';
import { adoptSchema, toArrowTable } from '#client/tableData.ts';
import { createNew } from './createNative.ts';
import { DirConnection } from './dirConnection.ts';
import { openNative, type DirTable } from './dirTable.ts';
import { namespaceSubject, tableSubject, type Subject } from './engineErrors.ts';

/**
 * Opens the catalog in a directory. Makes nothing: a missing root is an error that says how to make it.
 * @throws CatalogError InvalidInput (13) for a missing root or one that is a file, PermissionDenied (15)
 */
export async function openDir(config: DirConfig, options: ConnectOptions = {}): Promise<DirCatalog> {
  const { root, storageOptions } = config;
  if (typeof root !== 'string' || root === '') {
    throw new CatalogError('InvalidInput', 'The catalog has no root.', 'Give the path of a directory as root.');
  }
  options.signal?.throwIfAborted();
  const isLocal = !isObjectStore(root);
  const location = isLocal ? localRoot(root) : root;
  if (isLocal) await checkRoot(location);
  return new DirCatalog(location, new DirConnection(location, isLocal, storageOptions));
}

/**
 * A directory of tables on the embedded engine. What the engine leaves open is settled here, the same as for a server:
 * names are checked, a missing namespace is an error, `exist_ok`, `skip` and `cascade` do what they say.
 */
export class DirCatalog implements Catalog {
  readonly implementation = 'dir';
  readonly location: string;
  readonly #connection: DirConnection;

  constructor(location: string, connection: DirConnection) {
    this.location = location;
    this.#connection = connection;
  }

  async createNamespace(namespacePath: NamespacePath, options: CreateNamespaceOptions = {}): Promise<void> {
    checkOptions('createNamespace', options, ['mode', 'properties', 'signal']);
    const path = checked(namespacePath);
    const mode = checkCreateMode('createNamespace', options.mode);
    if (mode === 'overwrite') {
      throw new CatalogError(
        'Unsupported',
        `Namespace "${displayPath(path)}" can't be overwritten in a directory.`,
        'Drop it with behavior: "cascade" and create it again.',
      );
    }
    if (path.length === 0 && mode === 'exist_ok') return;
    try {
      await this.#call(namespaceSubject(path), options, (connection) =>
        connection.createNamespace(path, options.properties ? { properties: options.properties } : {}),
      );
    } catch (error) {
      if (mode === 'exist_ok' && isCatalogError(error, 'NamespaceAlreadyExists')) return;
      throw error;
    }
  }

  async listNamespaces(namespacePath: NamespacePath = [], options: PageOptions = {}): Promise<NamespacePage> {
    checkOptions('listNamespaces', options, ['limit', 'pageToken', 'signal']);
    const page = checkPage('listNamespaces', options);
    const path = checked(namespacePath);
    const found = await this.#call(namespaceSubject(path), options, (connection) =>
      connection.listNamespaces(path, given(page)),
    );
    // The engine knows no missing namespace when it lists.
    if (found.namespaces.length === 0) await this.#mustExist(path, options);
    return { namespaces: found.namespaces, ...token(found.pageToken) };
  }

  async describeNamespace(
    namespacePath: NamespacePath,
    options: CallOptions = {},
  ): Promise<{ properties: Record<string, string> }> {
    checkOptions('describeNamespace', options, ['signal']);
    const path = checked(namespacePath);
    const found = await this.#call(namespaceSubject(path), options, (connection) => connection.describeNamespace(path));
    return { properties: found.properties ?? {} };
  }

  async dropNamespace(namespacePath: NamespacePath, options: DropNamespaceOptions = {}): Promise<void> {
    const { mode, behavior } = checkDrop(options);
    const path = checked(namespacePath);
    if (path.length === 0) {
      throw new CatalogError('InvalidInput', "The root namespace can't be dropped.", 'Name a namespace in it.');
    }
    try {
      if (behavior === 'cascade') await this.#dropContents(path, options);
      await this.#call(namespaceSubject(path), options, (connection) => connection.dropNamespace(path));
    } catch (error) {
      if (mode === 'skip' && isCatalogError(error, 'NamespaceNotFound')) return;
      throw error;
    }
  }

  async listTables(namespacePath: NamespacePath = [], options: PageOptions = {}): Promise<TablePage> {
    checkOptions('listTables', options, ['limit', 'pageToken', 'signal']);
    const page = checkPage('listTables', options);
    const path = checked(namespacePath);
    const found = await this.#call(namespaceSubject(path), options, (connection) =>
      connection.listTables(path, given(page)),
    );
    if (found.tables.length === 0) await this.#mustExist(path, options);
    return { tables: found.tables, ...token(found.pageToken) };
  }

  tableNames(namespacePath: NamespacePath = [], options: CallOptions = {}): Promise<string[]> {
    checkOptions('tableNames', options, ['signal']);
    return allPages(async (pageToken) => {
      const page = await this.listTables(namespacePath, { ...options, pageToken, limit: 1000 });
      return { names: page.tables, pageToken: page.pageToken };
    });
  }

  async describeTable(name: string, ...tail: Tail<OpenTableOptions>): Promise<TableDescription> {
    const { namespacePath, options } = tableCall<OpenTableOptions>('describeTable', name, tail, ['version']);
    const version = options.version ?? (await this.#newestVersion(name, namespacePath, options));
    // At that version, so that columns and rows belong together though others write meanwhile.
    const table = await this.#open(name, namespacePath, { ...options, version });
    try {
      const [schema, numRows] = await Promise.all([table.schema(options), table.countRows(undefined, options)]);
      return { name, namespacePath, version, columns: columnsOf(schema), numRows };
    } finally {
      table.close();
    }
  }

  async createTable(name: string, data: TableData, ...tail: Tail<CreateTableOptions>): Promise<DirTable> {
    const { namespacePath, options } = tableCall<CreateTableOptions>('createTable', name, tail, ['mode', 'schema']);
    const mode = checkCreateMode('createTable', options.mode);
    const table = toArrowTable('createTable', data, options.schema);
    return this.#create(name, namespacePath, mode, options, (connection, path) =>
      // The engine refuses a table without rows; an empty one has a call of its own.
      table.numRows === 0
        ? connection.createEmptyTable(name, table.schema, path, { mode: mode === 'overwrite' ? mode : 'create' })
        : connection.createTable(name, table, path, { mode: mode === 'overwrite' ? mode : 'create' }),
    );
  }

  async createEmptyTable(name: string, schema: Schema, ...tail: Tail<CreateEmptyTableOptions>): Promise<DirTable> {
    const { namespacePath, options } = tableCall<CreateEmptyTableOptions>('createEmptyTable', name, tail, ['mode']);
    const mode = checkCreateMode('createEmptyTable', options.mode);
    const own = adoptSchema(schema);
    return this.#create(name, namespacePath, mode, options, (connection, path) =>
      connection.createEmptyTable(name, own, path, { mode: mode === 'overwrite' ? mode : 'create' }),
    );
  }

  async openTable(name: string, ...tail: Tail<OpenTableOptions>): Promise<DirTable> {
    const { namespacePath, options } = tableCall<OpenTableOptions>('openTable', name, tail, ['version']);
    return this.#open(name, namespacePath, options);
  }

  async dropTable(name: string, ...tail: Tail<DropTableOptions>): Promise<void> {
    const { namespacePath, options } = tableCall<DropTableOptions>('dropTable', name, tail, []);
    await this.#inNamespace(name, namespacePath, options, (connection, path) => connection.dropTable(name, path));
  }

  async renameTable(name: string, newName: string, ...tail: Tail<RenameTableOptions>): Promise<void> {
    const { namespacePath, options } = tableCall<RenameTableOptions>('renameTable', name, tail, ['newNamespacePath']);
    checkName('table', newName);
    if (options.newNamespacePath !== undefined) checkNamespacePath(options.newNamespacePath);
    throw new CatalogError(
      'Unsupported',
      `Table "${displayPath(namespacePath, name)}" can't be renamed in a directory: the engine has no rename.`,
      'Create a table of the new name from its rows and drop the old one.',
    );
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #newestVersion(name: string, path: NamespacePath, { signal }: CallOptions): Promise<number> {
    const table = await this.#open(name, path, { signal });
    try {
      return await table.version({ signal });
    } finally {
      table.close();
    }
  }

  #open(name: string, path: NamespacePath, options: CallOptions & { version?: number | undefined }): Promise<DirTable> {
    checkVersion('openTable', options.version);
    return this.#inNamespace(name, path, options, (connection) => openNative(connection, name, path, options));
  }

  async #create(
    name: string,
    namespacePath: NamespacePath,
    mode: string,
    options: CallOptions,
    create: (connection: Connection, path: string[]) => Promise<NativeTable>,
  ): Promise<DirTable> {
    // The engine would put a table into a namespace that nobody created and no list shows.
    await this.#mustExist(namespacePath, options);
    try {
      await this.#call(tableSubject(name, namespacePath), options, async (connection) => {
        const path = [...namespacePath];
        const make = () => create(connection, path);
        const made = await (mode === 'overwrite' ? make() : createNew(connection, name, path, make));
        made.close();
      });
    } catch (error) {
      if (mode !== 'exist_ok' || !isCatalogError(error, 'TableAlreadyExists')) throw error;
    }
    return this.#open(name, namespacePath, options.signal ? { signal: options.signal } : {});
  }

  /** A missing table in a missing namespace is a missing namespace. */
  async #inNamespace<T>(
    name: string,
    path: NamespacePath,
    options: CallOptions,
    call: (connection: Connection, path: string[]) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#call(tableSubject(name, path), options, (connection) => call(connection, [...path]));
    } catch (error) {
      if (isCatalogError(error, 'TableNotFound')) await this.#mustExist(path, options);
      throw error;
    }
  }

  async #dropContents(path: string[], options: CallOptions): Promise<void> {
    const pages = async (pageToken?: string) => {
      const page = await this.listNamespaces(path, { signal: options.signal, pageToken, limit: 1000 });
      return { names: page.namespaces, pageToken: page.pageToken };
    };
    for (const child of await allPages(pages)) {
      await this.#dropContents([...path, child], options);
      await this.#call(namespaceSubject([...path, child]), options, (connection) =>
        connection.dropNamespace([...path, child]),
      );
    }
    for (const table of await this.tableNames(path, { signal: options.signal })) {
      await this.#call(tableSubject(table, path), options, (connection) => connection.dropTable(table, path));
    }
  }

  async #mustExist(path: NamespacePath, options: CallOptions): Promise<void> {
    if (path.length === 0) return;
    await this.#call(namespaceSubject(path), options, (connection) => connection.describeNamespace([...path]));
  }

  #call<T>(subject: Subject, options: CallOptions, call: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#connection.call(subject, options, call);
  }
}

function checked(path: NamespacePath): string[] {
  checkNamespacePath(path);
  return [...path];
}

const given = (page: { limit: number; pageToken: string | undefined }) =>
  page.pageToken === undefined ? { limit: page.limit } : { limit: page.limit, pageToken: page.pageToken };

const token = (pageToken: string | null | undefined) => (pageToken ? { pageToken } : {});

import type { Connection, Table as NativeTable } from '@lancedb/lancedb';
import type { Schema } from '#arrow';
import {
  type CallOptions,
  checkChoice,
  checkCreateMode,
  checkOptions,
  checkVersion,
  type DropNamespaceOptions,
  isSamePath,
  newTableCall,
  tableCall,
  type NamespaceArguments,
} from '#catalog/arguments/options.ts';
import { closeSourceAfter } from '#catalog/arrow/batchSource.ts';
import type {
  Capabilities,
  CapabilityOptions,
  ComparedTable,
  CompareOptions,
  CompareResult,
  Catalog,
  CopyOptions,
  ExportOptions,
  ExportResult,
  CopyResult,
  CopyTarget,
  CreateEmptyTableOptions,
  CreateNamespaceOptions,
  CreateTableOptions,
  DeclareTableOptions,
  DropTableOptions,
  InNamespace,
  ListTablesOptions,
  NamespacePage,
  OpenTableOptions,
  PageOptions,
  RegisterTableOptions,
  RenameTableOptions,
  TableDescription,
  TablePage,
} from '#catalog/catalog.ts';
import type { ConnectOptions, DirConfig } from '#catalog/connect.ts';
import {
  createTableArguments,
  LanceDbCatalog,
  namespaceAndOptions,
  type TableNamesOptions,
} from '#catalog/lancedb/lanceDbCatalog.ts';
import { checkOperations, type Operation } from '#catalog/contract.ts';
import { copyTables } from '#catalog/copy/copyTables.ts';
import { identityOfRoot } from '#catalog/identity.ts';
import type { Jobs } from '#catalog/jobs.ts';
import { type NameLists, withNearestName } from '#catalog/names/missingNames.ts';
import { checkAddress, checkRoot, localRoot } from '#catalog/root.ts';
import { adoptSchema, newTableData } from '#catalog/table/tableData.ts';
import { recordOpenedTable } from '#catalog/tableReference.ts';
import { isTableWithoutData, tableSubject } from '#engine/errors/engineErrors.ts';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { CatalogError, withErrorContext, isCatalogError, messageOf } from '#shared/errors.ts';
import { loadLazy } from '#shared/loadLazy.ts';
import { checkKnownPath, checkName, displayPath, type NamespacePath } from '#shared/names.ts';
import { dirCapabilities, unsupported } from './dirCapabilities.ts';
import { DirConnection, type Root } from './dirConnection.ts';
import { create, type NewTable } from './dirCreate.ts';
import { dropTable } from './dirDrop.ts';
import { DirNamespaces } from './dirNamespaces.ts';
import { declareTable, deregisterTable, registerTable } from './dirRegister.ts';
import { type TableId, tableNotFound, renameTable } from './dirRename.ts';
import { DirTable } from './dirTable.ts';
import { checkManifestPath } from './files/manifestTable.ts';
import { noTableAt } from './nameConflicts.ts';
import { openNative } from './openNative.ts';
import { type LeasedTable, ownTable, type Pin, SharedTables, type VersionFacts } from './sharedTables.ts';
import { TableHandle } from './tableHandle.ts';
import { declaredLocation, tableLocation } from './files/tableLocation.ts';

type Open = () => Promise<DirTable>;

/**
 * Returns the location of a table that is declared but not yet written; otherwise `undefined`. In a local root, the
 * folder of such a table has a marker. In an object store, a location without versions counts as declared. This
 * includes a table whose files were deleted, but not a broken table.
 */
export async function declaredAt(place: Root, table: TableId, open: Open): Promise<string | undefined> {
  const location = await declaredLocation(place, table);
  if (location === undefined || place.isLocal) return location;
  const failure = await failureOf(open);
  return failure !== undefined && isTableWithoutData(failure) ? location : undefined;
}

/** @throws CatalogError TableNotFound (4), NamespaceNotFound (1) */
export async function isOnlyDeclared(place: Root, table: TableId, open: Open): Promise<boolean> {
  const failure = await failureOf(open);
  if (failure === undefined) return false;
  if (!isCatalogError(failure, 'InvalidTableState')) throw failure;
  if (!place.isLocal && !isTableWithoutData(failure)) return false;
  return (await declaredLocation(place, table)) !== undefined;
}

/** Whether a table is listed, even if it can't be read or has not been written yet. */
export async function isListed(open: Open): Promise<boolean> {
  const failure = await failureOf(open);
  if (failure === undefined || isCatalogError(failure, 'InvalidTableState')) return true;
  if (isCatalogError(failure, 'TableNotFound') || isCatalogError(failure, 'NamespaceNotFound')) return false;
  throw failure;
}

async function failureOf(open: Open): Promise<Error | undefined> {
  try {
    (await open()).close();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(messageOf(error), { cause: error });
  }
}

/** What a description of a table has to contain in addition to its version, schema and location. */
type DescriptionParts = { readonly rows?: boolean | undefined; readonly fragments?: boolean | undefined };

/** A table at one version. */
type FullDescription = VersionFacts & { readonly location: string | undefined };

/** Describes a table; all values are from the same version ("DescribeTable"). */
export async function describeAt(
  place: Root,
  open: (pin: Pin & CallOptions) => Promise<DirTable>,
  { rows = false, fragments = false, signal, ...pin }: Pin & CallOptions & DescriptionParts,
): Promise<FullDescription> {
  const parts = { rows, fragments };
  const table = await open({ ...pin, signal });
  try {
    const location = table.folder ?? (await tableLocation(place, { name: table.name, path: table.namespacePath }));
    const unchanged = await table.readFacts(parts, { signal });
    if (unchanged) return { ...unchanged, location };
    // Another client wrote during the reads, so the table is opened again at one version. The branch is passed too,
    // because a tag can refer to a version of a branch.
    const [version, branch] = [await table.version({ signal }), await table.branch({ signal })];
    return await describeAt(place, open, { ...parts, signal, version, branch });
  } finally {
    table.close();
  }
}

/** Jobs of a directory: every call is rejected as unsupported. */
export const noJobs: Jobs = {
  list: () => Promise.reject(unsupported('ListJobs')),
  describe: (id) => Promise.reject(unsupported('DescribeJob', id)),
  cancel: (id) => Promise.reject(unsupported('CancelJob', id)),
  events: (id) => ({
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(unsupported('QueryJobEvents', id)) }),
  }),
};

/**
 * Opens the catalog in a directory. Creates nothing, because the error for a missing root explains how to create it.
 * @throws CatalogError InvalidInput (13) if the root is missing or a file, PermissionDenied (15)
 */
export async function openDir(config: DirConfig, options: ConnectOptions = {}): Promise<DirCatalog> {
  options.signal?.throwIfAborted();
  return new DirCatalog(new DirConnection(await findPlace(config)));
}

/** Opens the catalog in a directory for a user: an error about a missing name has the nearest one; see `openDir`. */
export async function openDirForUser(config: DirConfig, options: ConnectOptions = {}): Promise<DirCatalog> {
  options.signal?.throwIfAborted();
  return new DirCatalog(new DirConnection(await findPlace(config)), { namesNearest: true });
}

/**
 * Resolves the root of a configuration to a directory or an address in an object store.
 * @throws CatalogError InvalidInput (13) if the root is missing or a file, PermissionDenied (15)
 */
export async function findPlace({ root, storageOptions }: DirConfig): Promise<Root> {
  if (typeof root !== 'string' || root === '') {
    throw new CatalogError('InvalidInput', 'The catalog has no root.', 'Pass the path of a directory as root.');
  }
  const isLocal = !checkAddress(root);
  const location = isLocal ? localRoot(root) : root;
  if (isLocal) await checkRoot(location);
  return { location, isLocal, storageOptions };
}

/**
 * A directory of tables on the embedded engine, which behaves like a server. It checks names, reports a missing
 * namespace as an error, and supports `exist_ok`, `skip` and `cascade`.
 */
export class DirCatalog extends LanceDbCatalog implements Catalog {
  readonly implementation = 'dir';
  readonly location: string;
  readonly jobs: Jobs = noJobs;
  readonly #connection: DirConnection;
  readonly #namespaces: DirNamespaces;
  readonly #tables: SharedTables;
  readonly #lists: NameLists | undefined;

  constructor(connection: DirConnection, { namesNearest = false } = {}) {
    super();
    this.location = connection.place.location;
    this.#connection = connection;
    this.#namespaces = new DirNamespaces(connection);
    this.#tables = new SharedTables(connection.place);
    if (namesNearest) this.#lists = nameLists(connection.place, this.#namespaces);
  }

  /** Returns the capabilities. They are known in advance, so nothing is requested. */
  async capabilities(options: CapabilityOptions = {}): Promise<Capabilities> {
    checkOptions('capabilities', options, ['probe', 'signal']);
    checkOperations(options.probe);
    return dirCapabilities;
  }

  createNamespace(namespacePath: NamespacePath, options: CreateNamespaceOptions = {}): Promise<void> {
    return this.#near(namespacePath, options, () => this.#namespaces.create(namespacePath, options));
  }

  listNamespaces(namespacePath: NamespacePath = [], options: PageOptions = {}): Promise<NamespacePage> {
    return this.#near(namespacePath, options, () => this.#namespaces.list(namespacePath, options));
  }

  describeNamespace(
    namespacePath: NamespacePath,
    options: CallOptions = {},
  ): Promise<{ properties: Record<string, string> }> {
    return this.#near(namespacePath, options, () => this.#namespaces.describe(namespacePath, options));
  }

  namespaceExists(namespacePath: NamespacePath, options: CallOptions = {}): Promise<boolean> {
    return this.#namespaces.exists(namespacePath, options);
  }

  dropNamespace(namespacePath: NamespacePath, options: DropNamespaceOptions = {}): Promise<void> {
    return this.#near(namespacePath, options, () => this.#namespaces.drop(namespacePath, options));
  }

  async listTables(given?: NamespacePath | ListTablesOptions, tail?: ListTablesOptions): Promise<TablePage> {
    const { path, options } = namespaceAndOptions<ListTablesOptions>(given, tail);
    return this.#near(path, options, () => this.#namespaces.listTables(path, options));
  }

  async tableNames(given?: NamespacePath | TableNamesOptions, tail?: TableNamesOptions): Promise<string[]> {
    const { path, options } = namespaceAndOptions<TableNamesOptions>(given, tail);
    return this.#near(path, options, () => this.#namespaces.tableNames(path, options));
  }

  async describeTable(name: string, ...tail: NamespaceArguments<OpenTableOptions>): Promise<TableDescription> {
    const { namespacePath, options } = tableCall<OpenTableOptions>('describeTable', name, tail, pins);
    const {
      schema,
      version,
      numRows = 0,
      location,
    } = await this.#describe(name, namespacePath, options, { rows: true });
    return {
      name,
      namespacePath,
      version,
      columns: columnsOf(schema),
      numRows,
      ...(location !== undefined && { location }),
    };
  }

  /** Describes a table with its schema, and with the requested parts. */
  async describe(
    name: string,
    path: NamespacePath,
    { rows, fragments, ...given }: Pin & CallOptions & DescriptionParts,
  ): Promise<FullDescription> {
    const { options } = tableCall<OpenTableOptions>('describeTable', name, [path, given], pins);
    return this.#describe(name, path, options, { rows, fragments });
  }

  /** Returns the location of a declared table; see `declaredAt`. */
  async declaredLocation(name: string, path: NamespacePath, options: CallOptions = {}): Promise<string | undefined> {
    const open = () => this.#open(name, path, options);
    return this.#connection.call(tableSubject(name, path), options, () =>
      declaredAt(this.#connection.place, { name, path }, open),
    );
  }

  async isOnlyDeclared(name: string, ...tail: NamespaceArguments<CallOptions & InNamespace>): Promise<boolean> {
    const { namespacePath: path, options } = tableCall<CallOptions & InNamespace>('isOnlyDeclared', name, tail, []);
    return this.#during('DescribeTable', name, path, options, () =>
      isOnlyDeclared(this.#connection.place, { name, path }, () => this.#open(name, path, options)),
    );
  }

  async tableExists(name: string, ...tail: NamespaceArguments<CallOptions & InNamespace>): Promise<boolean> {
    const { namespacePath, options } = tableCall<CallOptions & InNamespace>('tableExists', name, tail, []);
    return this.#during('TableExists', name, namespacePath, options, () =>
      isListed(() => this.#open(name, namespacePath, options)),
    );
  }

  async createTable(given: unknown, rows?: unknown, ...more: readonly unknown[]): Promise<DirTable> {
    const { name, data, tail } = createTableArguments(given, rows, more);
    const { namespacePath: path, options } = newTableCall<CreateTableOptions>('createTable', name, tail, [
      'existOk',
      'mode',
      'schema',
    ]);
    const { schema, signal } = options;
    return this.#during('CreateTable', name, path, options, async () => {
      const source = newTableData(displayPath(path, name), data, schema);
      return this.#create({ call: 'createTable', name, path, data: source, schema, signal }, options);
    });
  }

  async createEmptyTable(
    name: string,
    schema: Schema,
    ...tail: NamespaceArguments<CreateEmptyTableOptions>
  ): Promise<DirTable> {
    const { namespacePath, options } = newTableCall<CreateEmptyTableOptions>('createEmptyTable', name, tail, [
      'existOk',
      'mode',
    ]);
    const { signal } = options;
    const table = { call: 'createEmptyTable', name, path: namespacePath, data: [], signal };
    return this.#during('CreateTable', name, namespacePath, options, async () =>
      this.#create({ ...table, schema: adoptSchema(schema) }, options),
    );
  }

  async declareTable(name: string, ...tail: NamespaceArguments<DeclareTableOptions>): Promise<{ location: string }> {
    const known = ['location', 'properties'] as const;
    const { namespacePath: path, options } = newTableCall<DeclareTableOptions>('declareTable', name, tail, known);
    return this.#change('DeclareTable', name, path, options, () =>
      declareTable(this.#connection.place, { name, path }, options),
    );
  }

  async registerTable(
    name: string,
    location: string,
    ...tail: NamespaceArguments<RegisterTableOptions>
  ): Promise<void> {
    await this.#register(name, location, tail);
  }

  /** Registers a table as `registerTable`, but only from a folder that was created for a table of a namespace. */
  async registerTableOf(
    within: NamespacePath,
    name: string,
    location: string,
    ...tail: NamespaceArguments<RegisterTableOptions>
  ): Promise<void> {
    await this.#register(name, location, tail, within);
  }

  async deregisterTable(
    name: string,
    ...tail: NamespaceArguments<CallOptions & InNamespace>
  ): Promise<{ location: string }> {
    const { namespacePath: path, options } = tableCall<CallOptions & InNamespace>('deregisterTable', name, tail, []);
    return this.#change('DeregisterTable', name, path, options, () =>
      deregisterTable(this.#connection.place, { name, path }),
    );
  }

  async openTable(name: string, ...tail: NamespaceArguments<OpenTableOptions>): Promise<DirTable> {
    const { namespacePath, options } = tableCall<OpenTableOptions>('openTable', name, tail, pins);
    return this.#during('DescribeTable', name, namespacePath, options, () => this.#open(name, namespacePath, options));
  }

  async dropTable(name: string, ...tail: NamespaceArguments<DropTableOptions>): Promise<void> {
    const { namespacePath, options } = tableCall<DropTableOptions>('dropTable', name, tail, []);
    await this.#during('DropTable', name, namespacePath, options, () =>
      this.#inNamespace(name, namespacePath, options, (connection) =>
        dropTable(this.#connection.place, connection, { name, path: namespacePath }),
      ),
    );
  }

  async renameTable(name: string, newName: string, ...tail: NamespaceArguments<RenameTableOptions>): Promise<void> {
    const { namespacePath: path, options } = tableCall<RenameTableOptions>('renameTable', name, tail, [
      'newNamespacePath',
    ]);
    const target = options.newNamespacePath ?? path;
    await this.#change('RenameTable', name, path, options, async () => {
      if (newName === name && isSamePath(target, path)) {
        if (await isListed(() => this.#open(name, path, options))) return;
        throw tableNotFound({ name, path });
      }
      checkName('table', newName);
      checkKnownPath(target);
      await this.#namespaces.mustExist(target, options);
      await renameTable(this.#connection.place, { name, path }, { name: newName, path: target });
    });
  }

  copy(from: readonly string[], to: CopyTarget, options: CopyOptions = {}): Promise<CopyResult> {
    const { location, storageOptions } = this.#connection.place;
    return copyTables({ catalog: this, identity: identityOfRoot(location, storageOptions) }, from, to, options);
  }

  async export(path: readonly string[], file: string, options?: ExportOptions): Promise<ExportResult> {
    const { exportTable } = await loadLazy(() => import('#catalog/export/entry.ts'));
    return exportTable(this, path, file, options);
  }

  async compare(before: ComparedTable, after: ComparedTable, options?: CompareOptions): Promise<CompareResult> {
    const { compareInCatalog } = await loadLazy(() => import('#catalog/export/entry.ts'));
    return compareInCatalog(this, before, after, options);
  }

  protected release(): Promise<void> {
    this.#tables.close();
    return this.#connection.close();
  }

  async #open(name: string, path: NamespacePath, { signal, ...pin }: CallOptions & Pin): Promise<DirTable> {
    checkVersion('openTable', pin.version);
    const table = { name, path };
    const open = (at: Pin, how: 'own' | 'shared', options: CallOptions): Promise<LeasedTable> => {
      const openOwn = (): Promise<NativeTable> =>
        this.#inNamespace(name, path, options, (connection) => openNative(connection, name, path, at, options));
      return how === 'shared' ? this.#tables.open(table, at, openOwn) : openOwn().then(ownTable);
    };
    const leased = await open(pin, 'shared', { signal });
    const { place } = this.#connection;
    const handle = new TableHandle(leased, { place, table, pin, open });
    return recordOpenedTable(this, new DirTable(handle), pin);
  }

  #describe(
    name: string,
    path: NamespacePath,
    options: Pin & CallOptions,
    parts: DescriptionParts,
  ): Promise<FullDescription> {
    return this.#during('DescribeTable', name, path, options, () =>
      describeAt(this.#connection.place, (pin) => this.#open(name, path, pin), { ...options, ...parts }),
    );
  }

  #create(table: Omit<NewTable, 'mode'>, how: { mode?: unknown; existOk?: unknown }): Promise<DirTable> {
    const { name, path, data, signal } = table;
    return this.#during('CreateTable', name, path, { signal }, async () => {
      let taken: unknown;
      const mode = checkCreateMode(table.call, how.mode, how.existOk);
      try {
        await closeSourceAfter(data, async () => {
          // Checks the namespace, because the engine would put a table into a namespace that was never created and is
          // in no list.
          await this.#namespaces.mustExist(path, { signal });
          await this.#connection.call(tableSubject(name, path), { signal }, (connection) =>
            create(this.#connection.place, connection, { ...table, mode }),
          );
        });
      } catch (error) {
        if (mode !== 'exist_ok' || !isCatalogError(error, 'TableAlreadyExists')) throw error;
        taken = error;
      }
      return this.#open(name, path, { signal }).catch((error: unknown) => {
        // If no listed table has the name, the files of a deregistered table use it. Then the error of the creation is
        // thrown.
        throw taken !== undefined && isCatalogError(error, 'TableNotFound') ? taken : error;
      });
    });
  }

  async #register(
    name: string,
    location: string,
    tail: NamespaceArguments<RegisterTableOptions>,
    within?: NamespacePath,
  ): Promise<void> {
    const known = ['mode', 'properties'] as const;
    const { namespacePath: path, options } = newTableCall<RegisterTableOptions>('registerTable', name, tail, known);
    await this.#change('RegisterTable', name, path, options, async () => {
      checkChoice('registerTable', 'mode', options.mode, ['create', 'overwrite']);
      await registerTable(this.#connection.place, { name, path }, location, options, within);
    });
  }

  #change<T>(
    operation: Operation,
    name: string,
    path: NamespacePath,
    options: CallOptions,
    change: () => Promise<T>,
  ): Promise<T> {
    return this.#during(operation, name, path, options, async () => {
      await this.#namespaces.mustExist(path, options);
      return this.#connection.call(tableSubject(name, path), { signal: options.signal }, change);
    });
  }

  /** Runs a call on a table; a missing table in a missing namespace is reported as a missing namespace. */
  async #inNamespace<T>(
    name: string,
    path: NamespacePath,
    options: CallOptions,
    call: (connection: Connection, path: string[]) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#connection.call(tableSubject(name, path), options, (connection) =>
        call(connection, checkManifestPath(path, name)),
      );
    } catch (error) {
      if (!isCatalogError(error, 'TableNotFound')) throw error;
      await this.#namespaces.mustExist(path, options);
      throw await noTableAt(this.#connection.place, [...path, name], error);
    }
  }

  #during<T>(
    operation: Operation,
    name: string,
    path: NamespacePath,
    { signal }: CallOptions,
    call: () => Promise<T>,
  ): Promise<T> {
    return withErrorContext({ operation, identifier: displayPath(path, name) }, () =>
      withNearestName(this.#lists, { path, table: name }, signal, call),
    );
  }

  /** Runs a call on a namespace. */
  #near<T>(path: NamespacePath, options: CallOptions, call: () => Promise<T>): Promise<T> {
    return withNearestName(this.#lists, { path }, options?.signal, call);
  }
}

/** A thousand names of a local directory are listed in 40 ms, unless the machine is busy; a store needs a request. */
const nearestNameMs = { local: 200, store: 1000 } as const;

const nameLists = ({ location, isLocal }: Root, namespaces: DirNamespaces): NameLists => ({
  location,
  tables: async (path, page) => (await namespaces.listTables(path, page)).tables,
  namespaces: async (path, page) => (await namespaces.list(path, page)).namespaces,
  withinMs: isLocal ? nearestNameMs.local : nearestNameMs.store,
});

const pins: (keyof OpenTableOptions)[] = ['version', 'tag', 'branch'];

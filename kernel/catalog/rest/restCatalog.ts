import { type Schema, Table as ArrowTable } from '#arrow';
import {
  type CallOptions,
  checkChoice,
  checkCreateMode,
  checkDrop,
  checkOptions,
  checkPage,
  type CreateMode,
  type DropNamespaceOptions,
  isSamePath,
  type NamespaceArguments,
  newTableCall,
  tableCall,
} from '#catalog/arguments/options.ts';
import type { BlobReader } from '#catalog/blobs.ts';
import { closeSourceAfter } from '#catalog/arrow/batchSource.ts';
import type {
  Capabilities,
  CapabilityOptions,
  ComparedTable,
  CompareOptions,
  CompareResult,
  CopyOptions,
  CopyResult,
  CopyTarget,
  ExportOptions,
  ExportResult,
} from '#catalog/catalog.ts';
import type * as catalog from '#catalog/catalog.ts';
import type { ConnectOptions, RestConfig } from '#catalog/connect.ts';
import { checkOperations, type Operation } from '#catalog/contract.ts';
import { copyTables } from '#catalog/copy/copyTables.ts';
import type { Identity } from '#catalog/identity.ts';
import type { Jobs } from '#catalog/jobs.ts';
import {
  checkTableNames,
  createTableArguments,
  LanceDbCatalog,
  namespaceAndOptions,
  selectTableNames,
  type TableNamesOptions,
} from '#catalog/lancedb/lanceDbCatalog.ts';
import { allPages } from '#catalog/listPages.ts';
import { type NameLists, withNearestName } from '#catalog/names/missingNames.ts';
import { adoptSchema, newTableData } from '#catalog/table/tableData.ts';
import { recordOpenedTable } from '#catalog/tableReference.ts';
import { Transport, type TransportOptions } from '#catalog/transport/transport.ts';
import { CatalogError, withErrorContext } from '#shared/errors.ts';
import { loadLazy } from '#shared/loadLazy.ts';
import {
  checkKnownPath,
  checkName,
  checkNamespacePath,
  displayGiven,
  displayPath,
  type NamespacePath,
} from '#shared/names.ts';
import { nextSteps } from '#shared/nextSteps.ts';
import { probeCapabilities } from './capabilities.ts';
import { transportOptionsOf } from './config.ts';
import { describeNamespace, mustExist, namespaceExists, tableExists } from './exists.ts';
import { RestJobs } from './jobs.ts';
import { createNamespace, dropNamespace, listPage } from './namespaces.ts';
import { createTable, declareTable, deregisterTable, registerTable } from './newTables.ts';
import { openTarget } from './openTarget.ts';
import { describeTable, inNamespace, isOnlyDeclared } from './restOpen.ts';
import { RestTable } from './restTable.ts';
import { type Encoded, encodeSource } from './writes.ts';

/** @throws CatalogError InvalidInput (13) for a bad configuration; nothing is sent yet */
export async function openRest(config: RestConfig, options: ConnectOptions = {}): Promise<RestCatalog> {
  options.signal?.throwIfAborted();
  const { identity, ...transport } = transportOptionsOf(config, options.log);
  return new RestCatalog({ ...transport, keyHint: options.keyHint }, { location: config.uri, identity });
}

/**
 * `location` is shown to users. `identity` is compared with the identity of other catalogs. `blobs` reads
 * the bytes of blobs. `onClose` is called when the catalog is closed.
 */
type Shown = { location: string; identity: Identity; blobs?: BlobReader; onClose?: () => void };

/**
 * A catalog on a server with the Lance Namespace REST contract. Checks and sends calls. The contract leaves some
 * behavior to the server; this class evens out the differences, so that a call does the same as on a directory.
 */
export class RestCatalog extends LanceDbCatalog implements catalog.Catalog {
  readonly implementation = 'rest';
  readonly location: string;
  readonly jobs: Jobs;
  /** Reads the bytes of blobs; undefined if the server can't. */
  readonly blobs: BlobReader | undefined;
  readonly #wire: Transport;
  readonly #identity: Identity;
  readonly #onClose: (() => void) | undefined;
  readonly #lists: NameLists;

  constructor(transport: TransportOptions, { location, identity, blobs, onClose }: Shown) {
    super();
    this.#wire = new Transport(transport);
    this.#identity = identity;
    this.#onClose = onClose;
    this.location = location;
    this.blobs = blobs;
    this.jobs = new RestJobs(this.#wire);
    this.#lists = nameLists(this.#wire, location);
  }

  async capabilities(options: CapabilityOptions = {}): Promise<Capabilities> {
    checkOptions('capabilities', options, ['probe', 'signal']);
    checkOperations(options.probe);
    const { capabilities } = this.#wire;
    if (options.probe) await probeCapabilities(this.#wire, capabilities, options.probe, options.signal);
    return capabilities.all();
  }

  async createNamespace(path: NamespacePath, options: catalog.CreateNamespaceOptions = {}): Promise<void> {
    await this.#about('CreateNamespace', { path }, options, async () => {
      checkOptions('createNamespace', options, ['mode', 'properties', 'signal']);
      checkNamespacePath(path);
      const mode = checkCreateMode('createNamespace', options.mode);
      await createNamespace(this.#wire, path, mode, options.properties, options);
    });
  }

  async listNamespaces(path: NamespacePath = [], options: catalog.PageOptions = {}): Promise<catalog.NamespacePage> {
    return this.#about('ListNamespaces', { path }, options, async () => {
      checkOptions('listNamespaces', options, ['limit', 'pageToken', 'signal']);
      checkKnownPath(path);
      const page = { ...checkPage('listNamespaces', options), signal: options.signal };
      const { names, ...next } = await listPage(this.#wire, 'ListNamespaces', path, page);
      return { namespaces: names, ...next };
    });
  }

  async describeNamespace(
    path: NamespacePath,
    options: CallOptions = {},
  ): Promise<{ properties: Record<string, string> }> {
    return this.#about('DescribeNamespace', { path }, options, async () => {
      checkOptions('describeNamespace', options, ['signal']);
      checkKnownPath(path);
      return describeNamespace(this.#wire, path, options);
    });
  }

  async namespaceExists(path: NamespacePath, options: CallOptions = {}): Promise<boolean> {
    return this.#about('NamespaceExists', { path }, options, async () => {
      checkOptions('namespaceExists', options, ['signal']);
      checkKnownPath(path);
      return namespaceExists(this.#wire, path, options);
    });
  }

  async dropNamespace(path: NamespacePath, options: DropNamespaceOptions = {}): Promise<void> {
    await this.#about('DropNamespace', { path }, options, async () => {
      const how = checkDrop(options);
      checkKnownPath(path);
      await dropNamespace(this.#wire, path, how, options);
    });
  }

  async listTables(
    given?: NamespacePath | catalog.ListTablesOptions,
    tail?: catalog.ListTablesOptions,
  ): Promise<catalog.TablePage> {
    const { path, options } = namespaceAndOptions<catalog.ListTablesOptions>(given, tail);
    return this.#about('ListTables', { path }, options, async () => {
      checkOptions('listTables', options, ['includeDeclared', 'limit', 'pageToken', 'signal']);
      checkKnownPath(path);
      const { includeDeclared, signal } = options;
      const page = { ...checkPage('listTables', options), includeDeclared, signal };
      const { names, ...next } = await listPage(this.#wire, 'ListTables', path, page);
      return { tables: names, ...next };
    });
  }

  async tableNames(given?: NamespacePath | TableNamesOptions, tail?: TableNamesOptions): Promise<string[]> {
    const { path, options } = namespaceAndOptions<TableNamesOptions>(given, tail);
    return this.#about('ListTables', { path }, options, async () => {
      checkTableNames(path, options);
      const { signal } = options;
      const page = { limit: 1000, signal };
      const all = await allPages((pageToken) => listPage(this.#wire, 'ListTables', path, { ...page, pageToken }));
      return selectTableNames(all, options);
    });
  }

  async describeTable(
    name: string,
    ...tail: NamespaceArguments<catalog.OpenTableOptions>
  ): Promise<catalog.TableDescription> {
    const { namespacePath: path, options } = opening('describeTable', name, tail);
    return this.#known('DescribeTable', path, name, options, () => describeTable(this.#wire, path, name, options));
  }

  async tableExists(name: string, ...tail: NamespaceArguments<CallOptions & catalog.InNamespace>): Promise<boolean> {
    type Options = CallOptions & catalog.InNamespace;
    const { namespacePath: path, options } = tableCall<Options>('tableExists', name, tail, []);
    return this.#about('TableExists', { path, table: name }, options, () =>
      tableExists(this.#wire, [...path, name], options),
    );
  }

  async isOnlyDeclared(name: string, ...tail: NamespaceArguments<CallOptions & catalog.InNamespace>): Promise<boolean> {
    type Options = CallOptions & catalog.InNamespace;
    const { namespacePath: path, options } = tableCall<Options>('isOnlyDeclared', name, tail, []);
    const ask = () => isOnlyDeclared(this.#wire, [...path, name], options);
    return this.#known('DescribeTable', path, name, options, ask);
  }

  async createTable(given: unknown, rows?: unknown, ...more: readonly unknown[]): Promise<RestTable> {
    type Options = catalog.CreateTableOptions;
    const { name, data, tail } = createTableArguments(given, rows, more);
    const { namespacePath: path, options } = newTableCall<Options>('createTable', name, tail, [
      'existOk',
      'mode',
      'schema',
    ]);
    return this.#about('CreateTable', { path, table: name }, options, () => {
      const source = newTableData(displayPath(path, name), data, options.schema);
      const encode = () => encodeSource('createTable', source, options.schema);
      return closeSourceAfter(source, () => this.#create(path, name, options, encode));
    });
  }

  async createEmptyTable(
    name: string,
    schema: Schema,
    ...tail: NamespaceArguments<catalog.CreateEmptyTableOptions>
  ): Promise<RestTable> {
    type Options = catalog.CreateEmptyTableOptions;
    const { namespacePath: path, options } = newTableCall<Options>('createEmptyTable', name, tail, ['existOk', 'mode']);
    const empty = () => encodeSource('createEmptyTable', new ArrowTable(adoptSchema(schema)));
    return this.#create(path, name, options, empty);
  }

  async declareTable(
    name: string,
    ...tail: NamespaceArguments<catalog.DeclareTableOptions>
  ): Promise<{ location: string }> {
    type Options = catalog.DeclareTableOptions;
    const known = ['location', 'properties'] as const;
    const { namespacePath: path, options } = newTableCall<Options>('declareTable', name, tail, known);
    return this.#about('DeclareTable', { path, table: name }, options, async () => {
      await mustExist(this.#wire, path, options);
      return declareTable(this.#wire, [...path, name], options);
    });
  }

  async registerTable(
    name: string,
    location: string,
    ...tail: NamespaceArguments<catalog.RegisterTableOptions>
  ): Promise<void> {
    type Options = catalog.RegisterTableOptions;
    const { namespacePath: path, options } = newTableCall<Options>('registerTable', name, tail, ['mode', 'properties']);
    await this.#about('RegisterTable', { path, table: name }, options, async () => {
      const mode = checkChoice('registerTable', 'mode', options.mode, ['create', 'overwrite']) ?? 'create';
      await mustExist(this.#wire, path, options);
      await registerTable(this.#wire, [...path, name], location, { ...options, mode });
    });
  }

  async deregisterTable(
    name: string,
    ...tail: NamespaceArguments<CallOptions & catalog.InNamespace>
  ): Promise<{ location?: string }> {
    type Options = CallOptions & catalog.InNamespace;
    const { namespacePath: path, options } = tableCall<Options>('deregisterTable', name, tail, []);
    const deregister = () => deregisterTable(this.#wire, [...path, name], options);
    return this.#known('DeregisterTable', path, name, options, deregister);
  }

  async openTable(name: string, ...tail: NamespaceArguments<catalog.OpenTableOptions>): Promise<RestTable> {
    const { namespacePath: path, options } = opening('openTable', name, tail);
    const open = () => openTarget(this.#wire, path, name, options);
    return recordOpenedTable(
      this,
      new RestTable(await this.#known('DescribeTable', path, name, options, open)),
      options,
    );
  }

  async dropTable(name: string, ...tail: NamespaceArguments<catalog.DropTableOptions>): Promise<void> {
    const { namespacePath: path, options } = tableCall<catalog.DropTableOptions>('dropTable', name, tail, []);
    const { signal } = options;
    const drop = () => this.#wire.json({ operation: 'DropTable', id: [...path, name], json: {}, signal });
    await this.#known('DropTable', path, name, options, drop);
  }

  async renameTable(
    name: string,
    newName: string,
    ...tail: NamespaceArguments<catalog.RenameTableOptions>
  ): Promise<void> {
    type Options = catalog.RenameTableOptions;
    const { namespacePath: path, options } = tableCall<Options>('renameTable', name, tail, ['newNamespacePath']);
    await this.#known('RenameTable', path, name, options, async () => {
      const { newNamespacePath, signal } = options;
      // Renaming a table to its current name does nothing. A server would refuse the name as taken.
      if (newName === name && isSamePath(newNamespacePath ?? path, path)) {
        if (await tableExists(this.#wire, [...path, name], { signal })) return;
        throw missingTable([...path, name]);
      }
      checkName('table', newName);
      if (newNamespacePath !== undefined) checkKnownPath(newNamespacePath);
      const json = { new_table_name: newName, ...(newNamespacePath && { new_namespace_id: newNamespacePath }) };
      await this.#wire.json({ operation: 'RenameTable', id: [...path, name], json, signal });
    });
  }

  copy(from: readonly string[], to: CopyTarget, options?: CopyOptions): Promise<CopyResult> {
    return copyTables({ catalog: this, identity: this.#identity }, from, to, options);
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
    this.#onClose?.();
    return this.#wire.close();
  }

  async #create(
    path: NamespacePath,
    name: string,
    options: CallOptions & { mode?: CreateMode | undefined; existOk?: boolean | undefined },
    encode: () => Promise<Encoded>,
  ): Promise<RestTable> {
    const id = [...path, name];
    return this.#about('CreateTable', { path, table: name }, options, async () => {
      const mode = checkCreateMode('createTable', options.mode, options.existOk);
      // Checked before `encode`, because a batch source can be read only once.
      await mustExist(this.#wire, path, options);
      await createTable(this.#wire, id, await encode(), mode, options);
      return recordOpenedTable(this, new RestTable({ wire: this.#wire, id }));
    });
  }

  /** Runs a call about a table that is expected to exist. */
  #known<T>(
    operation: Operation,
    path: NamespacePath,
    name: string,
    { signal }: CallOptions,
    call: () => Promise<T>,
  ): Promise<T> {
    const exists = () => namespaceExists(this.#wire, path, { signal });
    return this.#about(operation, { path, table: name }, { signal }, () => inNamespace(path, exists, call));
  }

  /** Runs a call on a namespace, or on a table in it. */
  #about<T>(
    operation: Operation,
    subject: { readonly path: NamespacePath; readonly table?: string },
    options: CallOptions,
    call: () => Promise<T>,
  ): Promise<T> {
    const { path, table } = subject;
    const identifier = displayGiven(table === undefined ? path : [...path, table]);
    return withErrorContext({ operation, identifier }, () =>
      withNearestName(this.#lists, subject, options?.signal, call),
    );
  }
}

/** A list is one more request to a server that has just answered one. */
const nearestNameMs = 1000;

const nameLists = (wire: Transport, location: string): NameLists => ({
  location,
  tables: async (path, { limit, signal }) =>
    (await listPage(wire, 'ListTables', path, { limit, pageToken: undefined, signal })).names,
  namespaces: async (path, { limit, signal }) =>
    (await listPage(wire, 'ListNamespaces', path, { limit, pageToken: undefined, signal })).names,
  withinMs: nearestNameMs,
});

const missingTable = (id: readonly string[]): CatalogError =>
  new CatalogError('TableNotFound', `Table "${displayPath(id)}" does not exist.`, nextSteps.listTables);

const opening = (call: string, name: string, tail: readonly unknown[]) =>
  tableCall<catalog.OpenTableOptions>(call, name, tail, ['branch', 'tag', 'version']);

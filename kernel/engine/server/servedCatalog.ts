import type { RecordBatch, Schema } from '#arrow';
import type { CallOptions, CreateMode, DropNamespaceOptions } from '#catalog/arguments/options.ts';
import type {
  Capabilities,
  CreateNamespaceOptions,
  ListTablesOptions,
  NamespacePage,
  PageOptions,
  TablePage,
} from '#catalog/catalog.ts';
import type { DirCatalog } from '#engine/dir/dirCatalog.ts';
import type { DirTable } from '#engine/dir/dirTable.ts';
import type { Pin } from '#engine/dir/sharedTables.ts';
import type { NamespacePath } from '#shared/names.ts';

type Properties = { properties?: Record<string, string> | undefined };

/**
 * A namespace of a directory as the root of a catalog, with the calls that routes need. Routes get only this object, so
 * no request can name anything outside of the namespace: each method puts the path of the namespace before the paths
 * that it was given. Errors have the full paths; the server shortens them (`withoutNamespace`).
 */
export class ServedCatalog {
  /** The namespace that is the root; `[]` for the root of the directory. */
  readonly namespacePath: NamespacePath;
  readonly #base: DirCatalog;

  constructor(base: DirCatalog, namespacePath: NamespacePath) {
    this.#base = base;
    this.namespacePath = namespacePath;
  }

  /** The directory or the URL in an object store that has the files of all its namespaces. */
  get location(): string {
    return this.#base.location;
  }

  /** @throws CatalogError NamespaceNotFound (1) if the namespace that is the root does not exist */
  async mustExist(options: CallOptions): Promise<void> {
    if (this.namespacePath.length > 0) await this.#base.describeNamespace(this.namespacePath, options);
  }

  capabilities(options: CallOptions): Promise<Capabilities> {
    return this.#base.capabilities(options);
  }

  async createNamespace(path: NamespacePath, options: CreateNamespaceOptions): Promise<void> {
    if (path.length > 0) return this.#base.createNamespace(this.#at(path), options);
    // The root of a directory always exists, and so does this one: a request can't create it.
    await this.mustExist({ signal: options.signal });
    return this.#base.createNamespace([], options);
  }

  listNamespaces(path: NamespacePath, options: PageOptions): Promise<NamespacePage> {
    return this.#base.listNamespaces(this.#at(path), options);
  }

  describeNamespace(path: NamespacePath, options: CallOptions): Promise<{ properties: Record<string, string> }> {
    return this.#base.describeNamespace(this.#at(path), options);
  }

  async dropNamespace(path: NamespacePath, options: DropNamespaceOptions): Promise<void> {
    // The root can't be dropped; the directory refuses it with its own error.
    return this.#base.dropNamespace(path.length === 0 ? [] : this.#at(path), options);
  }

  listTables(path: NamespacePath, options: ListTablesOptions): Promise<TablePage> {
    return this.#base.listTables(this.#at(path), options);
  }

  createTable(
    name: string,
    batches: AsyncIterable<RecordBatch>,
    path: NamespacePath,
    options: CallOptions & { mode?: CreateMode | undefined; schema?: Schema | undefined },
  ): Promise<DirTable> {
    return this.#base.createTable(name, batches, this.#at(path), options);
  }

  declareTable(
    name: string,
    path: NamespacePath,
    options: CallOptions & Properties & { location?: string | undefined },
  ): Promise<{ location: string }> {
    return this.#base.declareTable(name, this.#at(path), options);
  }

  registerTable(
    name: string,
    location: string,
    path: NamespacePath,
    options: CallOptions & Properties & { mode?: 'create' | 'overwrite' | undefined },
  ): Promise<void> {
    if (this.namespacePath.length === 0) return this.#base.registerTable(name, location, path, options);
    // All tables of a directory have their folders side by side, so a location could be that of any table.
    return this.#base.registerTableOf(this.namespacePath, name, location, this.#at(path), options);
  }

  deregisterTable(name: string, path: NamespacePath, options: CallOptions): Promise<{ location: string }> {
    return this.#base.deregisterTable(name, this.#at(path), options);
  }

  describe(
    name: string,
    path: NamespacePath,
    options: Parameters<DirCatalog['describe']>[2],
  ): ReturnType<DirCatalog['describe']> {
    return this.#base.describe(name, this.#at(path), options);
  }

  declaredLocation(name: string, path: NamespacePath, options: CallOptions): Promise<string | undefined> {
    return this.#base.declaredLocation(name, this.#at(path), options);
  }

  tableExists(name: string, path: NamespacePath, options: CallOptions): Promise<boolean> {
    return this.#base.tableExists(name, this.#at(path), options);
  }

  openTable(name: string, path: NamespacePath, options: CallOptions & Pin): Promise<DirTable> {
    return this.#base.openTable(name, this.#at(path), options);
  }

  dropTable(name: string, path: NamespacePath, options: CallOptions): Promise<void> {
    return this.#base.dropTable(name, this.#at(path), options);
  }

  renameTable(
    name: string,
    newName: string,
    path: NamespacePath,
    { newNamespacePath, ...options }: CallOptions & { newNamespacePath?: NamespacePath | undefined },
  ): Promise<void> {
    const target = newNamespacePath === undefined ? undefined : this.#at(newNamespacePath);
    return this.#base.renameTable(name, newName, this.#at(path), { ...options, newNamespacePath: target });
  }

  #at(path: NamespacePath): NamespacePath {
    return [...this.namespacePath, ...path];
  }
}

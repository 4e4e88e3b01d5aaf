import type { Connection } from '@lancedb/lancedb';
import {
  type CallOptions,
  checkCreateMode,
  checkDrop,
  checkOptions,
  checkPage,
  type DropNamespaceOptions,
} from '#catalog/arguments/options.ts';
import type {
  CreateNamespaceOptions,
  ListTablesOptions,
  NamespacePage,
  PageOptions,
  TablePage,
} from '#catalog/catalog.ts';
import type { Operation } from '#catalog/contract.ts';
import { tableHasName } from '#catalog/nameErrors.ts';
import { allPages } from '#catalog/listPages.ts';
import { engineError, namespaceSubject, tableSubject } from '#engine/errors/engineErrors.ts';
import { checkTableNames, selectTableNames, type TableNamesOptions } from '#catalog/lancedb/lanceDbCatalog.ts';
import { CatalogError, withErrorContext, isCatalogError } from '#shared/errors.ts';
import { checkKnownPath, checkNamespacePath, displayPath, idDelimiter, type NamespacePath } from '#shared/names.ts';
import { nextSteps } from '#shared/nextSteps.ts';
import { ensureManifest } from './files/createManifest.ts';
import type { DirConnection } from './dirConnection.ts';
import { dropTable } from './dirDrop.ts';
import {
  checkManifestPath,
  dropEmptyNamespace,
  hasManifest,
  objectKind,
  withManifestLock,
} from './files/manifestTable.ts';
import { checkNotTable, checkParentKind, noNamespaceAt, withoutRootTable } from './nameConflicts.ts';
import { type NamesPage, type RootTables, rootTables } from './files/rootTables.ts';

type ReadPage = (limit: number, pageToken: string | undefined) => Promise<NamesPage>;

/**
 * Reads a page of names from the engine. The page token is the last name of a page. Other clients can create an object
 * with an empty name, which sorts first. If a page ends with the empty name, its page token is empty and can't be used.
 * Such a page is read again with one more entry.
 */
async function pageOf(read: ReadPage, limit: number, pageToken: string | undefined): Promise<NamesPage> {
  const page = await read(limit, pageToken);
  const whole = page.pageToken === '' ? await read(limit + 1, pageToken) : page;
  return {
    // An entry without a name can't be used in any call.
    names: whole.names.filter((name) => name !== ''),
    ...(whole.pageToken && { pageToken: whole.pageToken }),
  };
}

const namespacesPage =
  (connection: Connection, path: NamespacePath): ReadPage =>
  async (limit, pageToken) => {
    const { namespaces, pageToken: next } = await connection.listNamespaces(
      checkManifestPath(path),
      given(limit, pageToken),
    );
    return toPage(namespaces, next);
  };

const tablesPage =
  (connection: Connection, path: NamespacePath): ReadPage =>
  async (limit, pageToken) => {
    const { tables, pageToken: next } = await connection.listTables(checkManifestPath(path), given(limit, pageToken));
    return toPage(tables, next);
  };

const toPage = (names: string[], next: string | null | undefined): NamesPage =>
  next === null || next === undefined ? { names } : { names, pageToken: next };

const given = (limit: number, pageToken: string | undefined) =>
  pageToken === undefined ? { limit } : { limit, pageToken };

/**
 * Filters out listed names that are not tables. If the engine escapes characters of a name, it creates up to three
 * folders, and only one of them can be opened as a table. So names with escaped characters are checked. If
 * `includeDeclared` is false, all names are checked.
 */
async function tablesOnly(
  connection: Connection,
  path: NamespacePath,
  names: readonly string[],
  includeDeclared: boolean,
): Promise<string[]> {
  const kept: string[] = [];
  for (const name of names) {
    // A name with the delimiter is the folder of a table in a namespace. The engine lists it as a table in the root
    // too, so it is skipped.
    if (name.includes(idDelimiter)) continue;
    const isDoubtful = /%[0-9A-F]{2}/i.test(name);
    if ((!isDoubtful && includeDeclared) || (await isKept(connection, name, path, includeDeclared))) kept.push(name);
  }
  return kept;
}

async function isKept(
  connection: Connection,
  name: string,
  path: NamespacePath,
  includeDeclared: boolean,
): Promise<boolean> {
  try {
    (await connection.openTable(name, [...path])).close();
    return true;
  } catch (error) {
    const told = engineError(error, tableSubject(name, path));
    if (isCatalogError(told, 'TableNotFound')) return false;
    return includeDeclared || !isCatalogError(told, 'InvalidTableState');
  }
}

/** The namespaces of a directory, and the lists of their tables and child namespaces. */
export class DirNamespaces {
  readonly #connection: DirConnection;
  readonly #rootTables: RootTables;

  constructor(connection: DirConnection) {
    this.#connection = connection;
    this.#rootTables = rootTables(connection.place);
  }

  create(namespacePath: NamespacePath, options: CreateNamespaceOptions): Promise<void> {
    return this.#during('CreateNamespace', namespacePath, async () => {
      checkOptions('createNamespace', options, ['mode', 'properties', 'signal']);
      checkNamespacePath(namespacePath);
      const mode = checkCreateMode('createNamespace', options.mode);
      if (mode === 'overwrite') throw noOverwrite(namespacePath);
      if (namespacePath.length === 0 && mode === 'exist_ok') return;
      try {
        // For a nested namespace the manifest already exists, because the parent is in it.
        if (namespacePath.length === 1) await ensureManifest(this.#connection.place);
        await checkParentKind(this.#connection.place, namespacePath);
        const change = (call: (connection: Connection) => Promise<unknown>) =>
          this.#change(namespacePath, options, call);
        await withoutRootTable(
          this.#connection.place,
          namespacePath,
          () =>
            change((connection) =>
              connection.createNamespace(
                checkManifestPath(namespacePath),
                options.properties ? { properties: options.properties } : {},
              ),
            ),
          () => change((connection) => connection.dropNamespace(checkManifestPath(namespacePath))),
        );
      } catch (error) {
        if (!isCatalogError(error, 'NamespaceAlreadyExists')) throw error;
        // The engine reports the same error if a table has the name.
        if ((await objectKind(this.#connection.place, namespacePath)) === 'table') throw tableHasName(namespacePath);
        if (mode !== 'exist_ok') throw error;
      }
    });
  }

  async #change(
    path: NamespacePath,
    options: CallOptions,
    change: (connection: Connection) => Promise<unknown>,
  ): Promise<void> {
    await withManifestLock(this.#connection.place, () =>
      this.#connection.call(namespaceSubject(path), options, change),
    );
  }

  list(namespacePath: NamespacePath, options: PageOptions): Promise<NamespacePage> {
    return this.#during('ListNamespaces', namespacePath, async () => {
      checkOptions('listNamespaces', options, ['limit', 'pageToken', 'signal']);
      const { limit, pageToken } = checkPage('listNamespaces', options);
      checkKnownPath(namespacePath);
      const { names, ...next } = await this.#connection.call(namespaceSubject(namespacePath), options, (connection) =>
        pageOf(namespacesPage(connection, namespacePath), limit, pageToken),
      );
      // The engine lists a missing namespace as an empty one.
      if (names.length === 0) await this.mustExist(namespacePath, options);
      return { namespaces: names, ...next };
    });
  }

  listTables(namespacePath: NamespacePath, options: ListTablesOptions): Promise<TablePage> {
    return this.#during('ListTables', namespacePath, async () => {
      checkOptions('listTables', options, ['includeDeclared', 'limit', 'pageToken', 'signal']);
      const { limit, pageToken } = checkPage('listTables', options);
      checkKnownPath(namespacePath);
      const { names, ...next } = await this.#connection.call(
        namespaceSubject(namespacePath),
        options,
        async (connection) => {
          const read: ReadPage =
            namespacePath.length === 0
              ? (most, after) => this.#rootTables.page(connection, most, after)
              : tablesPage(connection, namespacePath);
          const page = await pageOf(read, limit, pageToken);
          const includeDeclared = options.includeDeclared ?? true;
          return { ...page, names: await tablesOnly(connection, namespacePath, page.names, includeDeclared) };
        },
      );
      if (names.length === 0) await this.mustExist(namespacePath, options);
      return { tables: names, ...next };
    });
  }

  describe(namespacePath: NamespacePath, options: CallOptions): Promise<{ properties: Record<string, string> }> {
    return this.#during('DescribeNamespace', namespacePath, async () => {
      checkOptions('describeNamespace', options, ['signal']);
      checkKnownPath(namespacePath);
      const found = await this.#connection.call(namespaceSubject(namespacePath), options, (connection) =>
        connection.describeNamespace(checkManifestPath(namespacePath)),
      );
      return { properties: found.properties ?? {} };
    });
  }

  exists(namespacePath: NamespacePath, options: CallOptions): Promise<boolean> {
    return this.#during('NamespaceExists', namespacePath, async () => {
      checkOptions('namespaceExists', options, ['signal']);
      checkKnownPath(namespacePath);
      return this.#there(namespacePath, options);
    });
  }

  async #there(namespacePath: NamespacePath, options: CallOptions): Promise<boolean> {
    try {
      await this.#connection.call(namespaceSubject(namespacePath), options, (connection) =>
        connection.describeNamespace(checkManifestPath(namespacePath)),
      );
      return true;
    } catch (error) {
      if (isCatalogError(error, 'NamespaceNotFound')) return false;
      throw error;
    }
  }

  drop(namespacePath: NamespacePath, options: DropNamespaceOptions): Promise<void> {
    return this.#during('DropNamespace', namespacePath, async () => {
      const { mode, behavior } = checkDrop(options);
      checkKnownPath(namespacePath);
      if (namespacePath.length === 0) {
        throw new CatalogError('InvalidInput', "Can't drop the root namespace.", 'Choose a namespace in it.');
      }
      try {
        if (behavior === 'cascade') {
          await checkNotTable(this.#connection.place, namespacePath);
          await this.#dropContents(namespacePath, options);
        }
        await this.#change(namespacePath, options, async (connection) => {
          // The engine would drop any object with this identifier, even a table.
          const { place } = this.#connection;
          await checkNotTable(place, namespacePath);
          const path = checkManifestPath(namespacePath);
          const drop = (): Promise<unknown> => connection.dropNamespace(path);
          // Without a manifest the engine reports that the namespace is missing.
          if (!(await hasManifest(place))) await drop();
          else if (!(await dropEmptyNamespace(place, path, drop))) throw notEmpty(namespacePath);
        });
      } catch (error) {
        if (mode !== 'skip' || !isCatalogError(error, 'NamespaceNotFound')) throw error;
      }
    });
  }

  /** @throws CatalogError NamespaceNotFound (1) */
  async mustExist(path: NamespacePath, { signal }: CallOptions): Promise<void> {
    if (path.length === 0) return;
    try {
      await this.#connection.call(namespaceSubject(path), { signal }, (connection) =>
        connection.describeNamespace(checkManifestPath(path)),
      );
    } catch (error) {
      if (!isCatalogError(error, 'NamespaceNotFound')) throw error;
      throw await noNamespaceAt(this.#connection.place, path, error);
    }
  }

  tableNames(path: NamespacePath, options: TableNamesOptions): Promise<string[]> {
    return this.#during('ListTables', path, async () => {
      checkTableNames(path, options);
      const names = await this.#connection.call(namespaceSubject(path), options, async (connection) => {
        // Without a limit the engine returns all names, at the cost of one page.
        const all =
          path.length === 0
            ? await this.#rootTables.all(connection)
            : (await connection.listTables(checkManifestPath(path))).tables;
        return tablesOnly(
          connection,
          path,
          all.filter((name) => name !== ''),
          true,
        );
      });
      if (names.length === 0) await this.mustExist(path, options);
      return selectTableNames(names, options);
    });
  }

  async #dropContents(path: NamespacePath, { signal }: CallOptions): Promise<void> {
    const children = await allPages(async (pageToken) => {
      const page = await this.list(path, { signal, pageToken, limit: 1000 });
      return { names: page.namespaces, pageToken: page.pageToken };
    });
    for (const child of children) await this.drop([...path, child], { signal, behavior: 'cascade', mode: 'skip' });
    for (const table of await this.tableNames(path, { signal })) await this.#dropTable(table, path, { signal });
  }

  async #dropTable(name: string, path: NamespacePath, options: CallOptions): Promise<void> {
    try {
      await this.#connection.call(tableSubject(name, path), options, (connection) =>
        dropTable(this.#connection.place, connection, { name, path }),
      );
    } catch (error) {
      // If the table is missing, another client has dropped it first, so the error is ignored.
      if (!isCatalogError(error, 'TableNotFound')) throw error;
    }
  }

  #during<T>(operation: Operation, path: NamespacePath, call: () => Promise<T>): Promise<T> {
    return withErrorContext({ operation, identifier: Array.isArray(path) ? displayPath(path) : undefined }, call);
  }
}

const notEmpty = (path: NamespacePath): CatalogError =>
  new CatalogError('NamespaceNotEmpty', `Namespace "${displayPath(path)}" is not empty.`, nextSteps.cascade);

const noOverwrite = (path: NamespacePath): CatalogError =>
  new CatalogError(
    'Unsupported',
    `Can't overwrite namespace "${displayPath(path)}" in a directory.`,
    'Drop it with behavior: "cascade" and create it again.',
  );

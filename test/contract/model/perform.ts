import { Field, Int64, Schema } from '#arrow';
import { isCatalogError } from '#shared/errors.ts';
import type { Catalog } from '#catalog/catalog.ts';
import { allPages } from '#catalog/listPages.ts';
import type { DetachedId, Operation, Outcome } from './operations.ts';
import { sortedProperties } from './trees.ts';

const schema = new Schema([new Field('id', new Int64())]);

/** Runs an operation on a catalog. Throws errors other than `CatalogError`, because no call may fail with them. */
export async function perform(db: Catalog, operation: Operation, locations: Map<DetachedId, string>): Promise<Outcome> {
  try {
    const value = await run(db, operation, locations);
    return value === undefined ? {} : { value };
  } catch (error) {
    if (isCatalogError(error)) return { error: error.kind };
    throw error;
  }
}

async function run(db: Catalog, operation: Operation, locations: Map<DetachedId, string>): Promise<unknown> {
  const { call } = operation;
  switch (call) {
    case 'createNamespace': {
      const { path, mode, properties } = operation;
      return db.createNamespace(path, { mode, properties });
    }
    case 'dropNamespace': {
      const { path, mode, behavior } = operation;
      return db.dropNamespace(path, { mode, behavior });
    }
    case 'describeNamespace':
      return sortedProperties((await db.describeNamespace(operation.path)).properties);
    case 'namespaceExists':
      return db.namespaceExists(operation.path);
    case 'listNamespaces': {
      const { path, limit } = operation;
      return paged(limit, async (pageToken) => {
        const { namespaces, ...next } = await db.listNamespaces(path, { limit, pageToken });
        return { names: namespaces, ...next };
      });
    }
    case 'listTables': {
      const { path, limit, includeDeclared } = operation;
      return paged(limit, async (pageToken) => {
        const { tables, ...next } = await db.listTables(path, { limit, pageToken, includeDeclared });
        return { names: tables, ...next };
      });
    }
    case 'createTable': {
      const { path, name, rows, content, mode } = operation;
      const made =
        rows === 0
          ? await db.createEmptyTable(name, schema, path, { mode })
          : await db.createTable(
              name,
              Array.from({ length: rows }, () => ({ id: content })),
              path,
              { mode },
            );
      return made.countRows();
    }
    case 'declareTable':
      return void (await db.declareTable(operation.name, operation.path));
    case 'dropTable':
      return db.dropTable(operation.name, operation.path);
    case 'deregisterTable': {
      const { location } = await db.deregisterTable(operation.name, operation.path);
      if (location === undefined) throw new Error('The location of a deregistered table is missing.');
      locations.set(operation.detached, location);
      return undefined;
    }
    case 'registerTable': {
      const { path, name, mode, detached } = operation;
      const location = detached === undefined ? 'nowhere.lance' : locations.get(detached);
      if (location === undefined) throw new Error(`The location of deregistration ${detached} is not known.`);
      return db.registerTable(name, location, path, { mode });
    }
    case 'renameTable': {
      const { path, name, newPath, newName } = operation;
      return db.renameTable(name, newName, path, { newNamespacePath: newPath });
    }
    case 'copy': {
      const { from, to, overwrite } = operation;
      return void (await db.copy(from, to, { overwrite }));
    }
    case 'describeTable':
      return (await db.describeTable(operation.name, operation.path)).numRows;
    case 'tableExists':
      return db.tableExists(operation.name, operation.path);
    case 'openTable':
      return (await db.openTable(operation.name, operation.path)).countRows();
    case 'isOnlyDeclared':
      return db.isOnlyDeclared(operation.name, operation.path);
  }
}

/** Returns the sorted names of a list. Marks pages that are too long and names that occur twice. */
async function paged(
  limit: number,
  read: (pageToken: string | undefined) => Promise<{ names: string[]; pageToken?: string }>,
): Promise<string[]> {
  const names = await allPages(async (pageToken) => {
    const page = await read(pageToken);
    if (page.names.length <= limit) return page;
    return { ...page, names: [...page.names, `a page of ${page.names.length} names for a limit of ${limit}`] };
  });
  return names.toSorted();
}

import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { displayPath, type NamespacePath } from '#shared/names.ts';
import { nextSteps } from '#shared/nextSteps.ts';
import { namespaceHasName, tableHasName } from '#catalog/nameErrors.ts';
import { datasetName, withDataset } from './dataset.ts';
import type { Root } from './dirConnection.ts';
import { engineError, isTableWithoutData, tableSubject } from '#engine/errors/engineErrors.ts';
import { inRoot, isDeregistered, isSinglePathSegment, pathExists, rootFolder } from './files/folders.ts';
import { objectKind } from './files/manifestTable.ts';

// A child of a namespace is a table or a namespace, never both. The identifier is the key of the manifest, so two rows
// with one name can't be added. But a table in the root needs only a folder and no row. So creating a table in the root
// first makes the folder visible and then checks for a namespace. Creating a namespace checks for the folder, adds the
// row, and checks again.

/** @throws CatalogError NamespaceAlreadyExists (2) if a namespace has the name of the table to be created */
export async function checkNoNamespace(place: Root, name: string, path: NamespacePath): Promise<void> {
  if ((await objectKind(place, [...path, name])) === 'namespace') throw namespaceHasName([...path, name]);
}

/**
 * Returns the error for a table name whose folder exists in a local root.
 * @param otherwise the error to return unless the folder belongs to a deregistered table
 */
export async function rootNameTaken(place: Root, name: string, otherwise: CatalogError): Promise<CatalogError> {
  if (!(await isDeregistered(place.location, rootFolder(name)))) return otherwise;
  return new CatalogError(
    'TableAlreadyExists',
    `Can't use the name "${name}" for a table: a deregistered table has its files in "${rootFolder(name)}".`,
    'Choose another name, or restore that table with registerTable().',
  );
}

/** @throws CatalogError NamespaceNotFound (1) if the parent of a new namespace is a table */
export async function checkParentKind(place: Root, path: NamespacePath): Promise<void> {
  const parent = path.slice(0, -1);
  if (parent.length === 0 || (await objectKind(place, parent)) !== 'table') return;
  throw new CatalogError(
    'NamespaceNotFound',
    `Can't create namespace "${displayPath(path)}": its parent "${displayPath(parent)}" is a table.`,
    'Choose a namespace as the parent.',
  );
}

/** Returns the error for a missing namespace, with a note if a table has the name. */
export async function noNamespaceAt(place: Root, path: NamespacePath, otherwise: unknown): Promise<unknown> {
  if (!(await isTable(place, path))) return otherwise;
  return new CatalogError(
    'NamespaceNotFound',
    `Namespace "${displayPath(path)}" does not exist: it is a table.`,
    'Choose a namespace.',
    { cause: otherwise },
  );
}

/** The characters that the engine encodes in a path. It then finds no folder whose name has them. */
const encodedCharacters = /[^\x20-\x7e]|["#%*<>?[\\\]^`{|}~]/u;

/**
 * Returns the error for a missing table, with a note if a namespace has the name, or if the engine can't open the folder
 * of that name.
 */
export async function noTableAt(place: Root, id: NamespacePath, otherwise: unknown): Promise<unknown> {
  const [name = ''] = id;
  const encoded = encodedCharacters.exec(name)?.[0];
  const hasFolder = encoded !== undefined && id.length === 1 && place.isLocal && isSinglePathSegment(name);
  if (hasFolder && (await pathExists(join(place.location, rootFolder(name)))))
    return new CatalogError(
      'TableNotFound',
      `Can't open table "${name}": the engine finds no folder whose name has "${encoded}".`,
      'Rename the table: use ASCII letters, digits, "_", "-" and ".".',
      { cause: otherwise },
    );
  if ((await objectKind(place, id)) !== 'namespace') return otherwise;
  return new CatalogError(
    'TableNotFound',
    `Table "${displayPath(id)}" does not exist: it is a namespace.`,
    'Choose a table in it.',
    { cause: otherwise },
  );
}

/** @throws CatalogError NamespaceNotFound (1) if a table has the name of the namespace to be dropped */
export async function checkNotTable(place: Root, path: NamespacePath): Promise<void> {
  if (!(await isTable(place, path))) return;
  throw new CatalogError(
    'NamespaceNotFound',
    `Can't drop namespace "${displayPath(path)}": it is a table.`,
    'Drop it with dropTable().',
  );
}

/** Whether a table has the name: by its row in the manifest, or by its folder if the table is in the root. */
async function isTable(place: Root, path: NamespacePath): Promise<boolean> {
  const kind = await objectKind(place, path);
  if (kind !== undefined || path.length !== 1) return kind === 'table';
  return hasRootTable(place, path[0]!);
}

/**
 * Maximum time in ms from the moment when a process makes the folder of a new table in the root visible until it has
 * checked for a namespace.
 */
const withdrawalMs = 2_000;

/**
 * Runs a call that adds the row of a namespace, unless a table has its name. The manifest must exist.
 * @param withdraw removes the row again if a table was created in the root meanwhile
 * @throws CatalogError TableAlreadyExists (5)
 */
export async function withoutRootTable(
  place: Root,
  path: NamespacePath,
  add: () => Promise<void>,
  withdraw: () => Promise<void>,
): Promise<void> {
  const [name] = path;
  if (name === undefined || path.length > 1) return add();
  if (await hasRootTable(place, name))
    throw (await objectKind(place, path)) === 'namespace' ? alreadyExists(path) : tableHasName(path);
  await add();
  // Waits, because a process that created the folder meanwhile finds the row and removes the folder. If that process
  // was killed, the folder stays.
  for (const end = performance.now() + withdrawalMs; await hasRootTable(place, name); await pause(50)) {
    if (performance.now() < end) continue;
    await withdraw();
    throw tableHasName(path);
  }
}

const alreadyExists = (path: NamespacePath): CatalogError =>
  new CatalogError(
    'NamespaceAlreadyExists',
    `Namespace "${displayPath(path)}" exists already.`,
    nextSteps.namespaceTaken,
  );

/** Whether a table is in the root. A declared or unreadable table counts, a deregistered table does not. */
async function hasRootTable(place: Root, name: string): Promise<boolean> {
  if (place.isLocal) {
    const folder = rootFolder(name);
    return (await pathExists(inRoot(place.location, folder))) && !(await isDeregistered(place.location, folder));
  }
  try {
    await withDataset(place, rootFolder(name), async (connection) => (await connection.openTable(datasetName)).close());
    return true;
  } catch (error) {
    const told = engineError(error, tableSubject(name, []));
    if (isCatalogError(told, 'TableNotFound') || isTableWithoutData(told)) return false;
    if (isCatalogError(told, 'InvalidTableState')) return true;
    throw told;
  }
}

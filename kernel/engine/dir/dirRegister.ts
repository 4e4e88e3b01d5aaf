import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { displayPath, idDelimiter, type NamespacePath } from '#shared/names.ts';
import type { DeclareTableOptions, RegisterTableOptions } from '#catalog/catalog.ts';
import { namespaceHasName } from '#catalog/nameErrors.ts';
import { datasetName, withDataset } from './dataset.ts';
import type { Root } from './dirConnection.ts';
import { nameTaken, tableNotFound, type TableId } from './dirRename.ts';
import { engineError, tableSubject } from '#engine/errors/engineErrors.ts';
import { hasManifest, namespaceId, objectId, updateManifest } from './files/manifestTable.ts';
import {
  inRoot,
  isDeregistered,
  isSinglePathSegment,
  isTableLocation,
  pathExists,
  markers,
  rootFolder,
} from './files/folders.ts';
import { recordDeregistered, takeDeregistered } from './files/deregisteredTables.ts';
import { checkNoNamespace, rootNameTaken } from './nameConflicts.ts';
import { tableAlreadyExists, addToManifest, newFolder, throwTaken } from './files/staging.ts';

const otherName = 'Choose another name.';

/** Returns the full path or address of a folder in the root. */
export const fullLocation = ({ location, isLocal }: Root, folder: string): string =>
  isLocal ? join(location, folder) : `${location.replace(/\/+$/, '')}/${folder}`;

/** Reserves a name for a table that another client will write ("DeclareTable"). */
export async function declareTable(
  place: Root,
  { name, path }: TableId,
  options: DeclareTableOptions,
): Promise<{ location: string }> {
  if (options.location !== undefined) {
    throw new CatalogError(
      'Unsupported',
      `Can't choose the location of table "${displayPath(path, name)}": a directory chooses the folders of its tables itself.`,
      'Leave the location out.',
    );
  }
  if (path.length === 0) return { location: await declareInRoot(place, name, options) };
  const id = objectId(name, path);
  const folder = newFolder(id);
  if (place.isLocal) await makeDeclared(inRoot(place.location, folder));
  try {
    const taken = await updateManifest(place, (manifest) =>
      manifest.insert(id, { location: folder, metadata: metadataOf(options.properties) }, namespaceId(path)),
    );
    throwTaken(taken, name, path, otherName);
  } catch (error) {
    if (place.isLocal) await rm(inRoot(place.location, folder), { recursive: true, force: true });
    throw error;
  }
  return { location: fullLocation(place, folder) };
}

async function declareInRoot(place: Root, name: string, options: DeclareTableOptions): Promise<string> {
  onlyLocal(place, `Can't declare table "${name}"`);
  noProperties(name, options.properties);
  const folder = inRoot(place.location, rootFolder(name));
  await checkNoNamespace(place, name, []);
  try {
    await makeDeclared(folder);
  } catch (error) {
    if (await pathExists(folder)) throw await rootNameTaken(place, name, tableAlreadyExists(name, [], otherName));
    throw error;
  }
  try {
    // A namespace of this name may have been created meanwhile.
    await checkNoNamespace(place, name, []);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return folder;
}

async function makeDeclared(folder: string): Promise<void> {
  await mkdir(folder);
  await writeFile(join(folder, markers.declared), '');
}

/**
 * Adds a name for a table that already is in a folder of the root ("RegisterTable").
 * @param within accepts only folders whose tables were deregistered in this namespace
 */
export async function registerTable(
  place: Root,
  table: TableId,
  location: string,
  options: RegisterTableOptions,
  within: NamespacePath = [],
): Promise<void> {
  const { name, path } = table;
  const folder = folderOf(place, location);
  if (path.length === 0) return registerInRoot(place, name, folder, options);
  const isLimited = within.length > 0;
  // The name of such a folder is the name of a table in the root.
  if (isLimited && folder.endsWith('.lance')) throw foreignFolder([...path, name], folder);
  // Without the limit, an invalid folder gets its error before anything is changed.
  if (!isLimited) await checkDataset(place, table, folder, location);
  const deregistered = await takeDeregistered(place, folder, within);
  if (isLimited && deregistered === undefined) throw foreignFolder([...path, name], folder);
  try {
    if (isLimited) await checkDataset(place, table, folder, location);
    await insertAt(place, table, folder, options, within);
  } catch (error) {
    // An error is ignored: then only a client without the limit can register the folder.
    if (deregistered !== undefined) await recordDeregistered(place, folder, deregistered).catch(() => undefined);
    throw error;
  }
  // Removes the marker of a deregistered table, but keeps it in a folder named `<table>.lance`. Without the marker,
  // such a folder would also be listed as a table of the root, and dropping that table would delete the files of this
  // one.
  if (place.isLocal && !folder.endsWith('.lance'))
    await rm(join(inRoot(place.location, folder), markers.forgotten), { force: true });
}

/** Lists a table in a namespace at a folder that no other table uses. */
async function insertAt(
  place: Root,
  { name, path }: TableId,
  folder: string,
  options: RegisterTableOptions,
  within: NamespacePath,
): Promise<void> {
  const id = objectId(name, path);
  if (place.isLocal) await checkNotInRoot(place, name, path, folder);
  await updateManifest(place, async (manifest) => {
    const owner = await manifest.idAt(folder);
    if (owner !== undefined && owner !== id) {
      const names = owner.split(idDelimiter);
      // A client that is limited to the namespace must not learn the identifier of a table outside of it.
      const isWithin = within.every((part, index) => part === names[index]);
      throw isWithin ? folderHasName([...path, name], folder, names) : foreignFolder([...path, name], folder);
    }
    const taken = await manifest.insert(
      id,
      { location: folder, metadata: metadataOf(options.properties) },
      namespaceId(path),
    );
    if (taken === undefined) return;
    if (taken === 'namespace') throw namespaceHasName([...path, name]);
    if (options.mode !== 'overwrite') throw nameTaken({ name, path });
    if (!(await manifest.move(id, folder))) throw tableNotFound({ name, path });
  });
}

/** @throws CatalogError InvalidInput (13) if the folder belongs to a table that is listed in the root */
async function checkNotInRoot(place: Root, name: string, path: NamespacePath, folder: string): Promise<void> {
  if (!folder.endsWith('.lance') || (await isDeregistered(place.location, folder))) return;
  throw folderHasName([...path, name], folder, [folder.slice(0, -'.lance'.length)]);
}

/** The error for a folder that may belong to another namespace. A missing folder gets the same error. */
const foreignFolder = (id: readonly string[], folder: string): CatalogError =>
  new CatalogError(
    'InvalidInput',
    `Can't register table "${displayPath(id)}": no table of the folder "${folder}" was deregistered in this namespace.`,
    'Pass a location that deregisterTable() returned in this namespace.',
  );

/** The error for a folder that another table uses: dropping or changing one table would drop or change the other. */
const folderHasName = (id: readonly string[], folder: string, owner: readonly string[]): CatalogError =>
  new CatalogError(
    'InvalidInput',
    `Can't register table "${displayPath(id)}": the folder "${folder}" belongs to table "${displayPath(owner)}".`,
    'Rename that table, or deregister it first.',
  );

/**
 * Registers a table in the root. The name of such a table determines its location, so the function only removes the
 * marker of a deregistered table, and adds a row if there is a manifest.
 */
async function registerInRoot(place: Root, name: string, folder: string, options: RegisterTableOptions): Promise<void> {
  onlyLocal(place, `Can't register table "${name}"`);
  noProperties(name, options.properties);
  const marker = join(inRoot(place.location, rootFolder(name)), markers.forgotten);
  if (folder !== rootFolder(name)) {
    throw new CatalogError(
      'Unsupported',
      `Can't register the folder "${folder}" as table "${name}" in the root: the folder of that table must be "${rootFolder(name)}".`,
      'Register it in a namespace.',
    );
  }
  await checkDataset(place, { name, path: [] }, folder, folder);
  if (!(await pathExists(marker)) && options.mode !== 'overwrite')
    throw tableAlreadyExists(name, [], 'Choose another name, or pass mode: "overwrite".');
  await checkNoNamespace(place, name, []);
  await rm(marker, { force: true });
  try {
    // A namespace of this name may have been created meanwhile.
    await checkNoNamespace(place, name, []);
    if ((await addToManifest(place, name)) === 'namespace') throw namespaceHasName([name]);
  } catch (error) {
    await writeFile(marker, '');
    throw error;
  }
}

/**
 * Removes a table from the catalog and keeps its files ("DeregisterTable").
 * @returns the location of the files
 */
export async function deregisterTable(place: Root, { name, path }: TableId): Promise<{ location: string }> {
  if (path.length > 0) {
    const id = objectId(name, path);
    const entry = await updateManifest(place, (manifest) => manifest.take(id));
    if (!entry) throw tableNotFound({ name, path });
    // The row is removed first, so that the record never names a namespace that the table has left meanwhile. An error
    // is ignored: then only a client that is not limited to a namespace can register the folder.
    if (isTableLocation(entry.location)) await recordDeregistered(place, entry.location, id).catch(() => undefined);
    // Because of the marker, a repair does not treat the table as lost and list it again.
    if (place.isLocal && isTableLocation(entry.location)) {
      await writeFile(join(inRoot(place.location, entry.location), markers.forgotten), '').catch(() => undefined);
    }
    return { location: fullLocation(place, entry.location) };
  }
  onlyLocal(place, `Can't deregister table "${name}"`);
  const folder = inRoot(place.location, rootFolder(name));
  if (!(await pathExists(folder)) || (await isDeregistered(place.location, rootFolder(name))))
    throw tableNotFound({ name, path });
  // The row is removed first, because it would block the name for namespaces. Until the marker is written, the folder
  // is still a table.
  if (await hasManifest(place)) await updateManifest(place, (manifest) => manifest.take(objectId(name, [])));
  await writeFile(join(folder, markers.forgotten), '');
  return { location: folder };
}

/** Returns the folder name in the root that a location from any client refers to. */
function folderOf(place: Root, location: string): string {
  const root = fullLocation(place, '').replace(/[/\\]+$/, '');
  const isInRoot = location.startsWith(`${root}/`) || location.startsWith(`${root}\\`);
  const folder = (isInRoot ? location.slice(root.length + 1) : location).replace(/\/+$/, '');
  // Accepts a single folder only and no path, because other clients can't drop a table whose location is a path.
  if (isSinglePathSegment(folder) && !folder.includes(':') && isTableLocation(folder)) return folder;
  throw new CatalogError(
    'InvalidInput',
    `The location "${location}" is not a table folder directly in the root of this directory.`,
    `Pass the name of a folder in "${root}".`,
  );
}

async function checkDataset(place: Root, { name, path }: TableId, folder: string, location: string): Promise<void> {
  try {
    await withDataset(place, folder, async (connection) => (await connection.openTable(datasetName)).close());
  } catch (cause) {
    const told = engineError(cause, tableSubject(name, path));
    if (!isCatalogError(told, 'TableNotFound') && !isCatalogError(told, 'InvalidTableState')) throw told;
    throw new CatalogError('InvalidInput', `There is no table at "${location}".`, 'Pass the folder of a table.', {
      cause,
    });
  }
}

const metadataOf = (properties: Record<string, string> | undefined): string | null =>
  properties && Object.keys(properties).length > 0 ? JSON.stringify(properties) : null;

function noProperties(name: string, properties: Record<string, string> | undefined): void {
  if (metadataOf(properties) === null) return;
  throw new CatalogError(
    'Unsupported',
    `Table "${name}" can't have properties: a directory can't store them for tables in its root.`,
    'Leave them out, or put the table into a namespace.',
  );
}

function onlyLocal({ isLocal }: Root, what: string): void {
  if (isLocal) return;
  throw new CatalogError(
    'Unsupported',
    `${what}: a table in the root of an object store exists as long as its files exist.`,
    'Put the table into a namespace.',
  );
}

import { join } from 'node:path';
import { CatalogError, messageOf } from '#shared/errors.ts';
import { displayPath, type NamespacePath } from '#shared/names.ts';
import { nextSteps } from '#shared/nextSteps.ts';
import { namespaceHasName } from '#catalog/nameErrors.ts';
import type { Root } from './dirConnection.ts';
import { manifestFolder, objectId, objectKind, updateManifest } from './files/manifestTable.ts';
import { checkNoNamespace, rootNameTaken } from './nameConflicts.ts';
import { foldersOf, inRoot, isDeregistered, pathExists, moveTo, rootFolder } from './files/folders.ts';

export type TableId = { name: string; path: NamespacePath };

/**
 * Renames a table ("RenameTable"). The engine has no rename, but the format allows a rename in one step. A table in a
 * namespace is renamed by a commit of the manifest, a table in the root by renaming its folder. A move between root and
 * namespace is refused, because it takes more than one step. In an object store, tables in the root can't be renamed,
 * because stores can't rename folders.
 * @throws CatalogError TableNotFound (4), TableAlreadyExists (5), Unsupported (0)
 */
export async function renameTable(place: Root, from: TableId, to: TableId): Promise<void> {
  const isInRoot = from.path.length === 0;
  if (isInRoot !== (to.path.length === 0)) {
    throw new CatalogError(
      'Unsupported',
      `Can't move table "${displayPath(from.path, from.name)}" ${isInRoot ? 'out of' : 'into'} the root: a directory can't do this in a single step, so the table could be lost.`,
      'Copy it with copy(), then drop it here.',
    );
  }
  if (isInRoot) return renameInRoot(place, from.name, to.name);
  const result = await updateManifest(place, (manifest) =>
    manifest.rename(objectId(from.name, from.path), objectId(to.name, to.path)),
  );
  if (result === 'missing') throw tableNotFound(from);
  if (result === 'namespace') throw namespaceHasName([...to.path, to.name]);
  if (result === 'table') throw nameTaken(to);
}

async function renameInRoot(place: Root, from: string, to: string): Promise<void> {
  if (!place.isLocal) {
    throw new CatalogError(
      'Unsupported',
      `Can't rename table "${from}": its name is its location in the root of an object store, and object stores can't rename.`,
      'Copy it with copy(), then drop it here. In a namespace, tables can be renamed.',
    );
  }
  const [source, target] = [inRoot(place.location, rootFolder(from)), inRoot(place.location, rootFolder(to))];
  if (!(await pathExists(source)) || (await isDeregistered(place.location, rootFolder(from))))
    throw tableNotFound({ name: from, path: [] });
  await checkNoNamespace(place, to, []);
  if (await pathExists(target)) throw await rootNameTaken(place, to, nameTaken({ name: to, path: [] }));
  if ((await foldersOf(place.location, rootFolder(from))).length > 1) {
    throw new CatalogError(
      'Unsupported',
      `Can't rename table "${from}": the engine has created several folders for a name with these characters.`,
      'Copy it with copy(), then drop it here.',
    );
  }
  // A table in the root can have a row in the manifest too. The row is removed before the rename and inserted again
  // afterwards with its properties, so that no row ever names a missing folder.
  const isListed = await pathExists(join(place.location, manifestFolder));
  const entry = isListed ? await takeFromList(place, from) : undefined;
  const keepEntry = async (name: string): Promise<void> => {
    if (!entry) return;
    try {
      await updateManifest(place, (manifest) =>
        manifest.insert(objectId(name, []), { ...entry, location: rootFolder(name) }, undefined),
      );
    } catch (error) {
      throw entryLost(name, error);
    }
  };
  let isMoved = false;
  try {
    isMoved = await moveTo(source, target).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) throw tableNotFound({ name: from, path: [] });
      throw error;
    });
    // A namespace of this name may have been created meanwhile.
    if (isMoved && (await objectKind(place, [to])) === 'namespace') {
      isMoved = !(await moveTo(target, source));
      throw namespaceHasName([to]);
    }
  } catch (error) {
    await keepEntry(isMoved ? to : from);
    throw error;
  }
  await keepEntry(isMoved ? to : from);
  if (!isMoved) throw nameTaken({ name: to, path: [] });
}

const takeFromList = (place: Root, name: string) =>
  updateManifest(place, (manifest) => manifest.take(objectId(name, [])));

const entryLost = (name: string, cause: unknown): CatalogError =>
  new CatalogError(
    'InvalidTableState',
    `Can't write the entry of table "${name}" back to the list of tables: ${messageOf(cause).replace(/\.$/, '')}.`,
    'The table is complete, but metadata that another client stored in the list is lost. Set it again with that client.',
    { cause },
  );

const hasCode = (error: unknown, code: string): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === code;

export const nameTaken = ({ name, path }: TableId): CatalogError =>
  new CatalogError(
    'TableAlreadyExists',
    `Table "${displayPath(path, name)}" exists already.`,
    'Choose another name, or drop that table first.',
  );

export const tableNotFound = ({ name, path }: TableId): CatalogError =>
  new CatalogError('TableNotFound', `Table "${displayPath(path, name)}" does not exist.`, nextSteps.listTables);

import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Connection } from '@lancedb/lancedb';
import type { RecordBatch, Schema } from '#arrow';
import { CatalogError } from '#shared/errors.ts';
import { displayPath, type NamespacePath } from '#shared/names.ts';
import { nextSteps } from '#shared/nextSteps.ts';
import { namespaceHasName } from '#catalog/nameErrors.ts';
import { chunksOf } from '#engine/batches/chunks.ts';
import { datasetName, withDataset } from '#engine/dir/dataset.ts';
import type { Root } from '#engine/dir/dirConnection.ts';
import { hiddenFolder, inRoot, pathExists, moveTo, removeFolder, rootFolder } from './folders.ts';
import { loadNative } from '#engine/native.ts';
import { manifestFolder, namespaceId, objectId, updateManifest, type ObjectKind } from './manifestTable.ts';
import { rootNameTaken } from '#engine/dir/nameConflicts.ts';

// Creates a table completely or not at all, even if this process is killed. The engine alone would first list the table
// and then write it in several versions. So the files are written to a staging folder, and one step publishes the
// table: in the root a rename of that folder to `<table>.lance`, in a namespace a commit of the manifest.

/** Maximum bytes of an identifier in a folder name. File systems allow names of 255 bytes. */
const longestId = 200;

/**
 * Returns a new folder name for a table in a namespace: a random part and its identifier. The name never ends with
 * `.lance`, because that is the ending for tables in the root. If the identifier is too long, it is cut, and the name
 * ends with `~`.
 */
export function newFolder(id: string): string {
  const name = id.replaceAll(/[/\\\0]/g, '_').replace(/\.lance$/, '.lance_');
  const cut = Buffer.byteLength(name) > longestId ? `${cutToBytes(name, longestId)}~` : name;
  return `${randomBytes(4).toString('hex')}_${cut}`;
}

/** Returns the start of a string with at most `most` bytes, without splitting a character. */
function cutToBytes(text: string, most: number): string {
  let bytes = 0;
  let cut = '';
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > most) break;
    cut += character;
  }
  return cut;
}

/**
 * What exists under the name of the table to be created. In a local root: the full path of a declared folder, or a
 * callback that clears the name first. In an object store: the location in the manifest, because the new table gets
 * another location.
 */
type ReplacedEntry = { declared?: string; clear?: () => Promise<void>; listedAt?: string };

/**
 * Creates a table from batches. It can replace an unreadable table, which stays until all rows are written.
 * @throws CatalogError TableAlreadyExists (5), also if another client was faster. Then nothing is left in a local root;
 * in an object store, files remain that no row lists
 */
export async function createStagedTable(
  place: Root,
  name: string,
  path: NamespacePath,
  schema: Schema,
  batches: AsyncIterable<RecordBatch>,
  { declared, clear, listedAt }: ReplacedEntry = {},
): Promise<void> {
  const id = objectId(name, path);
  if (!place.isLocal) {
    // A store can't rename, so the files are written to their final folder. After a failure, files remain that no row
    // lists.
    const folder = newFolder(id);
    await withDataset(place, folder, (connection) => write(connection, schema, batches));
    if (listedAt === undefined) throwTaken(await list(place, name, path, folder), name, path);
    else if (!(await updateManifest(place, (manifest) => manifest.move(id, folder, listedAt))))
      throw tableAlreadyExists(name, path);
    return;
  }
  const workshop = join(place.location, hiddenFolder('unfinished'));
  await mkdir(workshop);
  try {
    const { connect } = await loadNative();
    const connection = await connect(workshop);
    try {
      await write(connection, schema, batches);
    } finally {
      connection.close();
    }
    const written = join(workshop, `${datasetName}.lance`);
    await clear?.();
    if (declared === undefined) await publish(place, written, name, path);
    else if (!(await fill(written, declared))) throw tableAlreadyExists(name, path);
    else if (path.length === 0) await addToManifest(place, name);
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
}

async function write(connection: Connection, schema: Schema, batches: AsyncIterable<RecordBatch>): Promise<void> {
  let table;
  for await (const chunk of chunksOf(schema, batches)) {
    if (table) await table.add(chunk);
    else table = await connection.createTable(datasetName, chunk);
  }
  // Without batches, the empty table is created by another call, because the engine refuses a table without rows here.
  table ??= await connection.createEmptyTable(datasetName, schema);
  table.close();
}

async function publish(place: Root, written: string, name: string, path: NamespacePath): Promise<void> {
  if (path.length === 0) {
    const target = inRoot(place.location, rootFolder(name));
    if (!(await moveTo(written, target))) throw await rootNameTaken(place, name, tableAlreadyExists(name, path));
    if ((await addToManifest(place, name)) === 'namespace') {
      await removeFolder(place.location, rootFolder(name));
      throw namespaceHasName([...path, name]);
    }
    return;
  }
  const id = objectId(name, path);
  const folder = newFolder(id);
  const target = inRoot(place.location, folder);
  await rename(written, target);
  try {
    throwTaken(await list(place, name, path, folder), name, path);
  } catch (error) {
    await rm(target, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Moves a table into the folder that its declaration created, because other clients already know that folder. The
 * versions are moved last, because the folder becomes a table when it has versions. Returns false, with nothing
 * changed, if another client was faster.
 */
async function fill(written: string, declared: string): Promise<boolean> {
  const versions = '_versions';
  const moved: string[] = [];
  let isFilled = false;
  try {
    for (const part of await readdir(written)) {
      if (part === versions) continue;
      await mkdir(join(declared, part), { recursive: true });
      for (const file of await readdir(join(written, part))) {
        const target = join(declared, part, file);
        await rename(join(written, part, file), target);
        moved.push(target);
      }
    }
    isFilled = await moveTo(join(written, versions), join(declared, versions));
    return isFilled;
  } finally {
    if (!isFilled) for (const one of moved) await rm(one, { recursive: true, force: true });
  }
}

/**
 * Adds a table of the root to the manifest, if there is a manifest. Other clients need the row to drop the table. For
 * everything else the table works without a row, so a failure is ignored.
 * @returns the kind of the object that already has the name in the manifest
 */
export async function addToManifest(place: Root, name: string): Promise<ObjectKind | undefined> {
  if (!(await pathExists(join(place.location, manifestFolder)))) return undefined;
  try {
    return await list(place, name, [], rootFolder(name));
  } catch {
    return undefined;
  }
}

const list = (place: Root, name: string, path: NamespacePath, location: string): Promise<ObjectKind | undefined> =>
  updateManifest(place, (manifest) =>
    manifest.insert(objectId(name, path), { location, metadata: null }, namespaceId(path)),
  );

/** @throws CatalogError NamespaceAlreadyExists (2) or TableAlreadyExists (5) if the name is already used */
export function throwTaken(kind: ObjectKind | undefined, name: string, path: NamespacePath, hint?: string): void {
  if (kind === 'namespace') throw namespaceHasName([...path, name]);
  if (kind === 'table') throw tableAlreadyExists(name, path, hint);
}

/** @param hint names the modes that the call has; default: those of `createTable` */
export const tableAlreadyExists = (
  name: string,
  path: NamespacePath,
  hint: string = nextSteps.tableTaken,
): CatalogError => new CatalogError('TableAlreadyExists', `Table "${displayPath(path, name)}" exists already.`, hint);

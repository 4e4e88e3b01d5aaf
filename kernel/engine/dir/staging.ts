import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Connection } from '@lancedb/lancedb';
import type { RecordBatch, Schema } from '#arrow';
import { CatalogError } from '#shared/errors.ts';
import { displayPath, type NamespacePath } from '#shared/names.ts';
import { namespaceHasName } from '#catalog/nameErrors.ts';
import { chunksOf } from '#engine/batches/chunks.ts';
import { datasetName, onDataset } from './dataset.ts';
import type { Place } from './dirConnection.ts';
import { hiddenFolder, inRoot, isThere, moveTo, removeFolder, rootFolder } from './folders.ts';
import { loadNative } from '#engine/native.ts';
import { manifestFolder, namespaceId, objectId, onManifest, type ObjectKind } from './manifestTable.ts';
import { rootNameTaken } from './nameConflicts.ts';

// How a table is made so that it is there whole or not at all, also when this process is killed in the middle. The
// engine would put it into the list first, and write it afterwards, as a list of versions with a part of the rows in
// each. So its files are written where nobody looks, and then one step shows them: a folder that is renamed to
// `<table>.lance`, which is what a table in the root is, or one commit of the list of tables for those in namespaces.

/** Bytes of an identifier in the name of a folder, of which file systems allow 255. */
const longestId = 200;

/**
 * The folder of a table in a namespace: its identifier, and enough of chance that no two are the same. It never ends as
 * those of tables in the root do, whatever the table is called. An identifier that is too long is cut, and ends with `~`.
 */
export function newFolder(id: string): string {
  const name = id.replaceAll(/[/\\\0]/g, '_').replace(/\.lance$/, '.lance_');
  const cut = Buffer.byteLength(name) > longestId ? `${cutToBytes(name, longestId)}~` : name;
  return `${randomBytes(4).toString('hex')}_${cut}`;
}

/** The beginning of a text that has no more bytes than that, and no half character. */
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
 * What is at the name of a table that is made: in a local directory the whole path of a declared folder, or what has to
 * go first; in an object store where the list has it, which then is another place.
 */
type InPlaceOf = { declared?: string; clear?: () => Promise<void>; listedAt?: string };

/**
 * Makes a table of batches, also where something is that can't be read; that stays until all rows are there.
 * @throws CatalogError TableAlreadyExists (5), also where somebody else was faster; nothing is left then
 */
export async function makeTable(
  place: Place,
  name: string,
  path: NamespacePath,
  schema: Schema,
  batches: AsyncIterable<RecordBatch>,
  { declared, clear, listedAt }: InPlaceOf = {},
): Promise<void> {
  const id = objectId(name, path);
  if (!place.isLocal) {
    // A store has no rename: the files stay where they are written. What fails leaves files that nobody lists.
    const folder = newFolder(id);
    await onDataset(place, folder, (connection) => write(connection, schema, batches));
    if (listedAt === undefined) throwTaken(await list(place, name, path, folder), name, path);
    else if (!(await onManifest(place, (manifest) => manifest.move(id, folder, listedAt))))
      throw alreadyThere(name, path);
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
    else if (!(await fill(written, declared))) throw alreadyThere(name, path);
    else if (path.length === 0) await listInRoot(place, name);
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
  // The engine refuses a table without rows; an empty one has a call of its own.
  table ??= await connection.createEmptyTable(datasetName, schema);
  table.close();
}

async function publish(place: Place, written: string, name: string, path: NamespacePath): Promise<void> {
  if (path.length === 0) {
    const target = inRoot(place.location, rootFolder(name));
    if (!(await moveTo(written, target))) throw await rootNameTaken(place, name, alreadyThere(name, path));
    if ((await listInRoot(place, name)) === 'namespace') {
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
 * Moves a table into the folder that its declaration has made, and that others know by then. Its versions come last: in
 * that step it becomes a table. False, and nothing has changed, when somebody else was faster.
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
 * Puts a table of the root into the list, if there is one. It is a table without it, so a failure is none of the call's, but
 * other clients can't drop one that the list does not have.
 * @returns what has the name already in the list
 */
export async function listInRoot(place: Place, name: string): Promise<ObjectKind | undefined> {
  if (!(await isThere(join(place.location, manifestFolder)))) return undefined;
  try {
    return await list(place, name, [], rootFolder(name));
  } catch {
    return undefined;
  }
}

const list = (place: Place, name: string, path: NamespacePath, location: string): Promise<ObjectKind | undefined> =>
  onManifest(place, (manifest) =>
    manifest.insert(objectId(name, path), { location, metadata: null }, namespaceId(path)),
  );

/** @throws CatalogError NamespaceAlreadyExists (2) or TableAlreadyExists (5) if something has the name of a table already */
export function throwTaken(kind: ObjectKind | undefined, name: string, path: NamespacePath): void {
  if (kind === 'namespace') throw namespaceHasName([...path, name]);
  if (kind === 'table') throw alreadyThere(name, path);
}

export const alreadyThere = (name: string, path: NamespacePath): CatalogError =>
  new CatalogError(
    'TableAlreadyExists',
    `Table "${displayPath(path, name)}" exists already.`,
    'Choose another name, or pass mode: "exist_ok" or "overwrite".',
  );

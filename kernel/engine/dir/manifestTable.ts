import type { Table as NativeTable } from '@lancedb/lancedb';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { displayPath, idDelimiter, type NamespacePath } from '#shared/names.ts';
import { datasetName, onDataset } from './dataset.ts';
import type { Place } from './dirConnection.ts';
import { engineError, isUnwritten } from '#engine/errors/engineErrors.ts';
import { isTableLocation, isThere } from './folders.ts';
import { inTurn } from './dirConnection.ts';

// The list of namespaces and tables of a directory is a Lance table itself: `__manifest`, with a row for each, by its
// identifier and the folder of its data ("Directory Namespace" of the format). Every change here is one commit of that
// table, so it is there or not, also after a crash, and other clients see it as they see their own changes.

/** Where the list is in a root; not there until somebody has made a namespace or changed the list. */
export const manifestFolder = '__manifest';
const columns = ['object_id', 'object_type', 'location', 'metadata', 'base_objects'];

/** A table in the list. */
type Entry = { location: string; metadata: string | null };

/** What has an identifier. */
export type ObjectKind = 'table' | 'namespace';

/**
 * A path, and the name of a table in it, as the list can have them. It joins components by `$`, so it has none with one in
 * it; asked for `a$b`, the engine would answer with what is `b` in `a`.
 * @throws CatalogError NamespaceNotFound (1), TableNotFound (4)
 */
export function listable(path: NamespacePath, name?: string): string[] {
  const depth = path.findIndex((one) => one.includes(idDelimiter));
  if (depth >= 0) throw noNamespace(path.slice(0, depth + 1));
  if (name?.includes(idDelimiter)) {
    const what = `Table "${displayPath(path, name)}" does not exist.`;
    throw new CatalogError('TableNotFound', what, 'List the tables there are with listTables().');
  }
  return [...path];
}

const noNamespace = (path: NamespacePath): CatalogError =>
  new CatalogError(
    'NamespaceNotFound',
    `Namespace "${displayPath(path)}" does not exist.`,
    'Create it first, or list the namespaces there are.',
  );

/** How the list identifies a namespace; the root has no row. */
export const namespaceId = (path: NamespacePath): string | undefined =>
  path.length === 0 ? undefined : listable(path).join(idDelimiter);

/** How the list identifies a table. */
export const objectId = (name: string, path: NamespacePath): string =>
  [...listable(path, name), name].join(idDelimiter);

/** How often a change of the list is tried when others change it at the same time. */
const tries = 20;

/**
 * Runs a call that changes the list, one after the other in this process; and again while other processes change the list
 * at the same time, until it goes through. A change that conflicts was not committed, so nothing is done twice.
 * @throws CatalogError ConcurrentModification (14) after many tries
 */
export const changingList = <T>(place: Place, call: () => Promise<T>): Promise<T> =>
  untilDone(() => inTurn(`list of ${place.location}`, call));

/**
 * Runs a call that changes the list, on the list as it is by then; see `changingList`, in which it must not be.
 * @throws CatalogError Unsupported (0) for a list of another format, ConcurrentModification (14) after many tries
 */
export const onManifest = <T>(place: Place, call: (manifest: Manifest) => Promise<T>): Promise<T> =>
  changingList(place, () => onOpened(place, call));

/** The entry of a table as it is now, which waits for no change. @throws CatalogError Unsupported (0) as `onManifest` */
export const entryOf = (place: Place, id: string): Promise<Entry | undefined> =>
  untilDone(() => onOpened(place, (manifest) => manifest.find(id)));

/** What has an identifier in the list, which a root without one can't say of its tables. @throws CatalogError as `onManifest` */
export async function objectKind(place: Place, path: NamespacePath): Promise<ObjectKind | undefined> {
  // It has no names with the delimiter in them.
  if (path.length === 0 || path.some((one) => one.includes(idDelimiter))) return undefined;
  if (!(await hasManifest(place))) return undefined;
  const id = path.join(idDelimiter);
  return untilDone(() => onOpened(place, (manifest) => manifest.kind(id)));
}

/** Whether a root has a list of namespaces and tables. It has none until somebody creates a namespace in it. */
export async function hasManifest(place: Place): Promise<boolean> {
  if (place.isLocal) return isThere(join(place.location, manifestFolder));
  try {
    await onDataset(place, manifestFolder, async (connection) => (await connection.openTable(datasetName)).close());
    return true;
  } catch (error) {
    const told = engineError(error, root);
    if (isCatalogError(told, 'TableNotFound') || isUnwritten(told)) return false;
    throw told;
  }
}

async function untilDone<T>(call: () => Promise<T>): Promise<T> {
  for (let left = tries; ; left--) {
    try {
      return await call();
    } catch (error) {
      const told = engineError(error, root);
      if (left === 0 || !isCatalogError(told, 'ConcurrentModification')) throw told;
      // The longer others are at it, the longer the wait.
      await pause(5 + Math.random() * 15 * (tries + 1 - left));
    }
  }
}

const onOpened = <T>(place: Place, call: (manifest: Manifest) => Promise<T>): Promise<T> =>
  onDataset(place, manifestFolder, async (connection) => {
    const native = await connection.openTable(datasetName).catch((error: unknown) => {
      throw isCatalogError(engineError(error, root), 'InvalidTableState') ? brokenManifest(error) : error;
    });
    try {
      const names = (await native.schema()).fields.map((field) => field.name);
      if (names.join() === columns.join()) return await call(new Manifest(native));
    } finally {
      native.close();
    }
    throw new CatalogError(
      'Unsupported',
      'The list of tables of this directory has other columns than are known here.',
      'A newer client has made it; use that one for this.',
    );
  });

/** A row of the list. */
export type ManifestRow = { id: string; kind: ObjectKind; location: string | null };

/** All rows of a list that exists. @throws CatalogError as `onManifest` */
export const readManifest = (place: Place): Promise<ManifestRow[]> =>
  untilDone(() => onOpened(place, (manifest) => manifest.rows()));

const root = { kind: 'namespace', name: '/' } as const;

const brokenManifest = (cause: unknown): CatalogError =>
  new CatalogError(
    'InvalidTableState',
    `Can't read the list of namespaces and tables: the folder "${manifestFolder}" of the catalog is broken.`,
    'Restore it from a backup. Without one, move it away and run "lance-catalog repair".',
    { cause },
  );

class Manifest {
  readonly #native: NativeTable;

  constructor(native: NativeTable) {
    this.#native = native;
  }

  /** @throws CatalogError InvalidTableState (19) where the list has the table at a place that is none for tables */
  async find(id: string): Promise<Entry | undefined> {
    const entry = await this.#entry(id);
    if (!entry || isTableLocation(entry.location)) return entry;
    throw new CatalogError(
      'InvalidTableState',
      `The list of tables has "${id.replaceAll(idDelimiter, '/')}" at "${entry.location}", where no table can be.`,
      'Take it off the list with deregisterTable().',
    );
  }

  async rows(): Promise<ManifestRow[]> {
    const rows = await this.#native.query().select(['object_id', 'object_type', 'location']).toArray();
    return rows.flatMap((row) => {
      const { object_id: id, object_type: kind, location } = row as Record<string, string | null>;
      // Another client's kinds are left alone.
      return id && (kind === 'table' || kind === 'namespace') ? [{ id, kind, location: location ?? null }] : [];
    });
  }

  /** Adds a namespace without properties. Nothing changes where the list has something of this identifier. */
  async addNamespace(id: string): Promise<void> {
    const row = { object_id: id, object_type: 'namespace', location: null, metadata: null, base_objects: null };
    await this.#native.mergeInsert('object_id').whenNotMatchedInsertAll().execute([row]);
  }

  /** Makes the row of a table that of a namespace, if it still names this location. */
  async turnIntoNamespace(id: string, location: string | null): Promise<void> {
    await this.#native.update({
      where: isAt(id, location),
      valuesSql: { object_type: "'namespace'", location: 'NULL', metadata: 'NULL' },
    });
  }

  /** The identifier of the table in a folder, if the list has one there. */
  async idAt(location: string): Promise<string | undefined> {
    const isAtLocation = `object_type = 'table' AND location = ${quoted(location)}`;
    const [row] = await this.#native.query().where(isAtLocation).select(['object_id']).limit(1).toArray();
    return row && (row as { object_id: string }).object_id;
  }

  /** Takes a table off the list, if its row still names this location. */
  async takeFrom(id: string, location: string | null): Promise<void> {
    await this.#native.delete(isAt(id, location));
  }

  /** Takes a table off the list, wherever that has it. */
  async take(id: string): Promise<Entry | undefined> {
    const entry = await this.#entry(id);
    return entry && (await this.#remove(id)) ? entry : undefined;
  }

  async #entry(id: string): Promise<Entry | undefined> {
    const rows = await this.#native.query().where(isTable(id)).select(['location', 'metadata']).toArray();
    const row: unknown = rows[0];
    if (!row) return undefined;
    const { location, metadata } = row as { location: string | null; metadata: string | null };
    return location === null ? undefined : { location, metadata };
  }

  /**
   * Adds a table of a namespace, or of the root where `namespace` is undefined. Nothing changes where the list has
   * something of this identifier.
   *
   * Two that insert the same identifier at once are told apart by the engine: it is the key of the list. A rename and an
   * insertion are not, since one changes rows and the other adds some; so an insertion writes the row of its namespace
   * anew, as a rename does with every row.
   * @returns what has the identifier already; undefined if the table was added
   * @throws CatalogError NamespaceNotFound (1)
   */
  async insert(
    id: string,
    { location, metadata }: Entry,
    namespace: string | undefined,
  ): Promise<ObjectKind | undefined> {
    const row = { object_id: id, object_type: 'table', location, metadata, base_objects: null };
    const above = namespace === undefined ? [] : [await this.#namespaceRow(namespace)];
    const byId = this.#native.mergeInsert('object_id');
    // Only the row of the parent may be written over: whatever else has the identifier stays.
    const merge =
      namespace === undefined ? byId : byId.whenMatchedUpdateAll({ where: isNamespace(namespace, 'target.') });
    const { numInsertedRows } = await merge.whenNotMatchedInsertAll().execute([row, ...above]);
    if (numInsertedRows > 1) await this.#dropResurrected(id, namespace!, location);
    if (numInsertedRows > 0 && (await this.find(id))?.location === location) return undefined;
    return (await this.kind(id)) ?? 'table';
  }

  /**
   * Takes back an insertion that came after its namespace was dropped, and so has added the row of the namespace too.
   * @throws CatalogError NamespaceNotFound (1)
   */
  async #dropResurrected(id: string, namespace: string, location: string): Promise<never> {
    await this.takeFrom(id, location);
    const children = await this.#native.countRows(`starts_with(object_id, ${quoted(namespace + idDelimiter)})`);
    if (children === 0) await this.#native.delete(isNamespace(namespace));
    throw noNamespace(namespace.split(idDelimiter));
  }

  /** What has an identifier. A namespace comes first where both kinds do, as earlier versions could leave it. */
  async kind(id: string): Promise<ObjectKind | undefined> {
    const rows = await this.#native
      .query()
      .where(`object_id = ${quoted(id)}`)
      .select(['object_type'])
      .toArray();
    const kinds = rows.map((row) => (row as { object_type: string }).object_type);
    if (kinds.includes('namespace')) return 'namespace';
    return kinds.includes('table') ? 'table' : undefined;
  }

  async #namespaceRow(id: string): Promise<Record<string, unknown>> {
    const rows = await this.#native.query().where(isNamespace(id)).select(columns).limit(1).toArray();
    const row = rows[0] as { toJSON(): Record<string, unknown> } | undefined;
    if (row) return row.toJSON();
    throw noNamespace(id.split(idDelimiter));
  }

  /** Points a table that is in the list elsewhere, if it is still at `from`. False when it is not in the list any more. */
  async move(id: string, location: string, from?: string): Promise<boolean> {
    const where = from === undefined ? isTable(id) : `${isTable(id)} AND location = ${quoted(from)}`;
    const { rowsUpdated } = await this.#native.update({ where, values: { location } });
    return rowsUpdated === 1;
  }

  async #remove(id: string): Promise<boolean> {
    const { numDeletedRows } = await this.#native.delete(isTable(id));
    return numDeletedRows === 1;
  }

  /**
   * Gives a table another identifier: one commit, in which the old one goes and the new one comes.
   *
   * It writes every row anew, so that it conflicts with whatever else is committed meanwhile, another rename to the same
   * identifier above all; the engine then runs it again on what is there by then. And it fails as a whole where the
   * identifier is taken: that row would get null for one, which the column does not allow.
   * @returns `missing` if there is no table `from`; what has the identifier `to` already
   */
  async rename(from: string, to: string): Promise<'renamed' | 'missing' | ObjectKind> {
    const entry = await this.find(from);
    if (!entry) return 'missing';
    const taken = await this.kind(to);
    if (taken) return taken;
    const isFrom = `object_id = ${quoted(from)} AND object_type = 'table'`;
    // There is no CASE in the engine's expressions: all characters of the new one for the old one, none for others.
    const renamed = `nullif(left(${quoted(to)}, cast((${isFrom}) AS int) * ${Array.from(to).length}), '')`;
    try {
      await this.#native.update({ valuesSql: { object_id: `coalesce(${renamed}, nullif(object_id, ${quoted(to)}))` } });
    } catch (error) {
      await this.#native.checkoutLatest();
      const takenSince = await this.kind(to);
      if (takenSince) return takenSince;
      throw error;
    }
    if ((await this.find(to))?.location !== entry.location) return 'missing';
    if (await this.#isAlone(to)) return 'renamed';
    // A client of before the list was written as a whole may have added one of this identifier in the same moment.
    await this.#native.update({
      where: `${isTable(to)} AND location = ${quoted(entry.location)}`,
      values: { object_id: from },
    });
    return (await this.kind(to)) ?? 'table';
  }

  async #isAlone(id: string): Promise<boolean> {
    await this.#native.checkoutLatest();
    return (await this.#native.countRows(`object_id = ${quoted(id)}`)) === 1;
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const isTable = (id: string): string => `object_id = ${quoted(id)} AND object_type = 'table'`;

const isAt = (id: string, location: string | null): string =>
  `${isTable(id)} AND location ${location === null ? 'IS NULL' : `= ${quoted(location)}`}`;

const isNamespace = (id: string, table = ''): string =>
  `${table}object_id = ${quoted(id)} AND ${table}object_type = 'namespace'`;

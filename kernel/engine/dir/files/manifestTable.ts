import type { Table as NativeTable } from '@lancedb/lancedb';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { quotedText } from '#shared/sqlTokens.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { displayPath, idDelimiter, type NamespacePath } from '#shared/names.ts';
import { nextSteps } from '#shared/nextSteps.ts';
import { datasetName, withDataset } from '#engine/dir/dataset.ts';
import { type Root, runExclusive } from '#engine/dir/dirConnection.ts';
import { engineError, isTableWithoutData } from '#engine/errors/engineErrors.ts';
import { isTableLocation, pathExists } from './folders.ts';

// The manifest of a directory is a Lance table, `__manifest`, with a row per namespace and table: its identifier and
// its folder ("Directory Namespace" of the format). Every change here is one commit of that table, so it is complete
// or absent, also after a crash, and visible to other clients.

/** The folder of the manifest in a root; missing until a client creates a namespace or changes the manifest. */
export const manifestFolder = '__manifest';
const columns = ['object_id', 'object_type', 'location', 'metadata', 'base_objects'];

type Entry = { location: string; metadata: string | null };

export type ObjectKind = 'table' | 'namespace';

/**
 * Returns the components of a path and a name, if the manifest can contain them. The manifest joins components with
 * `$`, so no component may contain a `$`: for a table `a$b` the engine would return the table `b` in the namespace `a`.
 * @throws CatalogError NamespaceNotFound (1), TableNotFound (4)
 */
export function checkManifestPath(path: NamespacePath, name?: string): string[] {
  const depth = path.findIndex((one) => one.includes(idDelimiter));
  if (depth >= 0) throw noNamespace(path.slice(0, depth + 1));
  if (name?.includes(idDelimiter)) {
    const what = `Table "${displayPath(path, name)}" does not exist.`;
    throw new CatalogError('TableNotFound', what, nextSteps.listTables);
  }
  return [...path];
}

const noNamespace = (path: NamespacePath): CatalogError =>
  new CatalogError('NamespaceNotFound', `Namespace "${displayPath(path)}" does not exist.`, nextSteps.listNamespaces);

/** Returns the identifier of a namespace; undefined for the root, because the root has no row. */
export const namespaceId = (path: NamespacePath): string | undefined =>
  path.length === 0 ? undefined : checkManifestPath(path).join(idDelimiter);

export const objectId = (name: string, path: NamespacePath): string =>
  [...checkManifestPath(path, name), name].join(idDelimiter);

/** How often a change of the manifest is retried if other clients change it at the same time. */
const tries = 20;

/**
 * Runs a call that changes the manifest. Such calls run one at a time in this process, and a call is repeated after a
 * conflict with another process. A change that conflicts was not committed, so repeating the call changes nothing
 * twice.
 * @throws CatalogError ConcurrentModification (14) after many tries
 */
export const withManifestLock = <T>(place: Root, call: () => Promise<T>): Promise<T> =>
  untilDone(() => runExclusive(`list of ${place.location}`, call));

/**
 * Runs a call that changes the manifest; the call gets the current state. Not to be called inside `withManifestLock`.
 * @throws CatalogError Unsupported (0) if the manifest has another format, ConcurrentModification (14) after many tries
 */
export const updateManifest = <T>(place: Root, call: (manifest: Manifest) => Promise<T>): Promise<T> =>
  withManifestLock(place, () => onOpened(place, call));

/**
 * Returns the current entry of a table without waiting for changes. @throws CatalogError Unsupported (0) as
 * `updateManifest`
 */
export const entryOf = (place: Root, id: string): Promise<Entry | undefined> =>
  untilDone(() => onOpened(place, (manifest) => manifest.find(id)));

/**
 * Returns the kind of an object in the manifest. Tables in the root may have no row. @throws CatalogError as
 * `updateManifest`
 */
export async function objectKind(place: Root, path: NamespacePath): Promise<ObjectKind | undefined> {
  // A name with the delimiter can't be in the manifest.
  if (path.length === 0 || path.some((one) => one.includes(idDelimiter))) return undefined;
  if (!(await hasManifest(place))) return undefined;
  const id = path.join(idDelimiter);
  return untilDone(() => onOpened(place, (manifest) => manifest.kind(id)));
}

/** Whether a root has a manifest. A root has no manifest until a client creates a namespace in it. */
export async function hasManifest(place: Root): Promise<boolean> {
  if (place.isLocal) return pathExists(join(place.location, manifestFolder));
  try {
    await withDataset(place, manifestFolder, async (connection) => (await connection.openTable(datasetName)).close());
    return true;
  } catch (error) {
    const told = engineError(error, root);
    if (isCatalogError(told, 'TableNotFound') || isTableWithoutData(told)) return false;
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
      // The wait grows with the number of tries.
      await pause(5 + Math.random() * 15 * (tries + 1 - left));
    }
  }
}

const onOpened = <T>(place: Root, call: (manifest: Manifest) => Promise<T>): Promise<T> =>
  withDataset(place, manifestFolder, async (connection) => {
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
      'The list of tables of this directory has unknown columns.',
      'Update Lance Catalog to the version that created the list, or a newer one.',
    );
  });

/**
 * Drops an empty namespace with the engine. Must be called inside `withManifestLock`.
 *
 * The engine looks for children first. After a conflict it repeats only its delete, so a table that another process has
 * added in between would have no namespace. So this function looks for children again after the drop. If it finds any,
 * it adds the namespace again. If a table is added even later, `Manifest.insert` notices that the namespace is missing.
 * @returns false if the namespace has children and stays
 */
export async function dropEmptyNamespace(
  place: Root,
  path: NamespacePath,
  drop: () => Promise<unknown>,
): Promise<boolean> {
  const id = path.join(idDelimiter);
  const row = await onOpened(place, (manifest) => manifest.namespaceRow(id));
  await drop();
  return onOpened(place, (manifest) => manifest.isStillDropped(id, row));
}

export type ManifestRow = { id: string; kind: ObjectKind; location: string | null };

/** Returns all rows of an existing manifest. @throws CatalogError as `updateManifest` */
export const readManifest = (place: Root): Promise<ManifestRow[]> =>
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

  /** @throws CatalogError InvalidTableState (19) if the location in the manifest can't hold a table */
  async find(id: string): Promise<Entry | undefined> {
    const entry = await this.#entry(id);
    if (!entry || isTableLocation(entry.location)) return entry;
    throw new CatalogError(
      'InvalidTableState',
      `The list of tables has "${id.replaceAll(idDelimiter, '/')}" at the invalid location "${entry.location}".`,
      'Remove it from the list with deregisterTable().',
    );
  }

  async rows(): Promise<ManifestRow[]> {
    const rows = await this.#native.query().select(['object_id', 'object_type', 'location']).toArray();
    return rows.flatMap((row) => {
      const { object_id: id, object_type: kind, location } = row as Record<string, string | null>;
      // Rows of other kinds, which other clients may write, are skipped.
      return id && (kind === 'table' || kind === 'namespace') ? [{ id, kind, location: location ?? null }] : [];
    });
  }

  /** Adds a namespace without properties. Changes nothing if the identifier exists. */
  async addNamespace(id: string): Promise<void> {
    const row = { object_id: id, object_type: 'namespace', location: null, metadata: null, base_objects: null };
    await this.#native.mergeInsert('object_id').whenNotMatchedInsertAll().execute([row]);
  }

  /** Turns the row of a table into the row of a namespace, if the table still has this location. */
  async turnIntoNamespace(id: string, location: string | null): Promise<void> {
    await this.#native.update({
      where: isAt(id, location),
      valuesSql: { object_type: "'namespace'", location: 'NULL', metadata: 'NULL' },
    });
  }

  /** Returns the identifier of the table with this folder, if the manifest has one. */
  async idAt(location: string): Promise<string | undefined> {
    const isAtLocation = `object_type = 'table' AND location = ${quotedText(location)}`;
    const [row] = await this.#native.query().where(isAtLocation).select(['object_id']).limit(1).toArray();
    return row && (row as { object_id: string }).object_id;
  }

  /** Removes a table from the manifest, if its row still has this location. */
  async takeFrom(id: string, location: string | null): Promise<void> {
    await this.#native.delete(isAt(id, location));
  }

  /** Removes a table from the manifest, regardless of its location. */
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
   * Adds a table in a namespace, or in the root if `namespace` is undefined. Changes nothing if the identifier exists.
   *
   * The engine detects concurrent inserts of one identifier, because the identifier is the key of the manifest. It does
   * not detect a conflict between a rename, which changes rows, and an insert, which adds a row. A rename rewrites
   * every row. So an insert also rewrites the row of its namespace, and then the two conflict.
   * @returns the kind of the existing object; undefined if the table was added
   * @throws CatalogError NamespaceNotFound (1)
   */
  async insert(
    id: string,
    { location, metadata }: Entry,
    namespace: string | undefined,
  ): Promise<ObjectKind | undefined> {
    const row = { object_id: id, object_type: 'table', location, metadata, base_objects: null };
    const above = namespace === undefined ? [] : [await this.namespaceRow(namespace)];
    const byId = this.#native.mergeInsert('object_id');
    // Only the row of the parent may be overwritten: any other object with the identifier is kept.
    const merge =
      namespace === undefined ? byId : byId.whenMatchedUpdateAll({ where: isNamespace(namespace, 'target.') });
    const { numInsertedRows } = await merge.whenNotMatchedInsertAll().execute([row, ...above]);
    if (numInsertedRows > 1) await this.#dropResurrected(id, namespace!, location);
    if (numInsertedRows > 0 && (await this.find(id))?.location === location) return undefined;
    return (await this.kind(id)) ?? 'table';
  }

  /**
   * Reverts an insert that added again the row of a namespace that was dropped in the meantime.
   * @throws CatalogError NamespaceNotFound (1) always
   */
  async #dropResurrected(id: string, namespace: string, location: string): Promise<never> {
    await this.takeFrom(id, location);
    const children = await this.#native.countRows(`starts_with(object_id, ${quotedText(namespace + idDelimiter)})`);
    if (children === 0) await this.#native.delete(isNamespace(namespace));
    throw noNamespace(namespace.split(idDelimiter));
  }

  /**
   * Returns the kind of the object with an identifier. Earlier versions could create a row for a table and another for
   * a namespace with the same identifier. Then the kind is `namespace`.
   */
  async kind(id: string): Promise<ObjectKind | undefined> {
    const rows = await this.#native
      .query()
      .where(`object_id = ${quotedText(id)}`)
      .select(['object_type'])
      .toArray();
    const kinds = rows.map((row) => (row as { object_type: string }).object_type);
    if (kinds.includes('namespace')) return 'namespace';
    return kinds.includes('table') ? 'table' : undefined;
  }

  /** Adds a dropped namespace again if it has children. Returns whether it has none and stays dropped. */
  async isStillDropped(id: string, row: Record<string, unknown>): Promise<boolean> {
    const children = await this.#native.countRows(`starts_with(object_id, ${quotedText(id + idDelimiter)})`);
    if (children === 0) return true;
    await this.#native.mergeInsert('object_id').whenNotMatchedInsertAll().execute([row]);
    return false;
  }

  /** Returns the whole row of a namespace. @throws CatalogError NamespaceNotFound (1) */
  async namespaceRow(id: string): Promise<Record<string, unknown>> {
    const rows = await this.#native.query().where(isNamespace(id)).select(columns).limit(1).toArray();
    const row = rows[0] as { toJSON(): Record<string, unknown> } | undefined;
    if (row) return row.toJSON();
    throw noNamespace(id.split(idDelimiter));
  }

  /**
   * Changes the location of a listed table, if the location is still `from`. Returns false if the table is no longer
   * listed.
   */
  async move(id: string, location: string, from?: string): Promise<boolean> {
    const where = from === undefined ? isTable(id) : `${isTable(id)} AND location = ${quotedText(from)}`;
    const { rowsUpdated } = await this.#native.update({ where, values: { location } });
    return rowsUpdated === 1;
  }

  async #remove(id: string): Promise<boolean> {
    const { numDeletedRows } = await this.#native.delete(isTable(id));
    return numDeletedRows === 1;
  }

  /**
   * Changes the identifier of a table in one commit.
   *
   * The update rewrites every row, so that it conflicts with every concurrent commit, even with another rename to the
   * same identifier. After a conflict the engine repeats the update on the current rows. The update fails as a whole if
   * the identifier is taken: the row with that identifier would get null, and the column does not allow null.
   * @returns `missing` if there is no table `from`; the kind of an existing object `to`
   */
  async rename(from: string, to: string): Promise<'renamed' | 'missing' | ObjectKind> {
    const entry = await this.find(from);
    if (!entry) return 'missing';
    const taken = await this.kind(to);
    if (taken) return taken;
    const isFrom = `object_id = ${quotedText(from)} AND object_type = 'table'`;
    // The engine's expressions have no CASE. So the expression takes all characters of the new identifier in the row
    // with the old identifier, and no characters in other rows.
    const renamed = `nullif(left(${quotedText(to)}, cast((${isFrom}) AS int) * ${Array.from(to).length}), '')`;
    try {
      await this.#native.update({
        valuesSql: { object_id: `coalesce(${renamed}, nullif(object_id, ${quotedText(to)}))` },
      });
    } catch (error) {
      await this.#native.checkoutLatest();
      const takenSince = await this.kind(to);
      if (takenSince) return takenSince;
      throw error;
    }
    if ((await this.find(to))?.location !== entry.location) return 'missing';
    if (await this.#isAlone(to)) return 'renamed';
    // Another row has the new identifier: an older client, which does not rewrite the rows, has added it at the same
    // moment. So the rename is reverted.
    await this.#native.update({
      where: `${isTable(to)} AND location = ${quotedText(entry.location)}`,
      values: { object_id: from },
    });
    return (await this.kind(to)) ?? 'table';
  }

  async #isAlone(id: string): Promise<boolean> {
    await this.#native.checkoutLatest();
    return (await this.#native.countRows(`object_id = ${quotedText(id)}`)) === 1;
  }
}

const isTable = (id: string): string => `object_id = ${quotedText(id)} AND object_type = 'table'`;

const isAt = (id: string, location: string | null): string =>
  `${isTable(id)} AND location ${location === null ? 'IS NULL' : `= ${quotedText(location)}`}`;

const isNamespace = (id: string, table = ''): string =>
  `${table}object_id = ${quotedText(id)} AND ${table}object_type = 'namespace'`;

import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CatalogError, isCatalogError, messageOf } from '#shared/errors.ts';
import type { Damage, DamageKind } from '#shared/damage.ts';
import { idDelimiter } from '#shared/names.ts';
import { datasetName, withDataset } from '#engine/dir/dataset.ts';
import type { Root } from '#engine/dir/dirConnection.ts';
import { engineError, isTableWithoutData, tableSubject } from '#engine/errors/engineErrors.ts';
import { inRoot, isSinglePathSegment, isTableLocation, markers, rootFolder } from '#engine/dir/files/folders.ts';
import { hasManifest, manifestFolder, readManifest, type ManifestRow } from '#engine/dir/files/manifestTable.ts';

// Finds damage in a catalog: earlier releases of this product, other clients and killed processes can leave a manifest
// that does not match the files. This file changes nothing; repair.ts applies the planned steps.

/** One change of the manifest, or of a folder in the root. */
export type Step =
  | { do: 'add-namespace'; id: string }
  /** Replaces the row of a table without files by a row of the namespace, in one commit. */
  | { do: 'turn-into-namespace'; id: string; location: string | null }
  | { do: 'rename-row'; id: string; to: string }
  | { do: 'rename-folder'; name: string; to: string }
  | { do: 'list-table'; id: string; folder: string }
  | { do: 'remove-row'; id: string; location: string | null };

/** Damage with the steps that repair it, in order; no steps if the user has to repair it. */
type Planned = { damage: Damage; steps: readonly Step[] };

/** The damage of a catalog; for `recent` see `RepairResult`. */
type Plan = { planned: Planned[]; recent: number };

export type PlanOptions = {
  /**
   * Minimum age in ms of an unlisted folder (default: 60,000). Needed because a table that is being created or dropped
   * briefly has a folder but no row.
   */
  minAgeMs?: number | undefined;
};

/**
 * Finds what is wrong with a catalog, and how it can be repaired.
 *
 * Unlisted tables and tables without files are only detected in a local directory: object stores are not searched,
 * because in a store a declared table that is not written yet looks like a table without files.
 * @throws CatalogError InvalidTableState (19), PermissionDenied (15) if the manifest or a folder can't be read: a table
 * that can't be read may still exist, so nothing is planned
 */
export async function planRepair(place: Root, { minAgeMs = 60_000 }: PlanOptions = {}): Promise<Plan> {
  if (place.isLocal) await checkNoTable(place.location);
  // The folders are read before the manifest. Tables that are created or dropped between the two reads are checked
  // again, folder by folder.
  const folders = place.isLocal ? await foldersIn(place.location) : undefined;
  const rows = (await hasManifest(place)) ? await readManifest(place) : [];
  return new Planner(place, rows, folders).plan(minAgeMs);
}

class Planner {
  readonly #place: Root;
  readonly #rows: readonly ManifestRow[];
  readonly #folders: ReadonlyMap<string, Dirent> | undefined;
  readonly #tables = new Map<string, ManifestRow[]>();
  readonly #namespaces = new Set<string>();
  /** Every identifier in use, also identifiers that planned steps will use. */
  readonly #taken = new Set<string>();
  readonly #planned: Planned[] = [];
  #recent = 0;

  constructor(place: Root, rows: readonly ManifestRow[], folders: ReadonlyMap<string, Dirent> | undefined) {
    this.#place = place;
    this.#rows = rows;
    this.#folders = folders;
    for (const row of rows) {
      this.#taken.add(row.id);
      if (row.kind === 'namespace') this.#namespaces.add(row.id);
      else this.#tables.set(row.id, [...(this.#tables.get(row.id) ?? []), row]);
    }
    for (const folder of folders?.keys() ?? []) if (folder.endsWith('.lance')) this.#taken.add(folder.slice(0, -6));
  }

  async plan(minAgeMs: number): Promise<Plan> {
    const unlisted: Unlisted[] = [];
    for (const one of await this.#unlisted(minAgeMs)) {
      const table = await this.#tableAbove(one.id);
      if (table === undefined) unlisted.push(one);
      else this.#below(one, table);
    }
    await this.#namespacesAndTheirTables(unlisted.map(({ id }) => id));
    for (const { id, folder } of unlisted) this.#listAgain(id, folder);
    await this.#missingFiles();
    return { planned: this.#planned, recent: this.#recent };
  }

  /**
   * Returns the identifier of a table that has the name of a parent namespace of `id`, if that namespace is not listed.
   */
  async #tableAbove(id: string): Promise<string | undefined> {
    for (const above of ancestors(id)) {
      if (this.#namespaces.has(above)) continue;
      if (this.#tables.has(above) || (await this.#isRootTable(above))) return above;
    }
    return undefined;
  }

  /**
   * Reports an unlisted table whose parent name is the name of a table. Plans no steps, because a stray folder does not
   * justify renaming an intact table.
   */
  #below({ id, folder }: Unlisted, table: string): void {
    this.#add(
      'table-not-listed',
      id,
      `Table ${quote(display(id))} is not listed, but its files are in ${quote(folder)}; ${quote(display(table))} is a table and can't contain other tables.`,
      `Rename the table ${quote(display(table))}, then repair again.`,
      [],
    );
  }

  /** Checks for namespaces without a row, and for tables that have the name of a namespace. */
  async #namespacesAndTheirTables(unlisted: readonly string[]): Promise<void> {
    const children = new Map<string, string[]>();
    for (const id of [...this.#rows.map((row) => row.id), ...unlisted]) {
      for (const above of ancestors(id)) children.set(above, [...(children.get(above) ?? []), id]);
    }
    const needed = new Set([...children.keys(), ...this.#namespaces]);
    // Parents come first, so that a namespace exists before its children.
    for (const id of [...needed].toSorted((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1))) {
      const isListed = this.#namespaces.has(id);
      const tables = this.#tables.get(id) ?? [];
      if (tables.length > 0) await this.#sharedName(id, tables, isListed);
      else if (await this.#isRootTable(id)) this.#sharedRootName(id, isListed);
      else if (!isListed) this.#lost(id, children.get(id) ?? []);
    }
  }

  #lost(id: string, children: readonly string[]): void {
    const shown = children.slice(0, 3).map(display).map(quote).join(', ');
    const more = children.length > 3 ? ` and ${children.length - 3} more` : '';
    this.#add(
      'namespace-lost',
      id,
      `Namespace ${quote(display(id))} is not listed, but holds ${shown}${more}.`,
      'List the namespace again. Its properties are lost.',
      [{ do: 'add-namespace', id }],
    );
  }

  async #sharedName(id: string, tables: readonly ManifestRow[], isListed: boolean): Promise<void> {
    const [first] = tables;
    if (tables.length === 1 && !isListed && !(await this.#hasFiles(first!))) {
      this.#add(
        'namespace-lost',
        id,
        `Namespace ${quote(display(id))} is not listed. In its place, the catalog lists a table without files.`,
        'Replace the table with the namespace. The properties of the namespace are lost.',
        [{ do: 'turn-into-namespace', id, location: first!.location }],
      );
      return;
    }
    if (depth(id) === 1 && first!.location === rootFolder(id)) return this.#sharedRootName(id, isListed);
    const to = this.#freeName(id);
    this.#addShared(id, to, isListed, [{ do: 'rename-row', id, to }]);
  }

  #sharedRootName(id: string, isListed: boolean): void {
    if (this.#place.isLocal) {
      const to = this.#freeName(id);
      this.#addShared(id, to, isListed, [{ do: 'rename-folder', name: id, to }]);
      return;
    }
    this.#add('name-shared', id, sharedMessage(id), 'Copy the table to another name, then drop it.', []);
  }

  #addShared(id: string, to: string, isListed: boolean, steps: readonly Step[]): void {
    const fix = `Rename the table to ${quote(display(to))}${isListed ? '' : ' and list the namespace again'}.`;
    const add: readonly Step[] = isListed ? [] : [{ do: 'add-namespace', id }];
    this.#add('name-shared', id, sharedMessage(id), fix, [...steps, ...add]);
  }

  #listAgain(wanted: string, folder: string): void {
    const id = this.#taken.has(wanted) ? this.#freeName(wanted) : wanted;
    this.#taken.add(id);
    this.#add(
      'table-not-listed',
      id,
      `Table ${quote(display(wanted))} is not listed, but its files are in ${quote(folder)}.`,
      `List it as ${quote(display(id))}. Drop it afterwards if it is not wanted.`,
      [{ do: 'list-table', id, folder }],
    );
  }

  async #missingFiles(): Promise<void> {
    if (!this.#folders) return;
    const settled = new Set(this.#planned.flatMap(({ steps }) => steps.map((step) => ('id' in step ? step.id : ''))));
    for (const row of this.#rows) {
      if (row.kind !== 'table' || settled.has(row.id)) continue;
      if (await this.#hasFiles(row)) {
        await this.#missingVersions(row);
        continue;
      }
      this.#add(
        'files-missing',
        row.id,
        `Table ${quote(display(row.id))} is listed, but its folder ${quote(row.location ?? '')} does not exist.`,
        'Remove the table from the list.',
        [{ do: 'remove-row', id: row.id, location: row.location }],
      );
    }
  }

  /** Reports a folder without versions, unless the table is only declared. */
  async #missingVersions({ id, location }: ManifestRow): Promise<void> {
    if (location === null || !isTableLocation(location)) return;
    const folder = inRoot(this.#place.location, location);
    if ((await exists(join(folder, '_versions'))) || (await exists(join(folder, markers.declared)))) return;
    this.#add(
      'files-missing',
      id,
      `Table ${quote(display(id))} can't be read: its folder ${quote(location)} has no versions.`,
      'Restore the folder from a backup, or drop the table.',
      [],
    );
  }

  /** Finds the folders of namespaced tables that no row refers to. */
  async #unlisted(minAgeMs: number): Promise<Unlisted[]> {
    const listed = new Set(this.#rows.map((row) => row.location));
    const found: Unlisted[] = [];
    for (const [folder, entry] of this.#folders ?? []) {
      const id = /^[0-9a-f]{8}_(.+)$/.exec(folder)?.[1]?.replace(/\.lance_$/, '.lance');
      if (id === undefined || listed.has(folder) || !entry.isDirectory() || !isIdentifier(id)) continue;
      const path = join(this.#place.location, folder);
      const isTable = await exists(join(path, '_versions'));
      if (!isTable || (await exists(join(path, markers.forgotten)))) continue;
      if (Date.now() - (await lstat(path)).ctimeMs >= minAgeMs) found.push({ id, folder });
      else this.#recent++;
    }
    return found;
  }

  /**
   * Whether a local root has the folder of a table of this name, which needs no row. Deregistered tables do not count.
   * In an object store the result is always false.
   */
  async #isRootTable(id: string): Promise<boolean> {
    if (depth(id) !== 1 || !this.#folders?.has(rootFolder(id))) return false;
    return !(await exists(join(inRoot(this.#place.location, rootFolder(id)), markers.forgotten)));
  }

  /** @throws CatalogError if this can't be determined */
  async #hasFiles({ id, location }: ManifestRow): Promise<boolean> {
    if (location === null) return false;
    // A location that can't hold a table was set by another client. This catalog does not check it, so the files count
    // as existing.
    if (!isTableLocation(location)) return true;
    if (this.#place.isLocal) return this.#folders?.has(location) || exists(inRoot(this.#place.location, location));
    try {
      await withDataset(this.#place, location, async (store) => (await store.openTable(datasetName)).close());
      return true;
    } catch (error) {
      const told = engineError(error, tableSubject(id, []));
      if (isCatalogError(told, 'TableNotFound') || isTableWithoutData(told)) return false;
      throw told;
    }
  }

  #freeName(id: string): string {
    for (let number = 1; ; number++) {
      const name = `${id}_table${number === 1 ? '' : number}`;
      if (this.#taken.has(name)) continue;
      this.#taken.add(name);
      return name;
    }
  }

  #add(kind: DamageKind, id: string, message: string, fix: string, steps: readonly Step[]): void {
    const isRepairable = steps.length > 0;
    this.#planned.push({ damage: { kind, identifier: display(id), message, fix, isRepairable }, steps });
  }
}

/** The folder of a namespaced table that no row refers to, with the identifier it was created for. */
type Unlisted = { id: string; folder: string };

const sharedMessage = (id: string): string =>
  `${quote(display(id))} is the name of a table and of a namespace, so one can hide the other.`;

const display = (id: string): string => id.split(idDelimiter).join('/');
const quote = (text: string): string => `"${text}"`;
const depth = (id: string): number => id.split(idDelimiter).length;

/** Returns the identifiers of all parent namespaces. */
function ancestors(id: string): string[] {
  const parts = id.split(idDelimiter);
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join(idDelimiter));
}

const isIdentifier = (id: string): boolean => {
  const parts = id.split(idDelimiter);
  // If the identifier was cut when the folder was created, it is not known, so the folder is skipped.
  return parts.length > 1 && parts.every(isSinglePathSegment) && !id.endsWith('~');
};

/** @throws CatalogError InvalidInput (13) if `root` is the folder of a table */
async function checkNoTable(root: string): Promise<void> {
  if (!(await exists(join(root, '_versions')))) return;
  throw new CatalogError(
    'InvalidInput',
    `"${root}" is a table, not a catalog.`,
    'Choose the folder that contains the table.',
  );
}

const isOther = (name: string): boolean => name.startsWith('.') || name === manifestFolder;

/** Returns the entries of a root that may be folders of tables. */
async function foldersIn(root: string): Promise<Map<string, Dirent>> {
  const entries = await reading(root, () => readdir(root, { withFileTypes: true }));
  return new Map(entries.filter(({ name }) => !isOther(name)).map((entry) => [entry.name, entry]));
}

async function exists(path: string): Promise<boolean> {
  return reading(path, async () => {
    try {
      await lstat(path);
      return true;
    } catch (error) {
      if (Object(error).code === 'ENOENT') return false;
      throw error;
    }
  });
}

async function reading<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw new CatalogError(
      'PermissionDenied',
      `Can't check the catalog: "${path}" can't be read (${messageOf(cause)}).`,
      'Make it readable and try again. Nothing was changed.',
      { cause },
    );
  }
}

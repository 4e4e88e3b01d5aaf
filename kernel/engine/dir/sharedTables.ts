import type { Table as NativeTable } from '@lancedb/lancedb';
import { type BigIntStats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Schema } from '#arrow';
import { setNewest } from '#shared/setNewest.ts';
import { RowWidths } from '#engine/batches/rowWidths.ts';
import type { Root } from './dirConnection.ts';
import type { TableId } from './dirRename.ts';
import { isSinglePathSegment, keepsFolderTimes, rootFolder } from './files/folders.ts';
import { manifestFolder } from './files/manifestTable.ts';

// Each opened table of the engine has its own copy of the manifest, which takes 7 MB at 10,000 fragments. A query
// object keeps this copy in memory until V8 collects the query, and V8 counts the query as only a few bytes. A server
// that opens a table for each request would grow by gigabytes. So readers of the same table share one opened table.

/** Which state of a table to open (default: the newest version of the main branch). */
export type Pin = { version?: number | undefined; tag?: string | undefined; branch?: string | undefined };

/** What was read of one version of a table, so that it need not be read again. */
export type VersionFacts = {
  readonly version: number;
  readonly schema: Schema;
  readonly numRows?: number | undefined;
  readonly numFragments?: number | undefined;
};

/** An opened table of the engine, which one caller uses until it calls `release`. */
export type LeasedTable = {
  readonly native: NativeTable;
  /** The facts that were read last. They stay valid, because a version never changes. */
  facts: VersionFacts | undefined;
  /** The cached widths of the rows. A table that replaces this one starts with an empty cache. */
  readonly widths: RowWidths;
  /** The full path of the table's files, if the engine reports it. */
  readonly folder?: string | undefined;
  /**
   * Whether other callers may use the same `native`. Then this caller must not change it, for example by a checkout.
   */
  readonly isShared: boolean;
  /** Makes a shared table the caller's own. Returns false if other callers use it too. */
  claim(): boolean;
  /** Makes later callers open the table again, because this one failed. */
  discard(): void;
  /** Closes the table, unless others use it or may need it soon. */
  release(): void;
};

type Entry = {
  readonly native: NativeTable;
  readonly folder: string;
  readonly identity: string;
  readonly widths: RowWidths;
  facts: VersionFacts | undefined;
  users: number;
  idleSince: number;
};

/** Maximum number of tables that stay open for further callers. */
const maxTables = 16;
/** Maximum number of tables whose folder is remembered. */
const maxFolders = 1_000;
/** How long an unused table stays open, in milliseconds. */
const idleTime = 60_000;
/**
 * A file system may give two changes within some milliseconds the same time. So a table is shared only if the last
 * change of its folder is at least this many milliseconds old.
 */
const settledTime = 1_000;

/** The tables of one local root that are open for reading. */
export class SharedTables {
  readonly #place: Root;
  /** The folder that changes with each change of the list of namespaces and tables. */
  readonly #listFolder: string;
  /** In the order of their last use, the oldest first. */
  readonly #entries = new Map<string, Entry>();
  /** The entry that was used last, also if it has left the map since. */
  #newest: Entry | undefined;
  readonly #folders = new Map<string, string>();
  #sweep: NodeJS.Timeout | undefined;
  #keepsTimes: Promise<boolean> | undefined;
  #isClosed = false;

  constructor(place: Root) {
    this.#place = place;
    this.#listFolder = join(place.location, manifestFolder, '_versions');
  }

  /**
   * Returns an opened table, shared if that is safe. A table is shared only if it was opened before, and neither its
   * folder nor the list of namespaces and tables has changed since. A tag or a branch may be moved, so a table that was
   * opened at a tag or a branch is never shared.
   */
  async open(table: TableId, pin: Pin, open: () => Promise<NativeTable>): Promise<LeasedTable> {
    if (!this.#place.isLocal || pin.tag !== undefined || pin.branch !== undefined) return ownTable(await open());
    const name = JSON.stringify([table.path, table.name]);
    const key = JSON.stringify([name, pin.version]);
    const folder = this.#folders.get(name) ?? this.#expectedFolder(table);
    // The identity is read before the table is opened: if the table is replaced meanwhile, the next caller sees another
    // identity and opens the new table.
    const identity = folder === undefined ? undefined : await this.#identify(folder);
    const known = this.#entries.get(key);
    if (known && known.identity === identity) return this.#lease(key, known);
    if (known) this.#remove(key, known);
    const native = await open();
    const opened = folderOf(native);
    this.#rememberFolder(name, opened);
    // Another caller may have opened the same table meanwhile.
    const isTaken = this.#isClosed || this.#entries.has(key);
    if (identity === undefined || opened === undefined || opened !== folder || isTaken) return ownTable(native, opened);
    const entry: Entry = {
      native,
      folder: opened,
      identity,
      widths: new RowWidths(),
      facts: undefined,
      users: 0,
      idleSince: 0,
    };
    const lease = this.#lease(key, entry);
    for (const [oldest, old] of this.#entries) {
      if (this.#entries.size <= maxTables) break;
      this.#remove(oldest, old);
    }
    return lease;
  }

  /** Closes all tables, each after its last use. */
  close(): void {
    this.#isClosed = true;
    for (const [key, entry] of this.#entries) this.#remove(key, entry);
  }

  async #identify(folder: string): Promise<string | undefined> {
    this.#keepsTimes ??= keepsFolderTimes(this.#place.location).catch(() => false);
    return (await this.#keepsTimes) ? identityOf(this.#listFolder, folder).catch(() => undefined) : undefined;
  }

  #lease(key: string, entry: Entry): LeasedTable {
    entry.users++;
    // A map that entries leave and enter all the time is copied again and again.
    if (this.#newest !== entry) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
      this.#newest = entry;
    }
    let state: 'shared' | 'own' | 'released' = 'shared';
    const isListed = (): boolean => this.#entries.get(key) === entry;
    return {
      native: entry.native,
      widths: entry.widths,
      folder: entry.folder,
      get facts() {
        return entry.facts;
      },
      set facts(facts) {
        entry.facts = facts;
      },
      get isShared() {
        return state === 'shared';
      },
      claim: () => {
        if (state === 'shared' && entry.users === 1) {
          if (isListed()) this.#entries.delete(key);
          state = 'own';
        }
        return state === 'own';
      },
      discard: () => {
        if (isListed()) this.#remove(key, entry);
      },
      release: () => {
        if (state === 'released') return;
        state = 'released';
        entry.users--;
        entry.idleSince = performance.now();
        if (isListed()) this.#scheduleSweep();
        else if (entry.users === 0) entry.native.close();
      },
    };
  }

  #remove(key: string, entry: Entry): void {
    this.#entries.delete(key);
    if (entry.users === 0) entry.native.close();
  }

  #scheduleSweep(): void {
    if (this.#sweep) return;
    this.#sweep = setTimeout(() => {
      this.#sweep = undefined;
      const before = performance.now() - idleTime;
      for (const [key, entry] of this.#entries) {
        if (entry.users === 0 && entry.idleSince <= before) this.#remove(key, entry);
      }
      if (this.#entries.size > 0) this.#scheduleSweep();
    }, idleTime).unref();
  }

  /** The folder of a table in the root, which most clients name after the table. */
  #expectedFolder({ name, path }: TableId): string | undefined {
    if (path.length > 0 || !isSinglePathSegment(name)) return undefined;
    return join(this.#place.location, rootFolder(name));
  }

  #rememberFolder(name: string, folder: string | undefined): void {
    if (folder === undefined) this.#folders.delete(name);
    else setNewest(this.#folders, name, folder, maxFolders);
  }
}

/** A table that only one caller uses. */
export const ownTable = (native: NativeTable, folder?: string): LeasedTable => ({
  native,
  widths: new RowWidths(),
  facts: undefined,
  folder,
  isShared: false,
  claim: () => true,
  discard: () => undefined,
  release: () => native.close(),
});

/**
 * Returns a string that identifies the table in a folder. It changes if the table is dropped, replaced, renamed or
 * deregistered, and if an entry in the list of namespaces and tables changes. A new version of the table does not
 * change the string, because the engine itself looks for the newest version.
 *
 * @returns `undefined` if the folder is missing, or if the folder or the list has changed just now
 */
async function identityOf(listFolder: string, folder: string): Promise<string | undefined> {
  const [table, list] = [await statOf(folder), await statOf(listFolder)];
  const settled = BigInt(Date.now() - settledTime) * 1_000_000n;
  if (!table || table.mtimeNs > settled || (list && list.mtimeNs > settled)) return undefined;
  return [table.dev, table.ino, table.birthtimeNs, table.mtimeNs, list?.ino, list?.mtimeNs].join(' ');
}

/**
 * Reads the status of a path. On Linux only local file systems are read here, and the call is synchronous, because
 * waiting for a thread costs ten times the call itself. On other systems the folder may be on a network, so the call is
 * asynchronous.
 */
const statOf: (path: string) => BigIntStats | undefined | Promise<BigIntStats | undefined> =
  process.platform === 'linux'
    ? (path) => statSync(path, { bigint: true, throwIfNoEntry: false })
    : (path) => stat(path, { bigint: true }).catch(() => undefined);

/** The folder of an opened table. The engine reports the folder only in the display text of the table. */
function folderOf(native: NativeTable): string | undefined {
  const uri = /\buri=(.+), read_consistency_interval=/.exec(native.display())?.[1];
  if (uri === undefined || !uri.startsWith('file:')) return uri;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

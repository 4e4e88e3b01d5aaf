import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Connection } from '@lancedb/lancedb';
import { keepsFolderTimes, markers } from './folders.ts';

// The tables in the root of a directory. The engine opens the folders of all tables for each page of their names. For a
// page of a local root, this code opens only the folders of the names on that page. The names in an object store are
// listed once for several pages.

export type NamesPage = { names: string[]; pageToken?: string };

export interface RootTables {
  /** Returns the names after `pageToken` in the engine's order. */
  page(connection: Connection, limit: number, pageToken: string | undefined): Promise<NamesPage>;
  all(connection: Connection): Promise<string[]>;
}

/** Returns an object that lists the tables of a root. `location` is the path of a local root. */
export const rootTables = ({ location, isLocal }: { location: string; isLocal: boolean }): RootTables =>
  isLocal ? new LocalRootTables(location) : new StoreRootTables();

const enginePage = async (connection: Connection, limit?: number, pageToken?: string): Promise<NamesPage> => {
  const page = await connection.listTables([], {
    ...(limit !== undefined && { limit }),
    ...(pageToken !== undefined && { pageToken }),
  });
  const next: string | null | undefined = page.pageToken;
  return { names: page.tables, ...(typeof next === 'string' && { pageToken: next }) };
};

/**
 * Lists the tables of a local root as the engine does. If this class can't read something, the engine lists the tables.
 */
class LocalRootTables implements RootTables {
  readonly #root: string;
  readonly #kept: KeptNames;

  constructor(root: string) {
    this.#root = root;
    this.#kept = new KeptNames(root);
  }

  async page(connection: Connection, limit: number, pageToken: string | undefined): Promise<NamesPage> {
    // Looks for one name more than the page has. If there is one, another page follows.
    const names = await this.#find(limit + 1, pageToken).catch(() => undefined);
    if (!names) return enginePage(connection, limit, pageToken);
    return names.length > limit ? { names: names.slice(0, limit), pageToken: names[limit - 1]! } : { names };
  }

  async all(connection: Connection): Promise<string[]> {
    const names = await this.#find(Number.POSITIVE_INFINITY, undefined).catch(() => undefined);
    return names ?? (await enginePage(connection)).names;
  }

  /** Returns at most `most` names after `pageToken`. @throws the error of the file system */
  async #find(most: number, pageToken: string | undefined): Promise<string[]> {
    const names = await this.#kept.read();
    const found: string[] = [];
    let at = pageToken === undefined ? 0 : firstAfter(names, pageToken);
    while (at < names.length && found.length < most) {
      const some = names.slice(at, at + Math.min(concurrency, most - found.length));
      at += some.length;
      const isForgotten = await Promise.all(some.map((name) => this.#isForgotten(name)));
      found.push(...some.filter((_, index) => !isForgotten[index]));
    }
    return found;
  }

  /** Whether a name belongs to a deregistered table. */
  async #isForgotten(name: string): Promise<boolean> {
    const folder = join(this.#root, markerFolder(name));
    let files: string[];
    try {
      files = await readdir(folder);
    } catch (error) {
      // The folder was removed meanwhile, or is a file. The engine lists both.
      if (['ENOENT', 'ENOTDIR'].includes(String(Object(error).code))) return false;
      throw error;
    }
    const marker = files.find((file) => file.endsWith(markers.forgotten));
    // For the engine a broken link does not exist.
    return marker !== undefined && (await exists(join(folder, marker)));
  }
}

const exists = async (path: string): Promise<boolean> => {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (Object(error).code === 'ENOENT') return false;
    throw error;
  }
};

/**
 * Returns the folder in which the engine looks for the markers of a name. The engine escapes characters in this path,
 * but not in the name that it lists. So it finds no marker in a folder whose name has such characters.
 */
const markerFolder = (name: string): string => `${name.replaceAll(/["#%*<>?[\\\]^`{|}~]|[^\0-\x7f]+/g, escaped)}.lance`;

const escaped = (text: string): string =>
  Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');

/** How many folders are read at the same time. */
const concurrency = 64;

function firstAfter(names: readonly string[], token: string): number {
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareBytes(names[middle]!, token) > 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Compares names in the engine's order. For characters beyond U+FFFF it differs from the order of JavaScript strings.
 */
const compareBytes = (a: string, b: string): number =>
  isAscii(a) && isAscii(b) ? (a < b ? -1 : a > b ? 1 : 0) : Buffer.compare(Buffer.from(a), Buffer.from(b));

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);

/**
 * How long a folder must be unchanged before its entries are kept. The clock of a file system has ticks of at most 2 s,
 * and a second change within a tick does not change the folder's time. The wait is measured here and not compared with
 * the time of the folder, because clocks may differ.
 */
const settledMs = 3000;

/** The names that may be tables of a local root, in the engine's order; kept until the root changes. */
class KeptNames {
  readonly #root: string;
  #state: { stamp: string; since: number; names?: readonly string[] } | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  /** @throws Error if only the engine can list the root */
  async read(): Promise<readonly string[]> {
    const { dev, ino, mtimeNs, ctimeNs, nlink, size } = await stat(this.#root, { bigint: true });
    const stamp = [dev, ino, mtimeNs, ctimeNs, nlink, size].join();
    if (this.#state?.stamp !== stamp) this.#state = { stamp, since: performance.now() };
    const state = this.#state;
    if (state.names) return state.names;
    const isSettled = performance.now() - state.since >= settledMs;
    const entries = await readdir(this.#root, { withFileTypes: true });
    const links = entries.filter((entry) => entry.isSymbolicLink());
    const broken = await this.#brokenLinks(links, `${dev}:${ino}`);
    const names = namesIn(entries.filter((entry) => !broken.has(entry)));
    // A change after `stat` is later than the tick of the stamp, so the next call notices it. A change of a link's
    // target does not change the stamp, so names are not kept if there are links.
    if (isSettled && links.length === 0 && (await keepsFolderTimes(this.#root))) state.names = names;
    return names;
  }

  /** Returns the links without a target. The engine does not list them. @throws Error if a link leads to the root */
  async #brokenLinks(links: readonly Dirent[], root: string): Promise<ReadonlySet<Dirent>> {
    const broken = new Set<Dirent>();
    for (const link of links) {
      try {
        const { dev, ino } = await stat(join(this.#root, link.name), { bigint: true });
        if (`${dev}:${ino}` === root) throw new Error('A link leads to the root itself.');
      } catch (error) {
        if (Object(error).code !== 'ENOENT') throw error;
        broken.add(link);
      }
    }
    return broken;
  }
}

/** Returns the names of the tables, sorted. @throws Error if an entry has a name that the engine does not accept */
function namesIn(entries: readonly Dirent[]): string[] {
  const names: string[] = [];
  for (const { name } of entries) {
    // U+FFFD stands for bytes that are not UTF-8.
    if (/[\p{Cc}\ufffd]/u.test(name)) throw new Error('The name of an entry is not a valid name.');
    if (name.endsWith('.lance')) names.push(name.slice(0, -'.lance'.length));
  }
  return names.every(isAscii) ? names.toSorted() : names.toSorted(compareBytes);
}

/** How long the names of an object store are kept for the next pages of the same list. */
const keptMs = 10_000;

/**
 * Lists the tables of an object store with the engine, which reads the folders of all tables whatever the limit is. So
 * the names of one list serve its next pages too.
 */
class StoreRootTables implements RootTables {
  #list: { names: string[]; token: string; at: number } | undefined;

  async page(connection: Connection, limit: number, pageToken: string | undefined): Promise<NamesPage> {
    const list = this.#list;
    const isNext = pageToken !== undefined && list?.token === pageToken && performance.now() - list.at < keptMs;
    const names = isNext ? list.names : await this.all(connection);
    const left = pageToken === undefined ? names : names.filter((name) => compareBytes(name, pageToken) > 0);
    const page = left.slice(0, limit);
    this.#list = undefined;
    if (left.length <= limit) return { names: page };
    const token = page.at(-1)!;
    this.#list = { names: left, token, at: isNext ? list.at : performance.now() };
    return { names: page, pageToken: token };
  }

  async all(connection: Connection): Promise<string[]> {
    return (await enginePage(connection)).names;
  }
}

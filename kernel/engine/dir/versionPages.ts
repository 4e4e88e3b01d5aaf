import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Table as NativeTable } from '@lancedb/lancedb';
import type { CallOptions } from '#catalog/arguments/options.ts';
import type { VersionInfo } from '#catalog/table/table.ts';
import type { TableHandle } from './tableHandle.ts';
import { tableLocation } from './files/tableLocation.ts';
import { readVersionManifest } from './files/versionManifest.ts';

/** Which versions to return, in ascending or descending order. */
export type VersionRange = {
  limit: number;
  /** Only versions that follow this one in the order. */
  after?: number | undefined;
  isDescending: boolean;
};

export type VersionPage = { versions: VersionInfo[]; isLast: boolean };

/** Maximum number of manifests that are read here. The engine reads a larger number faster. */
const maxManifests = 1000;

/** Lists the versions, oldest first ("ListTableVersions"). */
export function listVersions(handle: TableHandle, options: CallOptions): Promise<VersionInfo[]> {
  return handle.read('ListTableVersions', options, versionsOf);
}

/**
 * Returns a part of the versions. The engine reads the manifests of all versions for each list. So if only a part of
 * the versions of a local table is wanted, only the manifests of that part are read, without the engine.
 */
export function listVersionPage(handle: TableHandle, range: VersionRange, options: CallOptions): Promise<VersionPage> {
  return handle.read('ListTableVersions', options, async (native) => {
    // A first page with room for many versions is mostly the whole list, which needs no look at the file names.
    const mayBeFew = range.limit <= maxManifests || range.after !== undefined;
    const manifests = mayBeFew ? await listManifests(handle, native) : undefined;
    if (manifests) {
      const { versions: wanted, isLast } = versionsInRange(manifests.versions, (version) => version, range);
      const isFew = wanted.length <= maxManifests && wanted.length < manifests.versions.length;
      const versions = isFew ? await readAll(manifests, wanted) : undefined;
      if (versions) return { versions, isLast };
    }
    return versionsInRange(await versionsOf(native), ({ version }) => version, range);
  });
}

/**
 * Returns a version; the newest one if `version` is undefined. Returns `undefined` if the table does not have that
 * version ("DescribeTableVersion").
 */
export function findVersion(
  handle: TableHandle,
  version: number | undefined,
  options: CallOptions,
): Promise<VersionInfo | undefined> {
  return handle.read('DescribeTableVersion', options, async (native) => {
    const manifests = await listManifests(handle, native);
    if (manifests) {
      const wanted = version ?? manifests.versions.at(-1)!;
      if (!manifests.versions.includes(wanted)) return undefined;
      const found = await readAll(manifests, [wanted]);
      if (found) return found[0];
    }
    const versions = await versionsOf(native);
    return version === undefined ? versions.at(-1) : versions.find((one) => one.version === version);
  });
}

async function versionsOf(native: NativeTable): Promise<VersionInfo[]> {
  const versions = await native.listVersions();
  return versions
    .map(({ version, timestamp, metadata }) => ({ version, timestamp, metadata }))
    .toSorted((a, b) => a.version - b.version);
}

function versionsInRange<T>(
  ascending: readonly T[],
  numberOf: (version: T) => number,
  { limit, after, isDescending }: VersionRange,
): { versions: T[]; isLast: boolean } {
  const ordered = isDescending ? ascending.toReversed() : ascending;
  const isLeft = (version: T): boolean =>
    after === undefined || (isDescending ? numberOf(version) < after : numberOf(version) > after);
  const left = ordered.filter(isLeft);
  return { versions: left.slice(0, limit), isLast: left.length <= limit };
}

/** The versions of a table, oldest first, from the names of its manifests. */
type Manifests = { folder: string; versions: readonly number[]; isInverted: boolean };

/**
 * Lists the manifests of a local table by their file names. Returns `undefined` if the engine has to list them: for
 * object stores, branches, and folders with files of an unknown kind.
 */
async function listManifests(handle: TableHandle, native: NativeTable): Promise<Manifests | undefined> {
  const { place, name, namespacePath: path } = handle;
  if (!place.isLocal || (native.currentBranch() ?? undefined) !== undefined) return undefined;
  const location = handle.folder ?? (await tableLocation(place, { name, path }));
  if (location === undefined) return undefined;
  const folder = join(location, '_versions');
  const files = await readdir(folder).catch(() => []);
  const isInverted = files.some((file) => invertedName.test(file));
  const versions: number[] = [];
  for (const file of files) {
    const version = isInverted ? invertedVersion(file) : plainVersion(file);
    if (Number.isSafeInteger(version) && version >= 0) versions.push(version);
    else if (!isOther(file)) return undefined;
  }
  // A typed array sorts by number and not by text, and is faster.
  return versions.length === 0
    ? undefined
    : { folder, versions: [...Float64Array.from(versions).toSorted()], isInverted };
}

// The name of a manifest contains 2^64 - 1 minus the version, so that the newest version is listed first. In older
// tables the name contains the version itself.
const lastVersion = 2n ** 64n - 1n;
const invertedName = /^\d{20}\.manifest$/;

function invertedVersion(file: string): number {
  if (!invertedName.test(file)) return Number.NaN;
  // The number in the name is too large to be exact in JavaScript. So its first 5 and its last 15 digits are subtracted
  // separately from the digits of 2^64 - 1.
  return (18_446 - Number(file.slice(0, 5))) * 1e15 + (744_073_709_551_615 - Number(file.slice(5, 20)));
}

const plainVersion = (file: string): number => Number(/^(\d{1,19})\.manifest$/.exec(file)?.[1] ?? Number.NaN);

/** Whether a file belongs to no version: a hint of the engine, or a manifest that a writer has not published. */
const isOther = (file: string): boolean => file === 'latest_version_hint.json' || /\.manifest[-#.]/.test(file);

const manifestName = (version: number, isInverted: boolean): string =>
  `${isInverted ? String(lastVersion - BigInt(version)).padStart(20, '0') : version}.manifest`;

/** How many manifests are read at the same time. */
const concurrency = 16;

/** Reads the details of versions; `undefined` if one of them can't be read here. */
async function readAll(
  { folder, isInverted }: Manifests,
  wanted: readonly number[],
): Promise<VersionInfo[] | undefined> {
  const versions: VersionInfo[] = [];
  for (let at = 0; at < wanted.length; at += concurrency) {
    const some = wanted.slice(at, at + concurrency);
    const read = await Promise.all(
      some.map((version) => readVersionManifest(join(folder, manifestName(version, isInverted)))),
    );
    for (const [index, info] of read.entries()) {
      if (!info || info.version !== some[index]) return undefined;
      versions.push(info);
    }
  }
  return versions;
}

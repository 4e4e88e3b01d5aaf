import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Table as NativeTable } from '@lancedb/lancedb';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import type { CallOptions } from '#client/callOptions.ts';
import type { TagInfo } from '#client/tagsBranches.ts';
import { engineError, tableSubject } from './engineErrors.ts';
import { tableLocation } from './tableLocation.ts';
import type { TableHandle } from './tableHandle.ts';

/**
 * The tags of a table with the branches that they are of. The engine tells no branches; and one file among the tags that is
 * none, or a tag whose name it had to escape, keeps it from listing any. In a directory of this machine the files are read.
 */
export async function tagsOf(
  handle: TableHandle,
  native: NativeTable,
  options: CallOptions,
): Promise<Map<string, TagInfo>> {
  const files = await tagFiles(handle);
  let listed: Record<string, TagInfo>;
  try {
    listed = await (await native.tags()).list();
  } catch (error) {
    if (files) return files;
    throw unlistable(handle, error);
  }
  const hasBranches = !handle.place.isLocal && Object.keys(await (await native.branches()).list()).length > 0;
  const tags = new Map<string, TagInfo>();
  // The engine's objects answer by getters, which leave nothing to copy or to print.
  for (const [tag, { version, manifestSize }] of Object.entries(listed)) {
    const branch = files?.get(tag)?.branch ?? (hasBranches ? await branchOf(handle, tag, options) : undefined);
    tags.set(tag, {
      version,
      ...(manifestSize !== undefined && { manifestSize }),
      ...(branch !== undefined && { branch }),
    });
  }
  return tags;
}

/** The branch of a tag in an object store, by opening it: the one way to ask the engine. */
const branchOf = (handle: TableHandle, tag: string, options: CallOptions): Promise<string | undefined> =>
  handle.apart('ListTableTags', { tag }, options, (native) => Promise.resolve(native.currentBranch() ?? undefined));

/** The tags in the files of a local table; what is no tag is left out. `undefined` where there is no folder of them. */
async function tagFiles({ place, name, namespacePath: path }: TableHandle): Promise<Map<string, TagInfo> | undefined> {
  const tags = new Map<string, TagInfo>();
  const location = place.isLocal ? await tableLocation(place, { name, path }) : undefined;
  if (location === undefined) return undefined;
  const folder = join(location, '_refs', 'tags');
  const files = await readdir(folder).catch(() => undefined);
  if (!files) return undefined;
  for (const file of files) {
    if (!file.endsWith('.json')) continue;
    const tag = tagIn(await readFile(join(folder, file), 'utf8').catch(() => ''));
    if (tag) tags.set(unescaped(file.slice(0, -'.json'.length)), tag);
  }
  return tags;
}

function tagIn(json: string): TagInfo | undefined {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || typeof value['version'] !== 'number') return undefined;
  const { version, manifestSize, branch } = value;
  return {
    version,
    ...(typeof manifestSize === 'number' && { manifestSize }),
    ...(typeof branch === 'string' && { branch }),
  };
}

function unescaped(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Why an object store's tags can't be listed, where the engine stumbles over a file and names none. */
function unlistable({ name, namespacePath: path }: TableHandle, error: unknown): Error {
  const subject = tableSubject(name, path);
  const told = engineError(error, subject);
  if (!isCatalogError(told, 'Internal') && !isCatalogError(told, 'InvalidTableState')) return told;
  return new CatalogError(
    'InvalidTableState',
    `The tags of "${subject.name}" can't be listed: a file among them is none, or has a name that can't be read.`,
    'Look into the folder "_refs/tags" of the table, and move that file away. Tags are still opened by their names.',
    { cause: error },
  );
}

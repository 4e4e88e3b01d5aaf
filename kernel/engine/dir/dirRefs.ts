import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Table as NativeTable } from '@lancedb/lancedb';
import { type CallOptions, checkVersion } from '#catalog/arguments/options.ts';
import type { Operation } from '#catalog/contract.ts';
import { namedEntries } from '#catalog/lancedb/namedEntries.ts';
import { unsupportedBranchCalls, unsupportedCalls } from '#catalog/lancedb/unsupported.ts';
import {
  branchOptions,
  type Branches,
  type CreateBranchOptions,
  type TagInfo,
  type Tags,
} from '#catalog/table/tagsBranches.ts';
import { engineError, tableSubject } from '#engine/errors/engineErrors.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { checkRefName, mainBranch } from '#shared/names.ts';
import { nextSteps } from '#shared/nextSteps.ts';
import { isRecord } from '#shared/records.ts';
import type { Pin } from './sharedTables.ts';
import type { TableHandle } from './tableHandle.ts';
import { tableLocation } from './files/tableLocation.ts';

/**
 * Returns the tags of a table with their branches. The engine does not report the branches of tags, and its list fails
 * if a single tag file is invalid or a name is escaped. So in a local directory the tag files are read too.
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
  // The properties are copied one by one, because the engine's objects have only getters.
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

/** Finds the branch of a tag in an object store by opening the table at the tag. The engine offers no other way. */
const branchOf = (handle: TableHandle, tag: string, options: CallOptions): Promise<string | undefined> =>
  handle.apart('ListTableTags', { tag }, options, (native) => Promise.resolve(native.currentBranch() ?? undefined));

/**
 * Reads the tags of a local table from its tag files, and skips invalid files. Returns `undefined` for a table in an
 * object store, or if there is no folder of tags.
 */
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

/**
 * Returns the error for tags in an object store that can't be listed. If the engine fails at a tag file, it does not
 * name that file.
 */
function unlistable({ name, namespacePath: path }: TableHandle, error: unknown): Error {
  const subject = tableSubject(name, path);
  const told = engineError(error, subject);
  if (!isCatalogError(told, 'Internal') && !isCatalogError(told, 'InvalidTableState')) return told;
  return new CatalogError(
    'InvalidTableState',
    `Can't list the tags of "${subject.name}": one tag file has an invalid name or content.`,
    'Check the folder "_refs/tags" of the table, and move that file away. Opening a tag by its name still works.',
    { cause: error },
  );
}

/** Makes a version the newest one ("RestoreTable"). Without `version`, restores the version that is checked out. */
export async function restore(handle: TableHandle, version: number | undefined, options: CallOptions): Promise<void> {
  const { pin } = handle;
  await handle.during('RestoreTable', async () => {
    if (version === undefined && (pin.version !== undefined || pin.tag !== undefined)) {
      await handle.apart('RestoreTable', {}, options, (native) => native.restore());
      return;
    }
    checkVersion('restore', requireVersion('restore', version));
    handle.checkWritable();
    await handle.apart('RestoreTable', { version }, options, (native) => native.restore());
  });
}

/** Opens the table of a handle at another branch or version. */
type OpenTable<T> = (pin: Pin, options: CallOptions) => Promise<T>;

/** @param current returns the handle that the table reads from, which a checkout replaces */
export const dirTags = (current: () => TableHandle): Tags => ({
  list: (options = {}) =>
    current().read('ListTableTags', options, async (native) => namedEntries(await tagsOf(current(), native, options))),
  getVersion: (tag, options = {}) =>
    current().read('GetTableTagVersion', options, async (native) => (await native.tags()).getVersion(text('tag', tag))),
  create: (tag, version, options = {}) =>
    changeTags(current(), 'CreateTableTag', options, async (native) => {
      checkRefName('tag', tag);
      checkVersion('create', requireVersion('create', version));
      await (await native.tags()).create(tag, version);
    }),
  update: (tag, version, options = {}) =>
    changeTags(current(), 'UpdateTableTag', options, async (native) => {
      checkVersion('update', requireVersion('update', version));
      await (await native.tags()).update(text('tag', tag), version);
    }),
  delete: (tag, options = {}) =>
    changeTags(current(), 'DeleteTableTag', options, async (native) => (await native.tags()).delete(text('tag', tag))),
});

/** Changes tags, which do not depend on the version that the table reads. */
function changeTags<T>(
  handle: TableHandle,
  operation: Operation,
  options: CallOptions,
  work: (native: NativeTable) => Promise<T>,
): Promise<T> {
  const { pin, branch } = handle;
  if (pin.version === undefined && pin.tag === undefined) return handle.write(operation, options, work);
  const newest = { version: undefined, tag: undefined, branch };
  return handle.during(operation, () => handle.apart(operation, newest, options, work));
}

export const dirBranches = <T>(current: () => TableHandle, open: OpenTable<T>): Branches<T> => ({
  ...unsupportedBranches,
  list: (options = {}) =>
    current().read('ListTableBranches', options, async (native) => {
      const found = await (await native.branches()).list();
      return namedEntries(
        Object.entries(found).map(([branch, { parentVersion, parentBranch, manifestSize }]) => [
          branch,
          { parentVersion, manifestSize, ...(parentBranch !== undefined && parentBranch !== null && { parentBranch }) },
        ]),
      );
    }),
  async create(branch: string, origin?: CreateBranchOptions | string, version?: number) {
    const handle = current();
    const { fromBranch, fromVersion, signal } = await handle.during('CreateTableBranch', async () =>
      branchOptions(origin, version),
    );
    await handle.write('CreateTableBranch', { signal }, async (native) => {
      checkRefName('branch', branch);
      const branches = await native.branches();
      const of = fromBranch ?? handle.pin.branch;
      const from = of === mainBranch ? undefined : of;
      checkVersion('create', fromVersion);
      // Checks the names first, because the engine reports an existing name as an internal bug and a missing branch as
      // a broken table.
      const known = await branches.list();
      if (branch in known) throw branchExists(branch);
      if (from !== undefined && !(from in known)) throw branchNotFound(from);
      (await branches.create(branch, from, fromVersion)).close();
    });
    return open({ branch }, { signal });
  },
  checkout: (branch, version, options = {}) =>
    current().during('DescribeTable', async () => {
      checkVersion('branches.checkout', version);
      return open({ branch: text('branch', branch), version }, options);
    }),
  delete: (branch, options = {}) =>
    current().write('DeleteTableBranch', options, async (native) => {
      const branches = await native.branches();
      if (!(text('branch', branch) in (await branches.list()))) throw branchNotFound(branch);
      await branches.delete(branch);
    }),
});

const unsupportedBranches = unsupportedCalls(unsupportedBranchCalls);

const branchExists = (branch: string): CatalogError =>
  new CatalogError('BranchAlreadyExists', `Branch "${branch}" exists already.`, 'Choose another name.');

export const branchNotFound = (branch: string): CatalogError =>
  new CatalogError('BranchNotFound', `There is no branch "${branch}".`, nextSteps.listBranches);

function text(what: string, value: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new CatalogError('InvalidInput', `The ${what} has no name.`, 'Pass the name as a string.');
}

function requireVersion(call: string, version: number | undefined): number {
  if (version !== undefined) return version;
  const hint = `Pass a whole number from 1${call === 'restore' ? ', or call checkout(version) before' : ''}.`;
  throw new CatalogError('InvalidInput', `${call} needs a version.`, hint);
}

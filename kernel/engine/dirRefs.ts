import { CatalogError } from '#shared/errors.ts';
import { checkRefName, mainBranch } from '#shared/names.ts';
import { checkVersion } from '#client/options.ts';
import type { VersionInfo } from '#client/tableInfo.ts';
import type { Branches, Tags } from '#client/tagsBranches.ts';
import type { CallOptions } from '#client/callOptions.ts';
import { tagsOf } from './dirTags.ts';
import type { TableHandle } from './tableHandle.ts';

/** Versions, oldest first ("ListTableVersions"). */
export async function listVersions(handle: TableHandle, options: CallOptions): Promise<VersionInfo[]> {
  const versions = await handle.read('ListTableVersions', options, (native) => native.listVersions());
  return versions
    .map(({ version, timestamp, metadata }) => ({ version, timestamp, metadata }))
    .toSorted((a, b) => a.version - b.version);
}

/** Makes a version the newest one ("RestoreTable"). */
export async function restore(handle: TableHandle, version: number, options: CallOptions): Promise<void> {
  await handle.during('RestoreTable', async () => {
    checkVersion('restore', requireVersion('restore', version));
    handle.checkWritable();
    await handle.apart('RestoreTable', { version }, options, (native) => native.restore());
  });
}

export const dirTags = (handle: TableHandle): Tags => ({
  list: (options = {}) => handle.read('ListTableTags', options, (native) => tagsOf(handle, native, options)),
  getVersion: (tag, options = {}) =>
    handle.read('GetTableTagVersion', options, async (native) => (await native.tags()).getVersion(text('tag', tag))),
  create: (tag, version, options = {}) =>
    handle.write('CreateTableTag', options, async (native) => {
      checkRefName('tag', tag);
      checkVersion('create', requireVersion('create', version));
      await (await native.tags()).create(tag, version);
    }),
  update: (tag, version, options = {}) =>
    handle.write('UpdateTableTag', options, async (native) => {
      checkVersion('update', requireVersion('update', version));
      await (await native.tags()).update(text('tag', tag), version);
    }),
  delete: (tag, options = {}) =>
    handle.write('DeleteTableTag', options, async (native) => (await native.tags()).delete(text('tag', tag))),
});

export const dirBranches = (handle: TableHandle): Branches => ({
  list: (options = {}) =>
    handle.read('ListTableBranches', options, async (native) => {
      const found = await (await native.branches()).list();
      return new Map(
        Object.entries(found).map(([branch, { parentVersion, parentBranch, manifestSize }]) => [
          branch,
          { parentVersion, manifestSize, ...(parentBranch !== undefined && parentBranch !== null && { parentBranch }) },
        ]),
      );
    }),
  create: (branch, { fromBranch, fromVersion, ...options } = {}) =>
    handle.write('CreateTableBranch', options, async (native) => {
      checkRefName('branch', branch);
      const branches = await native.branches();
      const of = fromBranch ?? handle.pin.branch;
      const from = of === mainBranch ? undefined : of;
      checkVersion('create', fromVersion);
      // The engine calls a name that is taken its own bug, and takes a branch that is not there for a broken table.
      const known = await branches.list();
      if (branch in known) throw branchExists(branch);
      if (from !== undefined && !(from in known)) throw noBranch(from);
      (await branches.create(branch, from, fromVersion)).close();
    }),
  delete: (branch, options = {}) =>
    handle.write('DeleteTableBranch', options, async (native) => {
      const branches = await native.branches();
      if (!(text('branch', branch) in (await branches.list()))) throw noBranch(branch);
      await branches.delete(branch);
    }),
});

const branchExists = (branch: string): CatalogError =>
  new CatalogError('BranchAlreadyExists', `There is a branch "${branch}" already.`, 'Choose another name.');

export const noBranch = (branch: string): CatalogError =>
  new CatalogError('BranchNotFound', `There is no branch "${branch}".`, 'See branches().list() for those there are.');

function text(what: string, value: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new CatalogError('InvalidInput', `The ${what} has no name.`, 'Give it as text.');
}

function requireVersion(call: string, version: number): number {
  if (version !== undefined) return version;
  throw new CatalogError('InvalidInput', `${call} was given no version.`, 'Give a whole number from 1.');
}

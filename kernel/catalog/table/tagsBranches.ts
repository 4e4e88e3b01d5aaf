import { type CallOptions, checkOptions } from '#catalog/arguments/options.ts';
import { CatalogError } from '#shared/errors.ts';
import { mainBranch } from '#shared/names.ts';
import type { NamedEntries } from '#catalog/lancedb/namedEntries.ts';
import { type unsupportedBranchCalls, type UnsupportedCalls, unsupportedValue } from '#catalog/lancedb/unsupported.ts';

/**
 * Checks that a tag belongs to the given branch. Version numbers repeat across branches, so a wrong branch would read
 * other data.
 * @throws CatalogError InvalidInput (13) naming both branches
 */
export function checkTagBranch(tag: string, has: string | undefined, wants: string | undefined): void {
  if (wants === undefined || wants === (has ?? mainBranch)) return;
  throw new CatalogError(
    'InvalidInput',
    `The tag "${tag}" belongs to the branch "${has ?? mainBranch}", not to "${wants}".`,
    'Leave the branch out: a tag belongs to one branch.',
  );
}

export type TagInfo = {
  version: number;
  /** Bytes of the version's manifest. */
  manifestSize?: number;
  /** The branch of the version; missing for the main one, or if the catalog does not report it. */
  branch?: string;
};

/** Names of versions. */
export interface Tags {
  /** Returns tags by name ("ListTableTags"): `list.get('v1')` or `list.v1`. */
  list(options?: CallOptions): Promise<NamedEntries<TagInfo>>;
  /** Returns the version of a tag ("GetTableTagVersion"). @throws CatalogError TagNotFound (8) */
  getVersion(tag: string, options?: CallOptions): Promise<number>;
  /**
   * Creates a tag for a version ("CreateTableTag").
   * @throws CatalogError TagAlreadyExists (9), VersionNotFound (11)
   */
  create(tag: string, version: number, options?: CallOptions): Promise<void>;
  /** Changes the version of a tag ("UpdateTableTag"). @throws CatalogError TagNotFound (8), VersionNotFound (11) */
  update(tag: string, version: number, options?: CallOptions): Promise<void>;
  /** Deletes a tag; its version is kept ("DeleteTableTag"). @throws CatalogError TagNotFound (8) */
  delete(tag: string, options?: CallOptions): Promise<void>;
}

export type CreateBranchOptions = CallOptions & {
  fromBranch?: string | undefined;
  fromVersion?: number | undefined;
};

/**
 * Returns the options of a call that creates a branch.
 * @throws CatalogError InvalidInput (13) for an unknown option
 */
export function branchOptions(
  from: CreateBranchOptions | string | undefined,
  fromVersion: number | undefined,
): CreateBranchOptions {
  if (typeof from === 'string' || from === undefined || from === null)
    return { fromBranch: from ?? undefined, fromVersion };
  checkOptions('branches.create', from, ['fromBranch', 'fromVersion', 'signal']);
  return from;
}

export type BranchInfo = { parentVersion: number; parentBranch?: string; created?: Date; manifestSize?: number };

/** Lines of versions separate from the main one. Open a branch with `openTable(name, { branch })`. */
export interface Branches<OpenedTable = unknown> extends UnsupportedCalls<typeof unsupportedBranchCalls> {
  /** Returns branches by name ("ListTableBranches"): `list.get('draft')` or `list.draft`. */
  list(options?: CallOptions): Promise<NamedEntries<BranchInfo>>;
  /**
   * Creates a branch and returns the table on it ("CreateTableBranch"). The branch starts at the version `fromVersion`
   * (default: the newest) of `fromBranch` (default: the branch of this table). `create(branch, 'draft', 3)` does the
   * same as `create(branch, { fromBranch: 'draft', fromVersion: 3 })`, as in LanceDB's package.
   * @throws CatalogError BranchAlreadyExists (23), BranchNotFound (22), VersionNotFound (11)
   */
  create(branch: string, options?: CreateBranchOptions): Promise<OpenedTable>;
  create(branch: string, fromBranch: string | undefined, fromVersion?: number): Promise<OpenedTable>;
  /**
   * Opens the table on a branch, like `openTable(name, { branch })`; with a version, read-only.
   * @throws CatalogError BranchNotFound (22), VersionNotFound (11)
   */
  checkout(branch: string, version?: number, options?: CallOptions): Promise<OpenedTable>;
  /** Deletes a branch with its versions ("DeleteTableBranch"). @throws CatalogError BranchNotFound (22) */
  delete(branch: string, options?: CallOptions): Promise<void>;
}

/** Not supported as a value: in LanceDB's package it is a class. */
export const Tags = unsupportedValue('Tags', 'Call table.tags().');

/** Not supported as a value: in LanceDB's package it is a class. */
export const Branches = unsupportedValue('Branches', 'Call table.branches().');

import type { CallOptions } from '#catalog/arguments/options.ts';
import { CatalogError } from '#shared/errors.ts';
import { mainBranch } from '#shared/names.ts';

/**
 * A tag is of a version of one branch, and the numbers of versions repeat in branches: who names both has to be right.
 * @throws CatalogError InvalidInput (13) naming both branches
 */
export function checkTagBranch(tag: string, has: string | undefined, wants: string | undefined): void {
  if (wants === undefined || wants === (has ?? mainBranch)) return;
  throw new CatalogError(
    'InvalidInput',
    `The tag "${tag}" is of a version of the branch "${has ?? mainBranch}", not of "${wants}".`,
    'Leave the branch out: a tag says which one it is of.',
  );
}

export type TagInfo = {
  version: number;
  /** Bytes of the version's manifest. */
  manifestSize?: number;
  /** The branch that the version is of; the main line when not there, or where the catalog does not tell. */
  branch?: string;
};

/** Names of versions. */
export interface Tags {
  /** Tags by name ("ListTableTags"). */
  list(options?: CallOptions): Promise<Map<string, TagInfo>>;
  /** The version that a tag names ("GetTableTagVersion"). @throws CatalogError TagNotFound (8) */
  getVersion(tag: string, options?: CallOptions): Promise<number>;
  /** Names a version ("CreateTableTag"). @throws CatalogError TagAlreadyExists (9), VersionNotFound (11) */
  create(tag: string, version: number, options?: CallOptions): Promise<void>;
  /** Lets a tag name another version ("UpdateTableTag"). @throws CatalogError TagNotFound (8), VersionNotFound (11) */
  update(tag: string, version: number, options?: CallOptions): Promise<void>;
  /** Forgets a name; the version stays ("DeleteTableTag"). @throws CatalogError TagNotFound (8) */
  delete(tag: string, options?: CallOptions): Promise<void>;
}

export type BranchInfo = { parentVersion: number; parentBranch?: string; created?: Date; manifestSize?: number };

/** Lines of versions beside the main one. Open one by `openTable(name, { branch })`. */
export interface Branches {
  /** Branches by name ("ListTableBranches"). */
  list(options?: CallOptions): Promise<Map<string, BranchInfo>>;
  /**
   * Begins a branch at the newest version, or at `fromVersion`, of the main line or of `fromBranch` ("CreateTableBranch").
   * @throws CatalogError BranchAlreadyExists (23), BranchNotFound (22), VersionNotFound (11)
   */
  create(
    branch: string,
    options?: CallOptions & { fromBranch?: string | undefined; fromVersion?: number | undefined },
  ): Promise<void>;
  /** Deletes a branch with its versions ("DeleteTableBranch"). @throws CatalogError BranchNotFound (22) */
  delete(branch: string, options?: CallOptions): Promise<void>;
}

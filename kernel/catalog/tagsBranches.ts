import type { CallOptions } from '#catalog/arguments/options.ts';
import { CatalogError } from '#shared/errors.ts';
import { mainBranch } from '#shared/names.ts';

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
  /** Returns tags by name ("ListTableTags"). */
  list(options?: CallOptions): Promise<Map<string, TagInfo>>;
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

export type BranchInfo = { parentVersion: number; parentBranch?: string; created?: Date; manifestSize?: number };

/** Lines of versions separate from the main one. Open a branch with `openTable(name, { branch })`. */
export interface Branches {
  /** Returns branches by name ("ListTableBranches"). */
  list(options?: CallOptions): Promise<Map<string, BranchInfo>>;
  /**
   * Creates a branch at the newest version, or at `fromVersion`, of the opened branch or of `fromBranch`
   * ("CreateTableBranch").
   * @throws CatalogError BranchAlreadyExists (23), BranchNotFound (22), VersionNotFound (11)
   */
  create(
    branch: string,
    options?: CallOptions & { fromBranch?: string | undefined; fromVersion?: number | undefined },
  ): Promise<void>;
  /** Deletes a branch with its versions ("DeleteTableBranch"). @throws CatalogError BranchNotFound (22) */
  delete(branch: string, options?: CallOptions): Promise<void>;
}

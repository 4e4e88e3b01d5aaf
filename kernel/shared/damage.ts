import { type Check, isBoolean, isCount, isString, listOf, oneOf, shapeFor } from './shape.ts';

// Damage of a directory catalog, as the command line and the editor show it.

/** One difference between the manifest of a catalog and its files, or between rows of the manifest. */
export type Damage = {
  kind: DamageKind;
  /** Path of the namespace or table: `shop/eu`. */
  identifier: string;
  /** The problem, as a sentence. */
  message: string;
  /** The next step, as a sentence. */
  fix: string;
  /** Whether a repair fixes the damage; otherwise the user must fix it. */
  isRepairable: boolean;
};

/**
 * - `namespace-lost`: tables or namespaces are listed below a namespace that is not listed itself.
 * - `name-shared`: a table and a namespace have the same name, so one can hide the other.
 * - `table-not-listed`: the files of a table exist in a namespace, but the manifest does not list the table.
 * - `files-missing`: the manifest lists a table whose files, or all of its versions, are missing.
 */
export type DamageKind = 'namespace-lost' | 'name-shared' | 'table-not-listed' | 'files-missing';

/** The damage before and after a repair; they are the same if nothing was repaired. */
export type RepairResult = {
  found: Damage[];
  left: Damage[];
  /** Number of unlisted table folders that are too recent to judge: a client may still be creating their tables. */
  recent: number;
};

const isDamage = shapeFor<Damage>({
  kind: oneOf('namespace-lost', 'name-shared', 'table-not-listed', 'files-missing'),
  identifier: isString,
  message: isString,
  fix: isString,
  isRepairable: isBoolean,
});

export const isRepairResult: Check<RepairResult> = shapeFor<RepairResult>({
  found: listOf(isDamage),
  left: listOf(isDamage),
  recent: isCount,
});

import { isRecord } from './records.ts';

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
  /** Whether a repair fixes it; otherwise the user must. */
  isRepairable: boolean;
};

/**
 * - `namespace-lost`: tables or namespaces are listed below a namespace that is not listed itself.
 * - `name-shared`: a table and a namespace have the same name, so one can hide the other.
 * - `table-not-listed`: the files of a table exist in a namespace, but the manifest does not list it.
 * - `files-missing`: the manifest lists a table whose files, or all of its versions, are missing.
 */
export type DamageKind = 'namespace-lost' | 'name-shared' | 'table-not-listed' | 'files-missing';

/** The damage before and after a repair; both are the same if nothing was repaired. */
export type RepairResult = {
  found: Damage[];
  left: Damage[];
  /** Number of unlisted table folders that are too recent to judge: their tables may be being created. */
  recent: number;
};

const kinds: ReadonlySet<unknown> = new Set<DamageKind>([
  'namespace-lost',
  'name-shared',
  'table-not-listed',
  'files-missing',
]);

export function isRepairResult(value: unknown): value is RepairResult {
  if (!isRecord(value)) return false;
  const { found, left, recent } = value;
  return typeof recent === 'number' && [found, left].every((list) => Array.isArray(list) && list.every(isDamage));
}

function isDamage(value: unknown): value is Damage {
  if (!isRecord(value)) return false;
  const { kind, identifier, message, fix, isRepairable } = value;
  const areTexts = [identifier, message, fix].every((text) => typeof text === 'string');
  return kinds.has(kind) && areTexts && typeof isRepairable === 'boolean';
}

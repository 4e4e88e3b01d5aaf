import { isRecord } from './records.ts';

// Damage of a catalog in a directory, as the command line and the editor show it.

/** One difference between the manifest of a catalog and its files, or between rows of the manifest. */
export type Damage = {
  kind: DamageKind;
  /** The namespace or table that it is about, as people write it: `shop/eu`. */
  identifier: string;
  /** What is wrong, as a sentence. */
  message: string;
  /** What to do about it, as a sentence. */
  fix: string;
  /** Whether a repair does that; else a user has to. */
  isRepairable: boolean;
};

/**
 * - `namespace-lost`: tables or namespaces are listed below a namespace that is not listed itself.
 * - `name-shared`: a table and a namespace have one name, so that one can hide the other.
 * - `table-not-listed`: the files of a table in a namespace are there, and the manifest does not have it.
 * - `files-missing`: the manifest has a table whose files, or all of its versions, are gone.
 */
export type DamageKind = 'namespace-lost' | 'name-shared' | 'table-not-listed' | 'files-missing';

/** What a repair found, and what is wrong after it; both are the same where nothing was repaired. */
export type RepairResult = {
  found: Damage[];
  left: Damage[];
  /** Folders of tables that are not listed and too young to count: their tables may be in the middle of being created. */
  recent: number;
};

const kinds: ReadonlySet<unknown> = new Set<DamageKind>([
  'namespace-lost',
  'name-shared',
  'table-not-listed',
  'files-missing',
]);

/** Checks the shape of a result that came from another process. */
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

import { isRecord } from './records.ts';

// Damage of a catalog in a directory, as the command line and the editor show it.

/** One difference between the manifest of a catalog and its files, or between rows of the manifest. */
export type Damage = {
  kind: DamageKind;
  /** The namespace or table that it is about, as people write it: `shop/eu`. */
  identifier: string;
  /** What is wrong, as a sentence. */
  message: string;
  /** What a repair does about it, as a sentence; undefined if a person has to. */
  fix: string | undefined;
};

/**
 * - `namespace-lost`: tables or namespaces are listed below a namespace that is not listed itself.
 * - `name-shared`: a table and a namespace have one name, so that one can hide the other.
 * - `table-not-listed`: the files of a table in a namespace are there, and the manifest does not have it.
 * - `files-missing`: the manifest has a table whose files are gone.
 */
export type DamageKind = 'namespace-lost' | 'name-shared' | 'table-not-listed' | 'files-missing';

/** What a repair found, and what is wrong after it; both are the same where nothing was repaired. */
export type RepairResult = { found: Damage[]; left: Damage[] };

const kinds: ReadonlySet<unknown> = new Set<DamageKind>([
  'namespace-lost',
  'name-shared',
  'table-not-listed',
  'files-missing',
]);

/** Checks the shape of a result that came from another process. */
export function isRepairResult(value: unknown): value is RepairResult {
  if (!isRecord(value)) return false;
  const { found, left } = value;
  return [found, left].every((list) => Array.isArray(list) && list.every(isDamage));
}

function isDamage(value: unknown): value is Damage {
  if (!isRecord(value)) return false;
  const { kind, identifier, message, fix } = value;
  const areTexts = typeof identifier === 'string' && typeof message === 'string';
  return kinds.has(kind) && areTexts && (fix === undefined || typeof fix === 'string');
}

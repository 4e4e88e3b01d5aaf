import { CatalogError } from '#shared/errors.ts';
import { type CallOptions, checkOptions } from '#catalog/arguments/options.ts';
import type { WriteResult } from './writeResults.ts';

/** An age: a whole number from 1 and a unit, for instance `7d`. The units are seconds to weeks. */
export type Age = `${number}${keyof typeof secondsPerUnit}`;

export type OptimizeOptions = CallOptions & {
  /**
   * Also removes the versions that are older than this age, for instance `7d`, and the files that only those versions
   * use. Removed versions can't be read or restored. Tagged versions stay, and so do all versions after the oldest
   * tagged version. Default: no version is removed.
   */
  olderThan?: Age | undefined;
  /**
   * Removes the versions that were created before this time, as in LanceDB's package. Do not set `olderThan` too.
   */
  cleanupOlderThan?: Date | undefined;
  /** Not supported: it would delete the files of writes in progress. Only `false` is allowed. */
  deleteUnverified?: boolean | undefined;
};

export type OptimizeResult = Required<WriteResult> & {
  numFragmentsBefore: number;
  numFragmentsAfter: number;
  /** Bytes of the data files of the newest version. */
  totalBytesBefore: number;
  totalBytesAfter: number;
  /**
   * Number of new files, and number of files that they replace in the newest version. The replaced files stay for the
   * earlier versions.
   */
  numFilesAdded: number;
  numFilesReplaced: number;
  /**
   * Number of removed versions, and bytes of the files that only those versions used. Both are 0 if no age was given.
   */
  numVersionsRemoved: number;
  bytesRemoved: number;
  /** Number of versions older than the given age that stay because of a tag or a branch. */
  numOlderVersionsKept: number;
  /** The same numbers under the names of LanceDB's package; not enumerable. */
  readonly compaction: { readonly filesAdded: number; readonly filesRemoved: number };
  readonly prune: { readonly bytesRemoved: number; readonly oldVersionsRemoved: number };
};

const secondsPerUnit = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;

/** Parses an age. Returns `undefined` for other text, and for ages of more than ten thousand years. */
export function ageSeconds(age: string): number | undefined {
  const [, digits, unit] = /^([1-9]\d{0,11})([smhdw])$/.exec(age) ?? [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the pattern matches the units only
  const seconds = Number(digits) * secondsPerUnit[unit as keyof typeof secondsPerUnit];
  return seconds < 3e11 ? seconds : undefined;
}

/**
 * Returns the age in milliseconds beyond which versions are removed; `undefined` to remove none.
 * @throws CatalogError InvalidInput (13)
 */
export function checkOptimizeOptions(options: OptimizeOptions): number | undefined {
  checkOptions('optimize', options, ['cleanupOlderThan', 'deleteUnverified', 'olderThan', 'signal']);
  const { olderThan, cleanupOlderThan, deleteUnverified } = options;
  if (deleteUnverified) {
    const what = 'optimize does not support deleteUnverified, which could delete files of writes in progress.';
    throw new CatalogError('Unsupported', what, 'Leave deleteUnverified out.');
  }
  if (cleanupOlderThan !== undefined) return ageOf(cleanupOlderThan, olderThan);
  if (olderThan === undefined) return undefined;
  const seconds = typeof olderThan === 'string' ? ageSeconds(olderThan) : undefined;
  if (seconds !== undefined) return seconds * 1000;
  throw new CatalogError(
    'InvalidInput',
    `Expected an age for "olderThan" of optimize, got ${JSON.stringify(olderThan)}.`,
    'Write a whole number and s, m, h, d or w, for instance "7d".',
  );
}

/** Returns the age of a time in milliseconds; 0 for a time in the future. @throws CatalogError InvalidInput (13) */
function ageOf(time: Date, olderThan: Age | undefined): number {
  if (olderThan !== undefined) {
    const what = 'optimize was given olderThan and cleanupOlderThan.';
    throw new CatalogError('InvalidInput', what, 'Pass only one of them.');
  }
  const age = time instanceof Date ? Date.now() - time.getTime() : Number.NaN;
  if (!Number.isNaN(age)) return Math.max(0, age);
  const what = 'Expected a date for "cleanupOlderThan" of optimize.';
  throw new CatalogError('InvalidInput', what, 'Pass for instance new Date("2024-01-01"), or olderThan: "7d".');
}

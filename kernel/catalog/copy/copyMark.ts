import { createHash } from 'node:crypto';
import { Schema } from '#arrow';
import { isRecord } from '#shared/records.ts';
import { displayPath } from '#shared/names.ts';
import type { Identity } from '#catalog/identity.ts';

/** The entry in a table's schema metadata that says of what it is a copy. Made with the table, so never missing. */
export const markKey = 'lance-catalog.copy';

/**
 * Of what a table is a copy, and whether it is whole. `staged` is unfinished under the staging name and whole under any
 * other, since the rename is the last step; `copying` is unfinished wherever it is.
 */
export type CopyMark = {
  /** Tells one source from another, without saying where it is: the mark may end up in other people's catalog. */
  source: string;
  version: number;
  rows: number;
  /** Rows that are added at once; a whole number of them is there, or all. */
  chunkRows: number;
  state: 'staged' | 'copying' | 'finished';
};

export const sourceId = (catalog: Identity, path: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([catalog, path]))
    .digest('hex')
    .slice(0, 32);

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/** The mark of a table; `undefined` for one that is no copy of ours. */
export function readMark(schema: Schema): CopyMark | undefined {
  const text = schema.metadata.get(markKey);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { source, version, rows, chunkRows, state } = value;
  if (typeof source !== 'string' || !isCount(version) || !isCount(rows) || !isCount(chunkRows)) return undefined;
  if (chunkRows === 0) return undefined;
  if (state !== 'staged' && state !== 'copying' && state !== 'finished') return undefined;
  return { source, version, rows, chunkRows, state };
}

export const writeMark = (mark: CopyMark): string => JSON.stringify(mark);

/** A schema with another mark, or without one. */
export function withMark(schema: Schema, mark?: CopyMark): Schema {
  const metadata = new Map(schema.metadata);
  metadata.delete(markKey);
  if (mark) metadata.set(markKey, writeMark(mark));
  return new Schema(schema.fields, metadata);
}

const suffix = '.copying';
const longest = 128;

/** Where a copy grows before it gets its name. Long names are shortened, with a hash that keeps them apart. */
export function stagingName(name: string): string {
  if (name.length + suffix.length <= longest) return name + suffix;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 16);
  return `${name.slice(0, longest - suffix.length - hash.length - 1)}.${hash}${suffix}`;
}

/** Whether what a mark says of a table of this name is that some of its rows are missing. */
export const isUnfinished = (mark: CopyMark, name: string): boolean =>
  mark.state === 'copying' || (mark.state === 'staged' && name.endsWith(suffix));

/** A table's path as people write it. */
export const displayTable = (path: readonly string[]): string => displayPath(path.slice(0, -1), path.at(-1));

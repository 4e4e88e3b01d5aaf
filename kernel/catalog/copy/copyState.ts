import { createHash } from 'node:crypto';
import { Schema } from '#arrow';
import { isCount, isString, oneOf, shapeFor } from '#shared/shape.ts';
import { displayPath } from '#shared/names.ts';
import type { Identity } from '#catalog/identity.ts';

/**
 * Key in a table's schema metadata for the source of the copy. The entry is written in the same step as the table, so
 * each copy has the entry.
 */
export const markKey = 'lance-catalog.copy';

/**
 * The source of a copied table, and whether the copy is complete. `staged`: the copy is unfinished while it has the
 * staging name, and complete under any other name, because the rename is the last step. `copying`: the copy is
 * unfinished under every name.
 */
export type CopyState = {
  /** Identifies the source without revealing its location, because other users may see the mark. */
  source: string;
  version: number;
  rows: number;
  /** Rows per chunk. At any time the copy has a whole number of chunks, or all rows. */
  chunkRows: number;
  state: 'staged' | 'copying' | 'finished';
};

export const sourceId = (catalog: Identity, path: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([catalog, path]))
    .digest('hex')
    .slice(0, 32);

const isMark = shapeFor<CopyState>({
  source: isString,
  version: isCount,
  rows: isCount,
  chunkRows: isCount,
  state: oneOf('staged', 'copying', 'finished'),
});

/** Returns the mark of a table; `undefined` if the table is not a copy. */
export function readMark(schema: Schema): CopyState | undefined {
  const text = schema.metadata.get(markKey);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isMark(value) || value.chunkRows === 0) return undefined;
  const { source, version, rows, chunkRows, state } = value;
  return { source, version, rows, chunkRows, state };
}

export const writeMark = (mark: CopyState): string => JSON.stringify(mark);

export function withMark(schema: Schema, mark?: CopyState): Schema {
  const metadata = new Map(schema.metadata);
  metadata.delete(markKey);
  if (mark) metadata.set(markKey, writeMark(mark));
  return new Schema(schema.fields, metadata);
}

const suffix = '.copying';
const longest = 128;

/**
 * Returns the name that a copy has until it is complete. Long names are shortened, with a hash that keeps them
 * distinct.
 */
export function stagingName(name: string): string {
  if (name.length + suffix.length <= longest) return name + suffix;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 16);
  return `${name.slice(0, longest - suffix.length - hash.length - 1)}.${hash}${suffix}`;
}

/** Whether the mark of a table with this name means that some of its rows are missing. */
export const isUnfinished = (mark: CopyState, name: string): boolean =>
  mark.state === 'copying' || (mark.state === 'staged' && name.endsWith(suffix));

export const displayTable = (path: readonly string[]): string => displayPath(path.slice(0, -1), path.at(-1));

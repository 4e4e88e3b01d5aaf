import { randomUUID } from 'node:crypto';
import type { Schema } from '#arrow';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import type { CallOptions } from '#catalog/arguments/options.ts';
import type { Catalog } from '#catalog/catalog.ts';
import { displayTable, isUnfinished, markKey, readMark, stagingName, writeMark, type CopyState } from './copyState.ts';
import { checksumOf } from './copyRows.ts';
import type { Identity } from '#catalog/identity.ts';
import type { Table } from '#catalog/table.ts';

/** The path of a table in a catalog; the table need not exist. */
export type TablePlace = { catalog: Catalog; path: readonly string[] };

/** The source of a copy, and the identity of its catalog. */
export type CopySource = TablePlace & { identity: Identity };

export type TableState = { table: Table; mark: CopyState | undefined; rows: number };

/** What the target supports of the operations that make a copy resumable. */
export type CopyStrategy = { renames: boolean; marks: boolean };

export const tableName = ({ path }: TablePlace): string => path.at(-1) ?? '';
const namespaceOf = ({ path }: TablePlace): readonly string[] => path.slice(0, -1);

export const openTargetTable = (
  place: TablePlace,
  options: CallOptions & { version?: number | undefined },
): Promise<Table> => place.catalog.openTable(tableName(place), namespaceOf(place), options);

export const dropPlace = (place: TablePlace, options: CallOptions): Promise<void> =>
  place.catalog.dropTable(tableName(place), namespaceOf(place), options);

/** Returns where a copy is built before it gets its name. */
export const stagingTable = (place: TablePlace): TablePlace => ({
  ...place,
  path: [...namespaceOf(place), stagingName(tableName(place))],
});

export async function readCopyState(place: TablePlace, options: CallOptions): Promise<TableState | undefined> {
  try {
    const table = await openTargetTable(place, options);
    const schema = await table.schema(options);
    return { table, mark: readMark(schema), rows: await table.countRows(undefined, options) };
  } catch (error) {
    if (isCatalogError(error, 'TableNotFound')) return undefined;
    throw error;
  }
}

export async function copyStrategy(place: TablePlace, options: CallOptions): Promise<CopyStrategy> {
  const can = await place.catalog.capabilities({ ...options, probe: ['UpdateTableSchemaMetadata'] });
  return { renames: await canRename(place, options), marks: can.UpdateTableSchemaMetadata === 'yes' };
}

/**
 * Checks whether tables can be renamed in this namespace; in some catalogs namespaces differ in this. The test
 * renames a table with a random name that can't exist: TableNotFound means that a rename would have worked.
 */
async function canRename(place: TablePlace, options: CallOptions): Promise<boolean> {
  const name = randomUUID();
  try {
    await place.catalog.renameTable(stagingName(name), name, namespaceOf(place), options);
    return false;
  } catch (error) {
    if (isCatalogError(error, 'TableNotFound')) return true;
    if (isCatalogError(error, 'Unsupported')) return false;
    throw error;
  }
}

/**
 * Returns whether a finished copy has the rows of this version of its source. Compares all rows: mark and row count
 * do not reveal a source that was dropped and recreated, or a copy that was changed since.
 */
export async function isCopyOf(
  { table, mark, rows }: TableState,
  source: Table,
  version: number,
  options: CallOptions,
): Promise<boolean> {
  if (mark?.version !== version || mark.rows !== rows) return false;
  const all = { start: 0, count: rows };
  return (await checksumOf(source, all, options)) === (await checksumOf(table, all, options));
}

type Finish = {
  made: Table;
  mark: CopyState;
  place: TablePlace;
  target: TablePlace;
  way: CopyStrategy;
  /** Whether the copy replaces an existing table. */
  replaces: boolean;
};

/** Marks a copy as complete and gives it its name. */
export async function publishCopy(
  { made, mark, place, target, way, replaces }: Finish,
  options: CallOptions,
): Promise<void> {
  if (way.marks) {
    const finished: CopyState = { ...mark, state: 'finished' };
    await made.updateSchemaMetadata({ [markKey]: writeMark(finished) }, options).catch((error: unknown) => {
      // If the target can't store the mark, the rename alone marks the copy as complete. Any other failure fails the
      // copy.
      if (!way.renames || !isCatalogError(error, 'Unsupported')) throw error;
    });
  }
  if (!way.renames) return;
  // Between these calls neither table exists. If the copy stops here, the next try finds the complete rows and
  // renames them.
  if (replaces) await dropPlace(target, options);
  await target.catalog.renameTable(tableName(place), tableName(target), namespaceOf(target), options);
}

/** @throws CatalogError InvalidTableState (19) if the source table is an unfinished copy */
export function checkWhole(place: TablePlace, schema: Schema): void {
  const mark = readMark(schema);
  if (!mark || !isUnfinished(mark, tableName(place))) return;
  throw new CatalogError(
    'InvalidTableState',
    `Table "${displayTable(place.path)}" is an unfinished copy.`,
    'Copy it again from its source, or drop it.',
    { identifier: displayTable(place.path) },
  );
}

export function alreadyThere(place: TablePlace, isOurs: boolean): CatalogError {
  const shown = displayTable(place.path);
  const what = isOurs ? 'and is a copy of another version, or was changed since' : 'and is not a copy of this table';
  return new CatalogError(
    'TableAlreadyExists',
    `Table "${shown}" already exists ${what}.`,
    'Copy with overwrite (--overwrite on the command line) to replace it, or choose another name.',
    { identifier: shown },
  );
}

export function conflictingTableError(place: TablePlace): CatalogError {
  const shown = displayTable(place.path);
  return new CatalogError(
    'TableAlreadyExists',
    `Can't use "${shown}" for the unfinished copy: a table that is not a copy has this name.`,
    'Rename or drop it.',
    { identifier: shown },
  );
}

import { Field, Int32, Schema } from '#arrow';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import type { CallOptions } from '#catalog/arguments/options.ts';
import type { Catalog } from '#catalog/catalog.ts';
import {
  type CopyState,
  displayTable,
  isUnfinished,
  markKey,
  readMark,
  stagingName,
  withMark,
  writeMark,
} from './copyState.ts';
import { checksumOf } from './copyRows.ts';
import type { Identity } from '#catalog/identity.ts';
import type { Table } from '#catalog/table/table.ts';

/** The path of a table in a catalog; the table need not exist. */
export type TablePlace = { catalog: Catalog; path: readonly string[] };

/** The source of a copy, with the identity of the catalog. */
export type CopySource = TablePlace & { identity: Identity };

export type TableState = { table: Table; mark: CopyState | undefined; rows: number };

/** Which of the operations that make a copy resumable the target supports. */
export type CopyStrategy = {
  renames: boolean;
  marks: boolean;
  /** Messages about trial tables that could not be removed from the target. */
  warnings: readonly string[];
};

export const tableName = ({ path }: TablePlace): string => path.at(-1) ?? '';
const namespaceOf = ({ path }: TablePlace): readonly string[] => path.slice(0, -1);

export const openTargetTable = (
  place: TablePlace,
  options: CallOptions & { version?: number | undefined },
): Promise<Table> => place.catalog.openTable(tableName(place), namespaceOf(place), options);

export const dropPlace = (place: TablePlace, options: CallOptions): Promise<void> =>
  place.catalog.dropTable(tableName(place), namespaceOf(place), options);

/** Returns the staging table of a copy: the copy has this name until it is complete. */
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

const trialMark: CopyState = { source: 'trial', version: 1, rows: 1, chunkRows: 1, state: 'staged' };

/**
 * Finds out what the target supports by trying the operations on a separate empty table. A request about a random name
 * is not enough, because a careless server may report success without renaming anything. Then the copy would drop the
 * table that it replaces, but the rename would never happen. The trial table is marked as an unfinished copy, so that
 * it is not mistaken for data if this process is killed here; the next copy to the same name removes it.
 */
export async function learnStrategy(place: TablePlace, { signal }: CallOptions): Promise<CopyStrategy> {
  const { catalog } = place;
  const namespacePath = namespaceOf(place);
  const known = await catalog.capabilities({ signal });
  // The trial names have the characters of the table's name, because a server may support renaming only for certain
  // names.
  const [first, second] = [trialTable(place, 'trial'), trialTable(place, 'renamed')];
  const schema = withMark(new Schema([new Field('trial', new Int32(), true)]), trialMark);
  const make = () => catalog.createEmptyTable(tableName(first), schema, namespacePath, { signal });
  const made = await againWithout(first, make, { signal });
  const left = new Set([first]);
  const warnings: string[] = [];
  let can: Pick<CopyStrategy, 'marks' | 'renames'>;
  try {
    const mark = () => made.updateSchemaMetadata({ [markKey]: writeMark(trialMark) }, { signal });
    const marks = known.UpdateTableSchemaMetadata === 'yes' || (await isSupported(mark));
    const rename = () => catalog.renameTable(tableName(first), tableName(second), namespacePath, { signal });
    const accepts = known.RenameTable !== 'no' && (await isSupported(() => againWithout(second, rename, { signal })));
    if (accepts) left.add(second);
    // Checks the result of the rename, because some servers report success for requests that they do not support.
    const renames = accepts && (await catalog.tableExists(tableName(second), namespacePath, { signal }));
    if (renames) left.delete(first);
    can = { renames, marks };
  } finally {
    // Without the signal, so that trial tables are removed even if the call was cancelled.
    for (const table of left) {
      await dropPlace(table, {}).catch((error: unknown) => {
        if (isCatalogError(error, 'TableNotFound')) return;
        const reason = isCatalogError(error) ? error.what : String(error);
        warnings.push(
          `Can't drop the empty table "${displayTable(table.path)}" that was created to test what the target supports: ${reason}`,
        );
      });
    }
  }
  return { ...can, warnings };
}

const trialTable = (place: TablePlace, use: string): TablePlace => ({
  ...place,
  path: [...namespaceOf(place), stagingName(`${tableName(place)}.${use}`)],
});

/**
 * Runs `make`, which creates a table of this name or renames a table to it. If a killed copy left a trial table of this
 * name, drops that table and runs `make` again.
 */
async function againWithout<T>(table: TablePlace, make: () => Promise<T>, options: CallOptions): Promise<T> {
  try {
    return await make();
  } catch (error) {
    if (!isCatalogError(error, 'TableAlreadyExists')) throw error;
    const there = await readCopyState(table, options);
    if (there !== undefined && there.mark?.source !== trialMark.source) throw conflictingTableError(table);
    if (there !== undefined) await dropPlace(table, options);
    return await make();
  }
}

async function isSupported(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    if (isCatalogError(error, 'Unsupported')) return false;
    throw error;
  }
}

/**
 * The strategy for each namespace of one copy, because the namespaces of a catalog may support different operations.
 */
export class CopyStrategies {
  readonly #known = new Map<string, CopyStrategy>();

  /**
   * @param replaces whether the copy drops an existing table. If so, the operations are tried again, even if they are
   * known from another table of the namespace
   */
  async of(place: TablePlace, replaces: boolean, options: CallOptions): Promise<CopyStrategy> {
    const key = JSON.stringify(namespaceOf(place));
    const known = replaces ? undefined : this.#known.get(key);
    if (known !== undefined) return known;
    const learned = await learnStrategy(place, options);
    this.#known.set(key, { ...learned, warnings: [] });
    return learned;
  }
}

/**
 * Returns whether a finished copy has the rows of this version of its source. Compares all rows, because the mark and
 * the row count do not show that the source was dropped and recreated, or that the copy was changed since.
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
  // Between `dropPlace` and the rename neither table exists. If the copy stops in between, the next try finds the
  // complete rows under the staging name and renames them.
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

import type { Connection, Table as NativeTable } from '@lancedb/lancedb';
import type { RecordBatch, Schema, Table as ArrowTable } from '#arrow';
import { checkTimeZones } from '#catalog/arrow/unstorableTypes.ts';
import type { CreateMode } from '#catalog/arguments/options.ts';
import { batchesOf } from '#catalog/arrow/batchSource.ts';
import type { BatchStream } from '#catalog/query/querySpec.ts';
import type { TableSource } from '#catalog/table/tableData.ts';
import { withAbort, bufferRows, type BufferedRows } from '#engine/batches/bufferedRows.ts';
import { engineError, tableSubject } from '#engine/errors/engineErrors.ts';
import { cancellable } from '#processes/calls.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { displayPath, type NamespacePath } from '#shared/names.ts';
import { datasetName, withDataset } from './dataset.ts';
import type { Root } from './dirConnection.ts';
import { dropTable } from './dirDrop.ts';
import { addGathered, rollBackTo } from './dirWrites.ts';
import { removeEmptyFolder, rootFolder } from './files/folders.ts';
import { entryOf, objectId } from './files/manifestTable.ts';
import { checkNoNamespace } from './nameConflicts.ts';
import { tableAlreadyExists, createStagedTable } from './files/staging.ts';
import { declaredLocation } from './files/tableLocation.ts';

export type NewTable = {
  /** The public call, for errors. */
  call: string;
  name: string;
  path: NamespacePath;
  data: TableSource;
  schema: Schema | undefined;
  mode: CreateMode;
  signal: AbortSignal | undefined;
};

/**
 * Creates a table ("CreateTable"), completely or not at all. If an existing table is kept, the rows are not read.
 * @throws CatalogError TableAlreadyExists (5), also for `exist_ok`; InvalidTableState (19) if the existing table is
 * broken
 */
export async function create(place: Root, connection: Connection, table: NewTable): Promise<void> {
  const { call, name, path, data, schema, mode, signal } = table;
  const state = await stateOf(connection, name, path);
  if (state === 'unreadable') {
    const declared = await declaredLocation(place, { name, path });
    if (declared === undefined && mode !== 'overwrite') throw broken(name, path);
    if (place.isLocal) {
      const source = await openSource(table);
      // A broken table is dropped only when all rows have arrived.
      const clear = () => dropTable(place, connection, { name, path });
      const inPlaceOf = declared === undefined ? { clear } : { declared };
      return createStagedTable(place, name, path, source.schema, withAbort(source.batches, signal), inPlaceOf);
    }
  }
  if (state === 'missing') await checkNoNamespace(place, name, path);
  // An empty folder of the name is not a table, but it would keep the table from being moved there.
  if (state === 'missing' && place.isLocal && path.length === 0) await removeEmptyFolder(place.location, name);
  if (state === 'missing' && (place.isLocal || path.length > 0)) {
    const source = await openSource(table);
    return createStagedTable(place, name, path, source.schema, withAbort(source.batches, signal));
  }
  if (state === 'readable' && mode !== 'overwrite') throw tableAlreadyExists(name, path);
  const rows = await bufferRows(call, data, schema, signal);
  try {
    checkTimeZones(rows.schema.fields);
    if (state === 'readable') await replace(connection, name, path, rows);
    else if (state === 'missing') await createAtName(place, connection, name, rows);
    else if (rows.table || path.length === 0) await createInPlace(connection, name, path, rows, mode);
    else await createAside(place, name, path, rows);
  } finally {
    await rows.dispose();
  }
}

/** Opens the batches of a new table. */
async function openSource({ call, data, schema, signal }: NewTable): Promise<BatchStream> {
  const source = await cancellable(batchesOf(call, data, schema), signal);
  try {
    checkTimeZones(source.schema.fields);
  } catch (error) {
    await source.close();
    throw error;
  }
  return source;
}

type State = 'readable' | 'missing' | 'unreadable';

/** Returns the state of a table. `unreadable` means that the table is broken, or declared and not yet written. */
async function stateOf(connection: Connection, name: string, path: NamespacePath): Promise<State> {
  try {
    (await connection.openTable(name, [...path])).close();
    return 'readable';
  } catch (error) {
    const told = engineError(error, tableSubject(name, path));
    if (isCatalogError(told, 'TableNotFound')) return 'missing';
    if (isCatalogError(told, 'InvalidTableState')) return 'unreadable';
    throw told;
  }
}

const broken = (name: string, path: NamespacePath): CatalogError =>
  new CatalogError(
    'InvalidTableState',
    `Can't create table "${displayPath(path, name)}": it already exists and can't be read.`,
    'Restore its files, drop it, or pass mode: "overwrite" to replace it.',
  );

/** Replaces the rows and columns of a table. The table keeps its versions. */
async function replace(connection: Connection, name: string, path: NamespacePath, rows: BufferedRows): Promise<void> {
  if (rows.table?.numRows === 0) {
    (await connection.createEmptyTable(name, rows.schema, [...path], { mode: 'overwrite' })).close();
    return;
  }
  const native = await connection.openTable(name, [...path]);
  try {
    await addGathered(native, rows, 'overwrite', (work) => work(native));
  } finally {
    native.close();
  }
}

/**
 * Creates a table in the root of an object store. A store can't rename, so the table is written at its final location.
 * If two clients create the table at once, the engine accepts both, and the rows of the second become version 2. The
 * second client detects this, restores the rows of the first, and reports that the table exists.
 */
async function createAtName(place: Root, connection: Connection, name: string, rows: BufferedRows): Promise<void> {
  let isOurs = false;
  try {
    await withDataset(place, rootFolder(name), async (dataset) => {
      let native: NativeTable | undefined;
      for await (const part of rows.tables()) {
        if (native) await native.add(part);
        else {
          native = await firstPart(dataset, part);
          if (!(await isFirst(native))) throw tableAlreadyExists(name, []);
          isOurs = true;
          // A namespace of this name may have been created meanwhile.
          await checkNoNamespace(place, name, []);
        }
      }
      native?.close();
    });
  } catch (error) {
    // An error of the cleanup is ignored, because the reason for the failure matters more.
    if (isOurs) await dropTable(place, connection, { name, path: [] }).catch(() => undefined);
    // This conflict means that another client has written the first version.
    else if (isCatalogError(engineError(error, tableSubject(name, [])), 'ConcurrentModification'))
      throw tableAlreadyExists(name, []);
    throw error;
  }
}

const firstPart = (dataset: Connection, part: ArrowTable): Promise<NativeTable> =>
  part.numRows > 0 ? dataset.createTable(datasetName, part) : dataset.createEmptyTable(datasetName, part.schema);

/**
 * Returns whether the caller has created the table, which is true if the table is at version 1. Otherwise restores the
 * content that the table had before the caller wrote to it.
 */
export async function isFirst(native: NativeTable): Promise<boolean> {
  const own = await native.version();
  if (own === 1) return true;
  await rollBackTo(native, own - 1, own);
  return false;
}

/** Creates a table in an object store from rows that the engine would write in several visible parts. */
async function createAside(place: Root, name: string, path: NamespacePath, rows: BufferedRows): Promise<void> {
  const listedAt = (await entryOf(place, objectId(name, path)))?.location;
  await createStagedTable(place, name, path, rows.schema, rowsOf(rows), listedAt === undefined ? {} : { listedAt });
}

async function* rowsOf(rows: BufferedRows): AsyncGenerator<RecordBatch> {
  for await (const part of rows.tables()) yield* part.batches;
}

/** Lets the engine write a table at its existing location in an object store: a declared or broken table. */
async function createInPlace(
  connection: Connection,
  name: string,
  path: NamespacePath,
  rows: BufferedRows,
  mode: CreateMode,
): Promise<void> {
  const engineMode = { mode: mode === 'overwrite' ? mode : 'create' } as const;
  let native;
  for await (const part of rows.tables()) {
    if (native) await native.add(part);
    else if (part.numRows === 0) native = await connection.createEmptyTable(name, rows.schema, [...path], engineMode);
    else native = await connection.createTable(name, part, [...path], engineMode);
  }
  native?.close();
}

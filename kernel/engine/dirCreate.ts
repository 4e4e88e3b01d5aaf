import type { Connection } from '@lancedb/lancedb';
import type { Schema } from '#arrow';
import { isCatalogError } from '#shared/errors.ts';
import type { NamespacePath } from '#shared/names.ts';
import { batchesOf } from '#client/batchSource.ts';
import { cancellable } from '#client/calls.ts';
import type { CreateMode } from '#client/catalog.ts';
import type { TableSource } from '#client/tableSource.ts';
import type { Place } from './dirConnection.ts';
import { addGathered } from './dirWrites.ts';
import { engineError, tableSubject } from './engineErrors.ts';
import { abortable, gather, type Gathered } from './gathered.ts';
import { alreadyThere, makeTable } from './staging.ts';

export type NewTable = {
  /** The call that it was given to, for errors. */
  call: string;
  name: string;
  path: NamespacePath;
  data: TableSource;
  schema: Schema | undefined;
  mode: CreateMode;
  signal: AbortSignal | undefined;
};

/**
 * Makes a table ("CreateTable"): whole, or not at all. Rows are not looked at where a table is there that stays.
 * @throws CatalogError TableAlreadyExists (5), also for `exist_ok`
 */
export async function create(place: Place, connection: Connection, table: NewTable): Promise<void> {
  const { call, name, path, data, schema, mode, signal } = table;
  const state = await stateOf(connection, name, path);
  if (state === 'missing' && (place.isLocal || path.length > 0)) {
    const source = await cancellable(batchesOf(call, data, schema), signal);
    return makeTable(place, name, path, source.schema, abortable(source.batches, signal));
  }
  if (state === 'readable' && mode !== 'overwrite') throw alreadyThere(name, path);
  const rows = await gather(call, data, schema, signal);
  try {
    if (state === 'readable') await replace(connection, name, path, rows);
    else await createInPlace(connection, name, path, rows, mode, state === 'missing');
  } finally {
    await rows.dispose();
  }
}

type State = 'readable' | 'missing' | 'unreadable';

/** `unreadable`: broken, or its name is taken by a declaration and nothing is written yet. */
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

/** New rows and columns in the place of those of a table, which keeps its versions. */
async function replace(connection: Connection, name: string, path: NamespacePath, rows: Gathered): Promise<void> {
  if (rows.table?.numRows === 0) {
    (await connection.createEmptyTable(name, rows.schema, [...path], { mode: 'overwrite' })).close();
    return;
  }
  const native = await connection.openTable(name, [...path]);
  try {
    await addGathered(native, rows, 'overwrite');
  } finally {
    native.close();
  }
}

/**
 * Lets the engine make the table where it has to be: one that is declared has its place already, and in the root of an
 * object store, where nothing can be renamed, a table is where its name says.
 */
async function createInPlace(
  connection: Connection,
  name: string,
  path: NamespacePath,
  rows: Gathered,
  mode: CreateMode,
  isNew: boolean,
): Promise<void> {
  const engineMode = { mode: mode === 'overwrite' ? mode : 'create' } as const;
  try {
    let native;
    for await (const part of rows.tables()) {
      if (native) await native.add(part);
      else if (part.numRows === 0) native = await connection.createEmptyTable(name, rows.schema, [...path], engineMode);
      else native = await connection.createTable(name, part, [...path], engineMode);
    }
    native?.close();
  } catch (error) {
    // Why it was not made matters more than that it was not tidied up.
    if (isNew && !isCatalogError(engineError(error, tableSubject(name, path)), 'TableAlreadyExists')) {
      await connection.dropTable(name, [...path]).catch(() => undefined);
    }
    throw error;
  }
}

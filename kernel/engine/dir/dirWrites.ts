import type { Table as NativeTable } from '@lancedb/lancedb';
import type { Table as ArrowTable } from '#arrow';
import { type CallOptions, checkChoice, checkOptions } from '#catalog/arguments/options.ts';
import { checkFits, updateEntries } from '#catalog/arguments/updateEntries.ts';
import { lettingGo } from '#catalog/arrow/batchSource.ts';
import { mergeSchema, type MergeSpec } from '#catalog/mergeInsert.ts';
import { checkFilter } from '#catalog/query.ts';
import type { AddOptions, UpdateSpec } from '#catalog/table.ts';
import type { TableSource } from '#catalog/tableData.ts';
import type { InsertResult, MergeResult, UpdateResult, WriteResult } from '#catalog/writeResults.ts';
import { gather, type Gathered, whole } from '#engine/batches/bufferedRows.ts';
import { CatalogError, messageOf } from '#shared/errors.ts';
import { inTurn } from './dirConnection.ts';
import { checkSql } from './sqlLimits.ts';
import type { TableHandle } from './tableHandle.ts';

/**
 * Makes a table what it was at the version `before`, where all versions after it up to `ours` are the caller's and nobody
 * wrote after that. The handle has to be of its own: while this runs it is at an old version.
 * @returns whether it is; else what others have written is there as they left it
 */
export async function takenBack(own: NativeTable, before: number, ours: number): Promise<boolean> {
  try {
    if ((await latest(own)) !== ours) return false;
    const restored = await restoreTo(own, before);
    if (restored === ours + 1) return true;
    // The engine restores whatever was committed meanwhile: then that is the version below, and it has to come back.
    await restoreTo(own, restored - 1);
    return false;
  } finally {
    await own.checkoutLatest();
  }
}

async function restoreTo(own: NativeTable, version: number): Promise<number> {
  await own.checkout(version);
  await own.restore();
  return own.version();
}

async function latest(own: NativeTable): Promise<number> {
  await own.checkoutLatest();
  return own.version();
}

/** Adds rows, or puts them in the place of all ("InsertIntoTable"). */
export function addRows(handle: TableHandle, data: TableSource, options: AddOptions): Promise<InsertResult> {
  return handle.during('InsertIntoTable', () =>
    lettingGo(data, async () => {
      checkOptions('add', options, ['mode', 'signal']);
      const mode = checkChoice('add', 'mode', options.mode, ['append', 'overwrite']) ?? 'append';
      handle.checkWritable();
      const schema = Array.isArray(data)
        ? await handle.read('InsertIntoTable', options, (native) => native.schema())
        : undefined;
      const rows = await gather('add', data, schema, options.signal);
      try {
        return await handle.write('InsertIntoTable', options, (native) =>
          addGathered(native, rows, mode, (work) => handle.apart('InsertIntoTable', {}, {}, work)),
        );
      } finally {
        await rows.dispose();
      }
    }),
  );
}

/** Runs a call on a handle of the same table that nobody else uses. */
type Apart = (work: (own: NativeTable) => Promise<boolean>) => Promise<boolean>;

/** Puts rows into a table: in one version where they are a table, else in several. */
export const addGathered = (
  native: NativeTable,
  rows: Pick<Gathered, 'table' | 'tables'>,
  mode: 'append' | 'overwrite',
  apart: Apart,
): Promise<InsertResult> =>
  rows.table ? addTable(native, rows.table, mode) : addInParts(native, rows.tables(), mode, apart);

async function addTable(native: NativeTable, table: ArrowTable, mode: 'append' | 'overwrite'): Promise<InsertResult> {
  // The engine refuses a table without rows; adding none changes nothing.
  if (table.numRows === 0 && mode === 'append') return { version: await native.version(), numInsertedRows: 0 };
  const { version } = await native.add(table, { mode });
  return { version, numInsertedRows: table.numRows };
}

/** Adds tables one after the other; when one fails, those before it are taken back, if nobody else wrote meanwhile. */
async function addInParts(
  native: NativeTable,
  tables: AsyncIterable<ArrowTable>,
  mode: 'append' | 'overwrite',
  apart: Apart,
): Promise<InsertResult> {
  const before = await native.version();
  let version = before;
  let parts = 0;
  let numInsertedRows = 0;
  try {
    for await (const table of tables) {
      ({ version } = await native.add(table, { mode: parts === 0 ? mode : 'append' }));
      parts++;
      numInsertedRows += table.numRows;
    }
  } catch (error) {
    if (parts === 0) throw error;
    // Others may have written between the parts too.
    const isOurs = version === before + parts;
    if (isOurs && (await apart((own) => takenBack(own, before, version)).catch(() => false))) throw error;
    throw new CatalogError(
      'InvalidTableState',
      `The first ${numInsertedRows} rows were added and the others not: ${messageOf(error)}; they can't be taken back, since others may have written.`,
      `Look at the versions after ${before}, the one before.`,
      { cause: error },
    );
  }
  return { version, numInsertedRows };
}

/** Merges rows into the table ("MergeInsertIntoTable"). A merge looks at all new rows together, so they are in memory. */
export async function mergeRows(
  handle: TableHandle,
  spec: MergeSpec,
  data: TableSource,
  options: CallOptions,
): Promise<MergeResult> {
  return handle.during('MergeInsertIntoTable', () =>
    lettingGo(data, async () => {
      handle.checkWritable();
      checkSql(spec.whenMatchedUpdateAllFilter ?? '');
      checkSql(spec.whenNotMatchedBySourceDeleteFilter ?? '');
      const schema = Array.isArray(data)
        ? mergeSchema(spec, data, await handle.read('MergeInsertIntoTable', options, (native) => native.schema()))
        : undefined;
      const rows = await whole('mergeInsert', data, schema, options.signal);
      // Two merges that add rows of the same new key at once do not conflict for the engine, and both rows would stay.
      const table = JSON.stringify(['merge', handle.place.location, ...handle.namespacePath, handle.name]);
      return inTurn(table, () => handle.write('MergeInsertIntoTable', options, (native) => merge(native, spec, rows)));
    }),
  );
}

async function merge(native: NativeTable, spec: MergeSpec, rows: ArrowTable): Promise<MergeResult> {
  let step = native.mergeInsert([...spec.on]);
  if (spec.whenMatchedUpdateAll) {
    const where = spec.whenMatchedUpdateAllFilter;
    step = step.whenMatchedUpdateAll(where === undefined ? undefined : { where });
  }
  if (spec.whenNotMatchedInsertAll) step = step.whenNotMatchedInsertAll();
  if (spec.whenNotMatchedBySourceDelete) {
    const where = spec.whenNotMatchedBySourceDeleteFilter;
    step = step.whenNotMatchedBySourceDelete(where === undefined ? undefined : { where });
  }
  const { version, numInsertedRows, numUpdatedRows, numDeletedRows } = await step.execute(rows);
  return { version, numInsertedRows, numUpdatedRows, numDeletedRows };
}

/** Changes rows in place ("UpdateTable"). */
export async function updateRows(handle: TableHandle, spec: UpdateSpec, options: CallOptions): Promise<UpdateResult> {
  return handle.write(
    'UpdateTable',
    options,
    async (native) => {
      checkOptions('update', options, ['signal']);
      const valuesSql = new Map(updateEntries(spec));
      for (const sql of [...valuesSql.values(), spec.where ?? '']) checkSql(sql);
      await checkFits(spec, () => native.schema());
      const { rowsUpdated, version } = await native.update({
        valuesSql,
        ...(spec.where !== undefined && { where: spec.where }),
      });
      return { version, numUpdatedRows: rowsUpdated };
    },
    spec?.where,
  );
}

/** Deletes the rows for which the SQL holds ("DeleteFromTable"). */
export async function deleteRows(handle: TableHandle, predicate: string, options: CallOptions): Promise<WriteResult> {
  return handle.write(
    'DeleteFromTable',
    options,
    async (native) => {
      checkOptions('delete', options, ['signal']);
      checkFilter(predicate);
      checkSql(predicate);
      const { version } = await native.delete(predicate);
      return { version };
    },
    predicate,
  );
}

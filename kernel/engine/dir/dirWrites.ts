import type { Table as NativeTable } from '@lancedb/lancedb';
import type { Table as ArrowTable } from '#arrow';
import { checkTimeZones } from '#catalog/arrow/unstorableTypes.ts';
import { type CallOptions, checkChoice, checkOptions } from '#catalog/arguments/options.ts';
import { updateArguments, updateEntries } from '#catalog/arguments/updateEntries.ts';
import { closeSourceAfter } from '#catalog/arrow/batchSource.ts';
import { namedMergeResult, namedUpdateResult } from '#catalog/lancedb/resultNames.ts';
import { mergeSchema, type MergeSpec } from '#catalog/table/mergeInsert.ts';
import { checkFilter } from '#catalog/query/query.ts';
import type { AddOptions, ColumnsSql, UpdateOptions, UpdateSpec } from '#catalog/table/table.ts';
import type { TableSource } from '#catalog/table/tableData.ts';
import type { DeleteResult, InsertResult, MergeResult, UpdateResult } from '#catalog/table/writeResults.ts';
import { bufferRows, type BufferedRows, readAllRows } from '#engine/batches/bufferedRows.ts';
import { CatalogError, messageOf } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import { checkCasts } from './checkCasts.ts';
import { runExclusive } from './dirConnection.ts';
import { checkSql } from './checkSql.ts';
import type { TableHandle } from './tableHandle.ts';

/**
 * Reverts a table to the version `before`, if its newest version is `ours`. The caller must have written all versions
 * after `before`, because only the newest version is checked. The handle must not be shared, because it is temporarily
 * at an old version.
 * @returns whether the table was reverted. If not, the writes of other clients are unchanged
 */
export async function rollBackTo(own: NativeTable, before: number, ours: number): Promise<boolean> {
  try {
    if ((await latest(own)) !== ours) return false;
    const restored = await restoreTo(own, before);
    if (restored === ours + 1) return true;
    // Another client has committed a version just before the restore. That version is restored.
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

/** Appends rows, or replaces all rows ("InsertIntoTable"). */
export function addRows(handle: TableHandle, data: TableSource, options: AddOptions): Promise<InsertResult> {
  return handle.during('InsertIntoTable', () =>
    closeSourceAfter(data, async () => {
      checkOptions('add', options, ['mode', 'signal']);
      const mode = checkChoice('add', 'mode', options.mode, ['append', 'overwrite']) ?? 'append';
      handle.checkWritable();
      const schema = Array.isArray(data)
        ? await handle.read('InsertIntoTable', options, (native) => native.schema())
        : undefined;
      const rows = await bufferRows('add', data, schema, options.signal);
      try {
        if (mode === 'overwrite') checkTimeZones(rows.schema.fields);
        return await handle.write('InsertIntoTable', options, (native) =>
          addGathered(native, rows, mode, (work) => handle.apart('InsertIntoTable', {}, {}, work)),
        );
      } finally {
        await rows.dispose();
      }
    }),
  );
}

/** Runs a call on a separate handle of the same table. */
type Apart = (work: (own: NativeTable) => Promise<boolean>) => Promise<boolean>;

/** Adds rows to a table. Rows in a single Arrow table become one version; otherwise each part becomes a version. */
export const addGathered = (
  native: NativeTable,
  rows: Pick<BufferedRows, 'table' | 'tables'>,
  mode: 'append' | 'overwrite',
  apart: Apart,
): Promise<InsertResult> =>
  rows.table ? addTable(native, rows.table, mode) : addInParts(native, rows.tables(), mode, apart);

async function addTable(native: NativeTable, table: ArrowTable, mode: 'append' | 'overwrite'): Promise<InsertResult> {
  // Nothing is added if there are no rows, because the engine refuses a table without rows.
  if (table.numRows === 0 && mode === 'append') return { version: await native.version(), numInsertedRows: 0 };
  if (mode === 'append') checkCasts(table, await native.schema());
  const { version } = await native.add(table, { mode });
  return { version, numInsertedRows: table.numRows };
}

/**
 * Adds tables one after another. If one fails, the earlier ones are reverted, unless another client wrote meanwhile.
 */
async function addInParts(
  native: NativeTable,
  tables: AsyncIterable<ArrowTable>,
  mode: 'append' | 'overwrite',
  apart: Apart,
): Promise<InsertResult> {
  const before = await native.version();
  const columns = mode === 'append' ? await native.schema() : undefined;
  let version = before;
  let parts = 0;
  let numInsertedRows = 0;
  try {
    for await (const table of tables) {
      if (columns) checkCasts(table, columns, numInsertedRows);
      ({ version } = await native.add(table, { mode: parts === 0 ? mode : 'append' }));
      parts++;
      numInsertedRows += table.numRows;
    }
  } catch (error) {
    if (parts === 0) throw error;
    // Other clients may also have written between the parts.
    const isOurs = version === before + parts;
    if (isOurs && (await apart((own) => rollBackTo(own, before, version)).catch(() => false))) throw error;
    throw new CatalogError(
      'InvalidTableState',
      `Only the first ${numInsertedRows} rows were added: ${messageOf(error).replace(/\.?$/, '.')} They can't be removed, because other clients may have written to the table too.`,
      `Check the versions after ${before}, which was the version before this call.`,
      { cause: error },
    );
  }
  return { version, numInsertedRows };
}

/**
 * Merges rows into the table ("MergeInsertIntoTable"). A merge needs all new rows at once, so they are held in
 * memory.
 */
export async function mergeRows(
  handle: TableHandle,
  spec: MergeSpec,
  data: TableSource,
  options: CallOptions,
): Promise<MergeResult> {
  return handle.during('MergeInsertIntoTable', () =>
    closeSourceAfter(data, async () => {
      handle.checkWritable();
      checkSql(spec.whenMatchedUpdateAllFilter ?? '');
      checkSql(spec.whenNotMatchedBySourceDeleteFilter ?? '');
      const schema = Array.isArray(data)
        ? mergeSchema(spec, data, await handle.read('MergeInsertIntoTable', options, (native) => native.schema()))
        : undefined;
      const rows = await readAllRows('mergeInsert', data, schema, options.signal);
      checkTimeZones(rows.schema.fields);
      // Merges of one table run one after another: if two concurrent merges insert the same new key, the engine detects
      // no conflict, and both rows stay.
      const table = JSON.stringify(['merge', handle.place.location, ...handle.namespacePath, handle.name]);
      return runExclusive(table, () =>
        handle.write('MergeInsertIntoTable', options, (native) => merge(native, spec, rows)),
      );
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
  if (spec.useIndex !== undefined) step = step.useIndex(spec.useIndex);
  const { version, numInsertedRows, numUpdatedRows, numDeletedRows, numAttempts } = await step.execute(rows);
  return namedMergeResult({ version, numInsertedRows, numUpdatedRows, numDeletedRows }, numAttempts);
}

/** Updates rows in place ("UpdateTable"). */
export async function updateRows(
  handle: TableHandle,
  given: UpdateSpec | ColumnsSql,
  options: UpdateOptions,
): Promise<UpdateResult> {
  return handle.write(
    'UpdateTable',
    options,
    async (native) => {
      const spec = updateArguments(given, options);
      const valuesSql = new Map(await updateEntries(spec, () => native.schema()));
      checkSql(...valuesSql.values(), spec.where ?? '');
      const { rowsUpdated, version } = await native.update({
        valuesSql,
        ...(spec.where !== undefined && { where: spec.where }),
      });
      return namedUpdateResult({ version, numUpdatedRows: rowsUpdated });
    },
    filterOf(given, options),
  );
}

/** The condition of an update, for errors. */
const filterOf = (given: UpdateSpec | ColumnsSql, options: UpdateOptions): string | undefined => {
  const where = options?.where ?? (isRecord(given) ? given['where'] : undefined);
  return typeof where === 'string' ? where : undefined;
};

/** Deletes the rows that match the SQL predicate ("DeleteFromTable"). */
export async function deleteRows(handle: TableHandle, predicate: string, options: CallOptions): Promise<DeleteResult> {
  return handle.write(
    'DeleteFromTable',
    options,
    async (native) => {
      checkOptions('delete', options, ['signal']);
      checkFilter(predicate);
      checkSql(predicate);
      const { version, numDeletedRows } = await native.delete(predicate);
      return { version, numDeletedRows };
    },
    predicate,
  );
}

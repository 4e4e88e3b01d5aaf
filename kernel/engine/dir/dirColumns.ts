import type { Table as NativeTable } from '@lancedb/lancedb';
import { DataType, Field } from '#arrow';
import {
  areComputed,
  checkComputedColumns,
  checkFieldMetadata,
  columnChanges,
  newColumns,
} from '#catalog/arguments/columnArguments.ts';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { checkText, checkTexts } from '#catalog/arguments/tableArguments.ts';
import { checkTimeZones, emptyStructError } from '#catalog/arrow/unstorableTypes.ts';
import { nullExpression } from '#catalog/arrow/nullColumns.ts';
import { namedRefreshResult } from '#catalog/lancedb/resultNames.ts';
import type { ColumnChange, ComputedColumns, FieldMetadataUpdate, NewColumns } from '#catalog/table/table.ts';
import type { RefreshResult, WriteResult } from '#catalog/table/writeResults.ts';
import { CatalogError } from '#shared/errors.ts';
import { definedEntries } from '#shared/records.ts';
import { checkSql } from './checkSql.ts';
import type { TableHandle } from './tableHandle.ts';

/** Adds columns whose values are SQL expressions over other columns, or null ("AlterTableAddColumns"). */
export function addColumns(
  handle: TableHandle,
  given: NewColumns | ComputedColumns,
  options: CallOptions,
): Promise<WriteResult> {
  return handle.write('AlterTableAddColumns', options, async (native) => {
    if (areComputed(given)) {
      const computed = checkComputedColumns(given);
      checkSql(...computed.map(({ valueSql }) => valueSql));
      for (const { name, valueSql } of computed) await checkExpression(native, name, valueSql);
      return versionOf(await native.addColumns({ computed }));
    }
    const columns = newColumns(given);
    checkSql(...columns.flatMap(({ expression }) => expression ?? []));
    for (const { name, expression } of columns) await checkExpression(native, name, expression ?? '');
    const empty = columns.flatMap(({ name, dataType }) =>
      dataType === undefined ? [] : [new Field(name, dataType, true)],
    );
    checkTimeZones(empty);
    // The engine adds columns of nulls without writing a file, but it can't add columns with SQL in the same call. If
    // there are columns of both kinds, all are added by SQL, so that there is only one new version.
    if (empty.length === columns.length) return versionOf(await native.addColumns(empty));
    const expressions = columns.map(({ name, expression, dataType }) => ({
      name,
      valueSql: dataType === undefined ? expression : nullExpression(dataType),
    }));
    return versionOf(await native.addColumns(expressions));
  });
}

/**
 * Refuses SQL that computes a struct without fields, or a time zone that the engine can't store. In SQL, only a type name
 * in `arrow_cast` can create such a struct.
 */
async function checkExpression(native: NativeTable, column: string, sql: string): Promise<void> {
  if (/struct\s*\(\s*\)/i.test(sql)) throw emptyStructError(column);
  await checkTimeZonesOfSql(native, column, sql);
}

/**
 * Checks the type of a column that SQL computes, as `checkTimeZones` does. Only `arrow_cast` can set a time zone in
 * SQL, so other SQL is not checked: the engine must plan SQL to find its type, and that takes time.
 */
async function checkTimeZonesOfSql(native: NativeTable, column: string, sql: string): Promise<void> {
  if (!/\barrow_cast\b[^]*\btimestamp\b[^:]*:/i.test(sql)) return;
  // The engine can't plan a query that reads no column of the table.
  const first = (await native.schema()).fields[0]?.name ?? '';
  const columns = new Map([
    [first, `\`${first}\``],
    [column, sql],
  ]);
  const { fields } = await native.query().select(columns).outputSchema();
  checkTimeZones(fields.filter(({ name }) => name === column));
}

/** Renames columns, changes their types or makes them nullable ("AlterTableAlterColumns"). */
export function alterColumns(
  handle: TableHandle,
  changes: readonly ColumnChange[],
  options: CallOptions,
): Promise<WriteResult> {
  return handle.write('AlterTableAlterColumns', options, async (native) => {
    const checked = columnChanges(changes);
    checkTimeZones(checked.flatMap(({ path, dataType }) => (dataType ? [new Field(path, dataType)] : [])));
    const alterations = checked.map(({ path, rename, nullable, dataType }) => ({
      path,
      ...definedEntries({ rename, nullable }),
      ...(dataType !== undefined && { dataType: timeWord(dataType) }),
    }));
    return versionOf(await native.alterColumns(alterations));
  });
}

/** Drops columns ("AlterTableDropColumns"). */
export function dropColumns(handle: TableHandle, names: readonly string[], options: CallOptions): Promise<WriteResult> {
  return handle.write('AlterTableDropColumns', options, async (native) => {
    return versionOf(await native.dropColumns(checkTexts('dropColumns', 'column', names)));
  });
}

/**
 * Sets metadata entries of columns ("UpdateFieldMetadata"); `null` removes an entry.
 * @throws CatalogError ColumnNotFound (12)
 */
export function updateFieldMetadata(
  handle: TableHandle,
  updates: readonly FieldMetadataUpdate[],
  options: CallOptions,
): Promise<WriteResult> {
  return handle.write('UpdateFieldMetadata', options, async (native) => {
    checkFieldMetadata(updates);
    return versionOf(
      await native.updateFieldMetadata(
        updates.map(({ path, metadata, replace }) => ({
          path,
          metadata: { ...metadata },
          ...(replace !== undefined && { replace }),
        })),
      ),
    );
  });
}

const units = ['s', 'ms', 'us', 'ns'] as const;

/** Returns a type with a time unit as a string, because the engine can't read time units as numbers. */
function timeWord(type: DataType): DataType | string {
  if (DataType.isTimestamp(type)) return `timestamp:${units[type.unit]}:${type.timezone || '-'}`;
  if (DataType.isDuration(type)) return `duration:${units[type.unit]}`;
  if (DataType.isTime(type)) return `time${type.bitWidth}:${units[type.unit]}`;
  return type;
}

const versionOf = ({ version }: { version: number }): WriteResult => ({ version });

/**
 * Computes the missing values of a column that the engine computes.
 * @throws CatalogError InvalidInput (13) if the engine does not compute the column
 */
export function refreshColumn(handle: TableHandle, column: string, options: CallOptions): Promise<RefreshResult> {
  return handle.write('AlterTableBackfillColumns', options, async (native) => {
    const name = checkText('refreshColumn', 'column', column);
    const field = (await native.schema()).fields.find((each) => each.name === name);
    if (field && field.metadata.get('computed_column') !== 'true') {
      const what = `The engine does not compute the column "${name}".`;
      throw new CatalogError('InvalidInput', what, 'Call backfill() to fill a column that has its own function.');
    }
    const { rowsFilled, version } = await native.refreshColumn(name);
    return namedRefreshResult({ version, numFilledRows: rowsFilled });
  });
}

import { DataType, Field } from '#arrow';
import {
  checkColumnChanges,
  checkFieldMetadata,
  checkNewColumns,
  newColumnType,
} from '#catalog/arguments/columnArguments.ts';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { checkText, checkTexts } from '#catalog/arguments/tableArguments.ts';
import { nullExpression } from '#catalog/arrow/nullColumns.ts';
import type { ColumnChange, FieldMetadataUpdate, NewColumn } from '#catalog/table.ts';
import type { RefreshResult, WriteResult } from '#catalog/writeResults.ts';
import { CatalogError } from '#shared/errors.ts';
import { definedEntries } from '#shared/records.ts';
import { checkSql } from './checkSql.ts';
import type { TableHandle } from './tableHandle.ts';

/** Adds columns whose values are SQL expressions over other columns, or null ("AlterTableAddColumns"). */
export function addColumns(
  handle: TableHandle,
  columns: readonly NewColumn[],
  options: CallOptions,
): Promise<WriteResult> {
  return handle.write('AlterTableAddColumns', options, async (native) => {
    checkNewColumns(columns);
    checkSql(...columns.flatMap(({ expression }) => expression ?? []));
    const empty = columns.flatMap(({ name, dataType }) =>
      dataType === undefined ? [] : [new Field(name, newColumnType(name, dataType), true)],
    );
    // Columns of nulls need no file, but a separate call. If there are also columns with SQL, all are added by SQL, so
    // that there is only one new version.
    if (empty.length === columns.length) return versionOf(await native.addColumns(empty));
    const expressions = columns.map(({ name, expression, dataType }) => ({
      name,
      valueSql: dataType === undefined ? expression : nullExpression(newColumnType(name, dataType)),
    }));
    return versionOf(await native.addColumns(expressions));
  });
}

/** Renames columns, changes their types or makes them nullable ("AlterTableAlterColumns"). */
export function alterColumns(
  handle: TableHandle,
  changes: readonly ColumnChange[],
  options: CallOptions,
): Promise<WriteResult> {
  return handle.write('AlterTableAlterColumns', options, async (native) => {
    checkColumnChanges(changes);
    const alterations = changes.map(({ path, rename, nullable, dataType }) => ({
      path,
      ...definedEntries({ rename, nullable }),
      ...(dataType !== undefined && { dataType: timeWord(newColumnType(path, dataType)) }),
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
 * Computes the missing values of the engine's own computed columns. @throws CatalogError InvalidInput (13) for other
 * columns
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
    return { version, numFilledRows: rowsFilled };
  });
}

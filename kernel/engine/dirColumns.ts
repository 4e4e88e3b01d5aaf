import { DataType } from '#arrow';
import { adoptTable } from '#shared/adoptTable.ts';
import { CatalogError } from '#shared/errors.ts';
import { given } from '#shared/records.ts';
import { checkColumnChanges, checkNewColumns } from '#client/columnArguments.ts';
import { checkTexts } from '#client/tableArguments.ts';
import type { CallOptions } from '#client/callOptions.ts';
import type { ColumnChange, NewColumn, WriteResult } from '#client/table.ts';
import { checkSql } from './sqlLimits.ts';
import type { TableHandle } from './tableHandle.ts';

/** Adds columns whose values are SQL over the others ("AlterTableAddColumns"). */
export function addColumns(
  handle: TableHandle,
  columns: readonly NewColumn[],
  options: CallOptions,
): Promise<WriteResult> {
  return handle.write('AlterTableAddColumns', options, async (native) => {
    checkNewColumns(columns);
    for (const { expression } of columns) checkSql(expression);
    return versionOf(await native.addColumns(columns.map(({ name, expression }) => ({ name, valueSql: expression }))));
  });
}

/** Renames columns, changes their types or lets them be null ("AlterTableAlterColumns"). */
export function alterColumns(
  handle: TableHandle,
  changes: readonly ColumnChange[],
  options: CallOptions,
): Promise<WriteResult> {
  return handle.write('AlterTableAlterColumns', options, async (native) => {
    checkColumnChanges(changes);
    const alterations = changes.map(({ path, rename, nullable, dataType }) => ({
      path,
      ...given({ rename, nullable }),
      ...(dataType !== undefined && { dataType: ownType(path, dataType) }),
    }));
    return versionOf(await native.alterColumns(alterations));
  });
}

/** Removes columns ("AlterTableDropColumns"). */
export function dropColumns(handle: TableHandle, names: readonly string[], options: CallOptions): Promise<WriteResult> {
  return handle.write('AlterTableDropColumns', options, async (native) => {
    return versionOf(await native.dropColumns(checkTexts('dropColumns', 'column', names)));
  });
}

/**
 * Sets entries of the metadata of columns ("UpdateFieldMetadata"); `null` removes one.
 * @throws CatalogError ColumnNotFound (12)
 */
export function updateFieldMetadata(
  handle: TableHandle,
  updates: readonly {
    path: string;
    metadata: Readonly<Record<string, string | null>>;
    replace?: boolean | undefined;
  }[],
  options: CallOptions,
): Promise<WriteResult> {
  return handle.write('UpdateFieldMetadata', options, async (native) => {
    checkSome('updateFieldMetadata', updates);
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

/** A type of any copy of apache-arrow as one of ours, as that of the column of a table, or by the engine's word for it. */
function ownType(path: string, type: DataType): DataType | string {
  const adopted = adoptTable({ schema: { fields: [{ name: path, type, nullable: true }] }, batches: [] });
  if (adopted) return timeWord(adopted.schema.fields[0]!.type);
  throw new CatalogError('InvalidInput', `The new type of "${path}" is no Arrow type.`, 'Write new arrow.Int32().');
}

const units = ['s', 'ms', 'us', 'ns'] as const;

/** The engine writes units of time as numbers, which it does not read: those types are named to it. */
function timeWord(type: DataType): DataType | string {
  if (DataType.isTimestamp(type)) return `timestamp:${units[type.unit]}:${type.timezone || '-'}`;
  if (DataType.isDuration(type)) return `duration:${units[type.unit]}`;
  if (DataType.isTime(type)) return `time${type.bitWidth}:${units[type.unit]}`;
  return type;
}

const versionOf = ({ version }: { version: number }): WriteResult => ({ version });

function checkSome(call: string, list: readonly unknown[]): void {
  if (Array.isArray(list) && list.length > 0) return;
  throw new CatalogError('InvalidInput', `${call} was given no column.`, 'Name at least one.');
}

import { Field, Null, Schema, type DataType } from '#arrow';
import { adoptTable } from '#shared/arrow/adoptTable.ts';
import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import type { ColumnChange, FieldMetadataUpdate, NewColumn } from '#catalog/table.ts';
import { checkText, describeType } from './tableArguments.ts';
import { checkColumnNames } from '#catalog/tableData.ts';

// Checks of the arguments of calls that add, change or drop columns, the same for every implementation.

/** @throws CatalogError InvalidInput (13), SchemaValidation (20) if a column can't have the name */
export function checkNewColumns(columns: readonly NewColumn[]): void {
  for (const { name, expression, dataType } of records('addColumns', columns)) {
    checkNewName(checkText('addColumns', 'column', name));
    if (expression === undefined && dataType !== undefined) continue;
    if (dataType === undefined && typeof expression === 'string' && expression.trim() !== '') continue;
    throw new CatalogError(
      'InvalidInput',
      `The column "${String(name)}" has ${dataType === undefined ? 'no expression' : 'an expression and a type'}.`,
      'Set either SQL, for instance "price * 2", or a type for a column of nulls.',
    );
  }
}

/** @throws CatalogError InvalidInput (13), SchemaValidation (20) if a column can't have the new name */
export function checkColumnChanges(changes: readonly ColumnChange[]): void {
  for (const { path, rename, nullable, dataType } of records('alterColumns', changes)) {
    const column = checkText('alterColumns', 'column', path);
    if (rename === undefined && nullable === undefined && dataType === undefined) {
      throw new CatalogError(
        'InvalidInput',
        `The change of column "${column}" is empty.`,
        'Set rename, nullable or dataType.',
      );
    }
    if (rename !== undefined) checkNewName(checkText('alterColumns', 'new name', rename));
  }
}

/**
 * Checks that the metadata of each column holds strings, or `null` for a key to remove.
 * @throws CatalogError InvalidInput (13)
 */
export function checkFieldMetadata(updates: readonly FieldMetadataUpdate[]): void {
  for (const { path, metadata } of records('updateFieldMetadata', updates)) {
    const column = checkText('updateFieldMetadata', 'column', path);
    const entries = isRecord(metadata) ? Object.entries(metadata) : [];
    const wrong = entries.find(([, value]) => value !== null && typeof value !== 'string');
    if (isRecord(metadata) && !wrong) continue;
    const field = `the metadata of "${column}"`;
    throw new CatalogError(
      'InvalidInput',
      wrong
        ? `Expected a string for "${wrong[0]}" in ${field}, got ${describeType(wrong[1])}.`
        : `Expected an object for ${field}, got ${describeType(metadata)}.`,
      'Pass strings, or null to remove an entry.',
    );
  }
}

/**
 * Converts the type of a new column, from any copy of apache-arrow, to a type of this copy.
 * @throws CatalogError InvalidInput (13)
 */
export function newColumnType(name: string, type: DataType): DataType {
  const adopted = adoptTable({ schema: { fields: [{ name, type, nullable: true }] }, batches: [] });
  if (adopted) return adopted.schema.fields[0]!.type;
  throw new CatalogError(
    'InvalidInput',
    `Expected an Arrow type for column "${name}".`,
    'Use for instance new arrow.Int32().',
  );
}

/** The rules for column names are the same as when a table is created. */
const checkNewName = (name: string): void => void checkColumnNames(new Schema([new Field(name, new Null(), true)]));

function records(call: string, list: unknown): Readonly<Record<string, unknown>>[] {
  const given: unknown[] = Array.isArray(list) ? list : [];
  if (given.length === 0) {
    throw new CatalogError('InvalidInput', `${call} needs at least one column.`, 'Pass a list of columns.');
  }
  return given.map((item) => {
    if (isRecord(item)) return item;
    throw new CatalogError(
      'InvalidInput',
      `Expected an object for each column of ${call}, got ${describeType(item)}.`,
      'Pass an object for each column.',
    );
  });
}

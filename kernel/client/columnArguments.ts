import { Field, Null, Schema } from '#arrow';
import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import type { ColumnChange, NewColumn } from './table.ts';
import { checkText, whatItIs } from './tableArguments.ts';
import { checkColumnNames } from './tableData.ts';

// What is said of columns that are added, changed or dropped, checked the same for every implementation.

/** @throws CatalogError InvalidInput (13), SchemaValidation (20) for a name that no column may have */
export function checkNewColumns(columns: readonly NewColumn[]): void {
  for (const { name, expression } of records('addColumns', columns)) {
    checkNewName(checkText('addColumns', 'column', name));
    if (typeof expression === 'string' && expression.trim() !== '') continue;
    throw new CatalogError(
      'InvalidInput',
      `The column "${String(name)}" has no expression.`,
      'Write SQL, "price * 2".',
    );
  }
}

/** @throws CatalogError InvalidInput (13), SchemaValidation (20) for a name that no column may have */
export function checkColumnChanges(changes: readonly ColumnChange[]): void {
  for (const { path, rename, nullable, dataType } of records('alterColumns', changes)) {
    const column = checkText('alterColumns', 'column', path);
    if (rename === undefined && nullable === undefined && dataType === undefined) {
      throw new CatalogError(
        'InvalidInput',
        `Nothing is to change of "${column}".`,
        'Give rename, nullable or dataType.',
      );
    }
    if (rename !== undefined) checkNewName(checkText('alterColumns', 'new name', rename));
  }
}

/** The rules for the names of columns are the same as when a table is made. */
const checkNewName = (name: string): void => void checkColumnNames(new Schema([new Field(name, new Null(), true)]));

function records(call: string, list: unknown): Readonly<Record<string, unknown>>[] {
  const given: unknown[] = Array.isArray(list) ? list : [];
  if (given.length === 0) {
    throw new CatalogError('InvalidInput', `${call} was given no column.`, 'Give a list of at least one.');
  }
  return given.map((item) => {
    if (isRecord(item)) return item;
    throw new CatalogError('InvalidInput', `${call} was given ${whatItIs(item)} as a column.`, 'Give an object.');
  });
}

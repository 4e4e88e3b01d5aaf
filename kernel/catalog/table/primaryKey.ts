import { DataType, type Field } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { checkTexts } from '#catalog/arguments/tableArguments.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { CatalogError } from '#shared/errors.ts';
import type { Table } from './table.ts';
import type { WriteResult } from './writeResults.ts';

// The table format has no primary key that it enforces. The engine finds the key column by the metadata of the fields.

const isKey = 'lance-schema:unenforced-primary-key';
const position = `${isKey}:position`;

/** Whether a column is part of the primary key of its table. */
export const isPrimaryKey = ({ metadata }: Field): boolean => metadata.get(isKey) === 'true' || metadata.has(position);

/**
 * Marks a column as the one that identifies rows, in the metadata of the column. Nothing checks that its values are
 * unique.
 * @throws CatalogError ColumnNotFound (12); InvalidInput (13) if the table has such a column already, or if the column
 * can't be the key because of its type or its nulls
 */
export async function setUnenforcedPrimaryKey(
  table: Pick<Table, 'name' | 'schema' | 'updateFieldMetadata'>,
  column: string | readonly string[],
  options: CallOptions,
): Promise<WriteResult> {
  const names = checkTexts('setUnenforcedPrimaryKey', 'column', typeof column === 'string' ? [column] : column);
  const [path = ''] = names;
  if (names.length > 1) refuse(`A primary key has one column, not ${names.length}.`, 'Name one column.');
  const { fields } = await table.schema(options);
  const present = fields.find(isPrimaryKey);
  if (present) refuse(`Table "${table.name}" has the primary key "${present.name}" already.`, "It can't be changed.");
  const field = fields.find(({ name }) => name === path);
  if (!field) {
    const hint = 'See schema() for the columns.';
    throw new CatalogError('ColumnNotFound', `Table "${table.name}" has no column "${path}".`, hint);
  }
  const hint = 'Give its type in the schema when you create the table: Int32, Int64, Utf8 or Binary, not nullable.';
  if (field.nullable) refuse(`The column "${path}" may hold null, so it can't be the primary key.`, hint);
  if (!isKeyType(field.type))
    refuse(`The column "${path}" has the type ${typeText(field.type)}, so it can't be the primary key.`, hint);
  return table.updateFieldMetadata([{ path, metadata: { [position]: '1' } }], options);
}

const isKeyType = (type: DataType): boolean =>
  (DataType.isInt(type) && type.isSigned && type.bitWidth >= 32) ||
  DataType.isUtf8(type) ||
  DataType.isLargeUtf8(type) ||
  DataType.isBinary(type) ||
  DataType.isLargeBinary(type) ||
  DataType.isFixedSizeBinary(type);

function refuse(what: string, hint: string): never {
  throw new CatalogError('InvalidInput', what, hint);
}

import { Field, Null, Schema, type DataType } from '#arrow';
import { checkNoEmptyStruct } from '#catalog/arrow/unstorableTypes.ts';
import { typeOfJson } from '#catalog/arrow/jsonArrowTypes.ts';
import { adoptTable } from '#shared/arrow/adoptTable.ts';
import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import type {
  ColumnChange,
  ComputedColumns,
  FieldMetadataUpdate,
  NewColumn,
  NewColumns,
} from '#catalog/table/table.ts';
import { checkOptions } from './options.ts';
import { checkText, describeType } from './tableArguments.ts';
import { checkColumns } from '#catalog/table/tableData.ts';

// Checks of the arguments of calls that add, change or drop columns, the same for every implementation.

/**
 * Returns the columns to add, each with its SQL or, for a column of nulls, with its type.
 * @throws CatalogError InvalidInput (13), SchemaValidation (20) if a column can't have the name
 */
export function newColumns(columns: NewColumns): NewColumn[] {
  const isSchema = isRecord(columns) && Array.isArray(columns['fields']);
  const given: unknown = isSchema ? columns['fields'] : isField(columns) ? [columns] : columns;
  const added = records('addColumns', given);
  checkNamedOnce(added);
  return added.map((column) => {
    const name = checkText('addColumns', 'column', column['name']);
    checkNewName(name);
    if (isField(column)) return fieldColumn(name, column);
    checkOptions(`addColumns (column "${name}")`, column, ['name', 'dataType', 'expression', 'valueSql']);
    const { dataType, valueSql, expression = valueSql } = column;
    if (expression === undefined && dataType !== undefined) return { name, dataType: newColumnType(name, dataType) };
    if (dataType === undefined && typeof expression === 'string' && expression.trim() !== '')
      return { name, expression };
    throw new CatalogError(
      'InvalidInput',
      `The column "${name}" has ${dataType === undefined ? 'no expression' : 'an expression and a type'}.`,
      'Set either SQL, for instance "price * 2", or a type for a column of nulls.',
    );
  });
}

/** A field of a schema, of any copy of apache-arrow. */
type FieldLike = { type: unknown; nullable?: unknown; metadata?: unknown };

const isField = (value: unknown): value is FieldLike =>
  isRecord(value) && 'type' in value && !('expression' in value) && !('valueSql' in value) && !('dataType' in value);

/** Converts a field to a new column of nulls. */
function fieldColumn(name: string, { type, nullable, metadata }: FieldLike): NewColumn {
  if (nullable === false) {
    const what = `The new column "${name}" would hold only nulls, but its field does not allow them.`;
    throw new CatalogError('InvalidInput', what, 'Make the field nullable, or write { name, valueSql }.');
  }
  if (metadata instanceof Map && metadata.size > 0) {
    const what = `addColumns can't set the metadata of the column "${name}".`;
    throw new CatalogError('Unsupported', what, 'Add the column, then call updateFieldMetadata().');
  }
  return { name, dataType: newColumnType(name, type) };
}

/** A change of a column. The new type belongs to this copy of apache-arrow. */
export type CheckedColumnChange = Omit<ColumnChange, 'dataType'> & { dataType?: DataType };

/** Whether the call declares computed columns instead of adding columns with values. */
export const areComputed = (columns: NewColumns | ComputedColumns): columns is ComputedColumns =>
  isRecord(columns) && 'computed' in columns;

/**
 * Returns the names and expressions of computed columns.
 * @throws CatalogError InvalidInput (13), SchemaValidation (20) if a column can't have the name
 */
export function checkComputedColumns({ computed }: ComputedColumns): { name: string; valueSql: string }[] {
  const added = records('addColumns', computed);
  checkNamedOnce(added);
  return added.map(({ name, expression, valueSql }) => {
    const column = checkText('addColumns', 'column', name);
    checkNewName(column);
    return { name: column, valueSql: checkText('addColumns', `expression of "${column}"`, expression ?? valueSql) };
  });
}

/** @throws CatalogError InvalidInput (13), SchemaValidation (20) if a column can't have the new name */
export function columnChanges(changes: readonly ColumnChange[]): CheckedColumnChange[] {
  return records('alterColumns', changes).map(({ path, rename, nullable, dataType }) => {
    const column = checkText('alterColumns', 'column', path);
    if (rename === undefined && nullable === undefined && dataType === undefined) {
      throw new CatalogError(
        'InvalidInput',
        `The change of column "${column}" is empty.`,
        'Set rename, nullable or dataType.',
      );
    }
    if (rename !== undefined) checkNewName(checkText('alterColumns', 'new name', rename));
    return {
      path: column,
      ...(rename !== undefined && { rename: checkText('alterColumns', 'new name', rename) }),
      ...(nullable !== undefined && { nullable: nullable === true }),
      ...(dataType !== undefined && { dataType: newColumnType(column, dataType) }),
    };
  });
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
 * Converts the type of a new column, from any copy of apache-arrow or from its name, to a type of this copy.
 * @throws CatalogError InvalidInput (13)
 */
function newColumnType(name: string, type: unknown): DataType {
  if (typeof type === 'string') return namedType(name, type);
  const adopted = adoptTable({ schema: { fields: [{ name, type, nullable: true }] }, batches: [] });
  if (adopted) {
    checkNoEmptyStruct(adopted.schema.fields);
    return adopted.schema.fields[0]!.type;
  }
  throw new CatalogError(
    'InvalidInput',
    `Expected an Arrow type for column "${name}".`,
    'Use for instance new arrow.Int32().',
  );
}

/**
 * Returns the type with the given name in Lance: `float`, `timestamp:us:-`, `fixed_size_list:float:3`.
 * @throws CatalogError InvalidInput (13)
 */
function namedType(column: string, text: string): DataType {
  const [name = '', ...parts] = text.toLowerCase().split(':');
  const [first = '', second = '', third = ''] = parts;
  // A zone can have capital letters and colons.
  const zone = text.split(':').slice(2).join(':');
  const json = {
    timestamp: { type: name, unit: first, ...(zone !== '' && zone !== '-' && { timezone: zone }) },
    duration: { type: name, unit: first },
    time32: { type: name, unit: first },
    time64: { type: name, unit: first },
    date32: { type: name },
    date64: { type: name },
    decimal: { type: `decimal${first}`, length: Number(second) * 1000 + Number(third) },
    fixed_size_binary: { type: name, length: Number(first) },
    fixed_size_list: { type: name, length: Number(second), fields: [{ name: 'item', type: { type: first } }] },
  }[parts.length > 0 ? name : ''] ?? { type: parts.length > 0 ? '' : name };
  try {
    return typeOfJson(json);
  } catch (cause) {
    throw new CatalogError(
      'InvalidInput',
      `"${text}" is not the name of a type, for column "${column}".`,
      `Write for instance "float", "int64", "string" or "timestamp:us:-", or new arrow.Int32().`,
      { cause },
    );
  }
}

/** The rules for column names are the same as when a table is created. */
const checkNewName = (name: string): void => void checkColumns(new Schema([new Field(name, new Null(), true)]));

/** @throws CatalogError InvalidInput (13) if two new columns have one name */
function checkNamedOnce(columns: readonly Readonly<Record<string, unknown>>[]): void {
  const names = columns.map(({ name }) => name);
  const twice = names.find((name, index) => typeof name === 'string' && names.indexOf(name) !== index);
  if (typeof twice !== 'string') return;
  throw new CatalogError('InvalidInput', `addColumns was given the column "${twice}" twice.`, 'Name each column once.');
}

function records(call: string, list: unknown): Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(list)) {
    const what = `Expected a list of columns for ${call}, got ${describeType(list)}.`;
    throw new CatalogError('InvalidInput', what, 'Pass a list with an object for each column.');
  }
  const given: unknown[] = list;
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

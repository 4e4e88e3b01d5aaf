import type { RecordBatch, Schema, Table as ArrowTable } from '#arrow';
import { checkNoEmptyStruct } from '#catalog/arrow/unstorableTypes.ts';
import { inferRows } from '#catalog/arrow/inferRows.ts';
import { adoptTable } from '#shared/arrow/adoptTable.ts';
import { findDuplicate } from '#shared/arrow/columnPositions.ts';
import { schemaText } from '#shared/arrow/arrowTypes.ts';
import { withFullValidity } from '#shared/arrow/nullData.ts';
import { CatalogError } from '#shared/errors.ts';

/** Rows as objects, or an Arrow table of any copy of apache-arrow. */
export type TableData = readonly Record<string, unknown>[] | ArrowTable;

/**
 * Record batches of one schema as they arrive, of any copy of apache-arrow: a query's result, a reader, a generator.
 */
export type BatchSource = AsyncIterable<RecordBatch>;

/** Data to create tables from or to add to them. */
export type TableSource = TableData | BatchSource;

/**
 * Converts a schema of any copy of apache-arrow to this copy, as the schema of an empty table.
 * @throws CatalogError InvalidInput (13), SchemaValidation (20) for an invalid column
 */
export function adoptSchema(schema: Schema): Schema {
  const adopted = adoptTable({ schema, batches: [] });
  if (adopted) return checkColumns(adopted.schema);
  throw new CatalogError(
    'InvalidInput',
    'The schema is not an Arrow schema.',
    'Write for instance new arrow.Schema([new arrow.Field("id", new arrow.Int64())]).',
  );
}

/** Columns that the engine has in every table. */
const reserved: readonly string[] = [
  '_rowid',
  '_rowaddr',
  '_rowoffset',
  '_row_created_at_version',
  '_row_last_updated_at_version',
];

/**
 * Rejects names that the engine would reject only while it creates the table, and structs without fields, which the
 * engine can't store. Names of fields in a struct may have a dot.
 * @throws CatalogError SchemaValidation (20), InvalidInput (13) naming the column
 */
export function checkColumns(schema: Schema): Schema {
  const duplicate = findDuplicate(schema);
  if (duplicate !== undefined)
    throw new CatalogError('SchemaValidation', `Two columns have the name "${duplicate}".`, 'Rename one of them.');
  for (const { name } of schema.fields) {
    if (name === '') throw new CatalogError('SchemaValidation', 'A column has an empty name.', 'Give it a name.');
    if (name.includes('.')) {
      throw new CatalogError(
        'SchemaValidation',
        `The column "${name}" can't have a dot in its name.`,
        `Write it without dots, for instance "${name.replaceAll('.', '_')}", or pass an object for a struct.`,
      );
    }
    if (name.includes('`')) {
      const hint = 'SQL quotes names with backticks, so queries could not name this column.';
      throw new CatalogError(
        'SchemaValidation',
        `The column ${JSON.stringify(name)} can't have a backtick in its name.`,
        hint,
      );
    }
    if (reserved.includes(name)) {
      const hint = 'Choose another name.';
      throw new CatalogError('SchemaValidation', `The column name "${name}" is reserved by the engine.`, hint);
    }
  }
  checkNoEmptyStruct(schema.fields);
  return schema;
}

/**
 * Converts rows, or a table of any copy of apache-arrow, to a table of this copy.
 * @throws CatalogError SchemaValidation (20) if rows do not match or a column name is invalid, InvalidInput (13) for
 * other data
 */
export function toArrowTable(call: string, data: TableData, schema?: Schema): ArrowTable {
  const wanted = schema && adoptSchema(schema);
  if (Array.isArray(data)) {
    const made = inferRows(data, wanted);
    checkColumns(made.schema);
    return made;
  }
  const adopted = adoptTable(data);
  if (!adopted) {
    throw new CatalogError(
      'InvalidInput',
      `${call} was given neither rows nor an Arrow table.`,
      'Pass an array of objects or an Arrow table.',
    );
  }
  const table = withFullValidity(adopted);
  checkColumns(table.schema);
  if (wanted) checkSameColumns(call, table.schema, wanted);
  return table;
}

/**
 * Returns the data of a new table. Without data, returns an empty list, and the new table has the columns of the
 * schema.
 * @throws CatalogError InvalidInput (13) if there is neither data nor a schema
 */
export function newTableData(name: string, data: TableSource | undefined, schema: Schema | undefined): TableSource {
  if (data !== undefined) return data;
  if (schema !== undefined) return [];
  throw new CatalogError(
    'InvalidInput',
    `Can't create table "${name}": createTable was given neither rows nor a schema.`,
    'Pass rows, an Arrow table or record batches, or the option schema for an empty table.',
  );
}

/**
 * Checks that Arrow data has the columns of the schema given with it.
 * @throws CatalogError SchemaValidation (20) showing both lists of columns
 */
export function checkSameColumns(call: string, has: Schema, wants: Schema): void {
  if (schemaText(has) === schemaText(wants)) return;
  throw new CatalogError(
    'SchemaValidation',
    `${call} was given Arrow data with the columns (${schemaText(has)}) and a schema with (${schemaText(wants)}).`,
    'Leave the schema out, or convert the data first.',
  );
}

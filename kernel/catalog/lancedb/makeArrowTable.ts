import { type DataType, Field, FixedSizeList, Float32, Schema, Table as ArrowTable } from '#arrow';
import { checkOptions } from '#catalog/arguments/options.ts';
import type { Row } from '#catalog/arrow/inferRows.ts';
import { adoptSchema, toArrowTable } from '#catalog/table/tableData.ts';
import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import { unsupportedValue } from './unsupported.ts';

export type VectorColumnOptions = { type?: DataType | undefined };

export type MakeArrowTableOptions = {
  /** The columns, their order, types and metadata. Default: inferred from the rows. */
  schema?: Schema | undefined;
  /** Columns that hold vectors, with the type of the numbers in the vectors. Default type: 32-bit floats. */
  vectorColumns?: Readonly<Record<string, VectorColumnOptions>> | undefined;
  /** Not supported. Only `false` is allowed. */
  dictionaryEncodeStrings?: boolean | undefined;
};

/** Not supported as a value. */
export const MakeArrowTableOptions = unsupportedValue(
  'MakeArrowTableOptions',
  'Pass a plain object: makeArrowTable(rows, { schema }).',
);
/** Not supported as a value. */
export const VectorColumnOptions = unsupportedValue(
  'VectorColumnOptions',
  'Pass a plain object: { vectorColumns: { vector: { type: new arrow.Float32() } } }.',
);

/**
 * Converts rows to an Arrow table, as `createTable` and `add` do.
 * @throws CatalogError SchemaValidation (20) for rows that do not match, InvalidInput (13)
 */
export function makeArrowTable(
  rows: readonly Record<string, unknown>[],
  options: MakeArrowTableOptions = {},
  metadata?: ReadonlyMap<string, string>,
): ArrowTable {
  checkOptions('makeArrowTable', options, ['schema', 'vectorColumns', 'dictionaryEncodeStrings']);
  const { schema, vectorColumns, dictionaryEncodeStrings } = options;
  if (dictionaryEncodeStrings) {
    const what = "makeArrowTable can't encode strings by a dictionary.";
    throw new CatalogError('Unsupported', what, 'Leave dictionaryEncodeStrings out: columns are stored compressed.');
  }
  const made = toArrowTable('makeArrowTable', rows, schema);
  const table = vectorColumns && !schema ? withVectors(rows, made.schema, vectorColumns) : made;
  if (metadata === undefined) return table;
  const all = new Map([...table.schema.metadata, ...metadata]);
  return new ArrowTable(new Schema(table.schema.fields, all), table.batches);
}

/** Converts the rows again, with vectors in these columns. */
function withVectors(
  rows: readonly Row[],
  { fields, metadata }: Schema,
  columns: NonNullable<MakeArrowTableOptions['vectorColumns']>,
): ArrowTable {
  const typed = fields.map((field) => {
    if (!Object.hasOwn(columns, field.name)) return field;
    const first: unknown = rows.find((row) => row[field.name] !== null && row[field.name] !== undefined)?.[field.name];
    const length = isRecord(first) || Array.isArray(first) ? Number((first as { length?: unknown }).length) : 0;
    if (!(length > 0)) return field;
    const item = new Field('item', columns[field.name]?.type ?? new Float32(), true);
    return new Field(field.name, new FixedSizeList(length, item), field.nullable, field.metadata);
  });
  return toArrowTable('makeArrowTable', [...rows], adoptSchema(new Schema(typed, metadata)));
}

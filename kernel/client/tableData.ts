import type { Schema, Table as ArrowTable } from '#arrow';
import { CatalogError } from '#shared/errors.ts';
import { adoptTable } from '#shared/adoptTable.ts';
import { columnsOf } from '#shared/arrowTypes.ts';
import type { TableData } from './catalog.ts';
import { inferRows } from './inferRows.ts';

/** How an Arrow schema of any copy of apache-arrow becomes ours: as the schema of a table without rows. */
export function adoptSchema(schema: Schema): Schema {
  const adopted = adoptTable({ schema, batches: [] });
  if (adopted) return adopted.schema;
  throw new CatalogError(
    'InvalidInput',
    'The schema is not an Arrow schema.',
    'Write for instance new arrow.Schema([new arrow.Field("id", new arrow.Int64())]).',
  );
}

/**
 * Rows or a table of any copy of apache-arrow as a table of ours.
 * @throws CatalogError SchemaValidation (20) where rows do not fit, InvalidInput (13) for anything else
 */
export function toArrowTable(call: string, data: TableData, schema?: Schema): ArrowTable {
  const adopted = schema && adoptSchema(schema);
  if (Array.isArray(data)) return inferRows(data, adopted);
  const table = adoptTable(data);
  if (!table) {
    throw new CatalogError(
      'InvalidInput',
      `${call} was given neither rows nor an Arrow table.`,
      'Give an array of objects or an Arrow table.',
    );
  }
  if (adopted) checkSameColumns(call, table.schema, adopted);
  return table;
}

const words = (schema: Schema): string =>
  columnsOf(schema)
    .map(({ name, type }) => `${name}: ${type}`)
    .join(', ');

function checkSameColumns(call: string, has: Schema, wants: Schema): void {
  if (words(has) === words(wants)) return;
  throw new CatalogError(
    'SchemaValidation',
    `${call} was given an Arrow table with the columns (${words(has)}) and a schema with (${words(wants)}).`,
    'Leave the schema out, or convert the table first.',
  );
}

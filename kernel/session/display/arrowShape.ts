import { counted } from '#shared/markup.ts';
import { arrowTable, dataProperty, isArrowSchema, isArrowVector, isRecordBatch, isTableLike } from './shapes.ts';

/**
 * What an Arrow value inside of another value is called, `Table(3 rows × 2 columns)`: its insides are buffers, which say
 * nothing to a person. `undefined` for anything else.
 */
export function arrowShape(value: unknown): string | undefined {
  if (isArrowSchema(value)) return `Schema(${counted(value.fields.length, 'column')})`;
  if (isArrowVector(value)) return `Vector(${counted(value.length, 'value')})`;
  const isBatch = isRecordBatch(value);
  if (!isBatch && !isTableLike(value)) return undefined;
  const name = isBatch ? 'RecordBatch' : 'Table';
  try {
    const table = arrowTable(value);
    return table && `${name}(${counted(table.numRows, 'row')} × ${counted(table.numCols, 'column')})`;
  } catch {
    // A column type of a later Arrow.
    return dataProperty(value, 'schema') === undefined ? undefined : name;
  }
}

import { DataType, type Field, type Schema, type Table as ArrowTable } from '#arrow';
import { convertValue } from '#catalog/arrow/convertValue.ts';
import { columnReader } from '#catalog/arrow/rowValues.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';

/**
 * Refuses rows whose values change when the engine casts them to the types of the table: it drops fractions and times of
 * day, and parses strings. The rules are those for rows of objects. A cast that changes no value is accepted.
 * @param start the number of rows before these ones, for errors
 * @throws CatalogError SchemaValidation (20) naming row and column
 */
export function checkCasts(rows: ArrowTable, columns: Schema, start = 0): void {
  const types = new Map(columns.fields.map(({ name, type }) => [name, type as DataType]));
  rows.schema.fields.forEach(({ name, type }, position) => {
    const target = types.get(name);
    if (!target || isExact(type as DataType, target)) return;
    let row = start;
    for (const { data, numRows } of rows.batches) {
      const column = data.children[position];
      if (column) {
        const read = columnReader(column);
        for (let index = 0; index < numRows; index++)
          convertValue(target, read(index), { row: row + index, column: name });
      }
      row += numRows;
    }
  });
}

/** Whether the target holds every value of the type as it is. Lists of another length and other structs are not exact. */
function isExact(from: DataType, to: DataType): boolean {
  if (DataType.isDictionary(from)) return isExact(from.dictionary as DataType, to);
  if (DataType.isDictionary(to)) return isExact(from, to.dictionary as DataType);
  if (DataType.isNull(from) || typeText(from) === typeText(to)) return true;
  if (DataType.isInt(from) && DataType.isInt(to))
    return from.isSigned === to.isSigned ? from.bitWidth <= to.bitWidth : to.isSigned && from.bitWidth < to.bitWidth;
  if (DataType.isFloat(from) && DataType.isFloat(to)) return from.precision <= to.precision;
  if (isText(from)) return isText(to);
  if (isBytes(from)) return isBytes(to);
  if (isList(from) && isList(to)) return isExact(itemType(from), itemType(to));
  if (DataType.isFixedSizeList(from) && DataType.isFixedSizeList(to))
    return from.listSize === to.listSize && isExact(itemType(from), itemType(to));
  return false;
}

const isText = (type: DataType): boolean => /^(?:large_)?utf8(?:_view)?$/.test(typeText(type));
const isBytes = (type: DataType): boolean => /^(?:large_)?binary(?:_view)?$/.test(typeText(type));
const isList = (type: DataType): boolean => DataType.isList(type) || DataType.isLargeList(type);
const itemType = (type: DataType): DataType => (type.children[0] as Field).type as DataType;

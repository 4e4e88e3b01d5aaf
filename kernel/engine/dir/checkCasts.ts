import { DataType, type Field, type Schema, type Table as ArrowTable } from '#arrow';
import { convertValue } from '#catalog/arrow/convertValue.ts';
import { columnReader } from '#catalog/arrow/rowValues.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { CatalogError } from '#shared/errors.ts';

/**
 * Refuses rows whose values change when the engine casts them to the types of the table. The engine drops fractions and
 * times of day, and parses strings. The rules are the same as for rows that are passed as objects. A cast that changes
 * no value is accepted.
 * @param start how many rows of the same call precede `rows`; row numbers in errors start after them
 * @throws CatalogError SchemaValidation (20) naming row and column
 */
export function checkCasts(rows: ArrowTable, columns: Schema, start = 0): void {
  const types = new Map(columns.fields.map(({ name, type }) => [name, type as DataType]));
  rows.schema.fields.forEach(({ name, type }, position) => {
    const target = types.get(name);
    if (!target || isExact(type as DataType, target)) return;
    if (isShifted(type as DataType, target)) {
      const what = `The times of column "${name}" have no time zone, and the engine would take them as local times of the zone of the table.`;
      const hint = `Give the column the type ${typeText(target)}, or the time zone "UTC".`;
      throw new CatalogError('SchemaValidation', what, hint);
    }
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

/**
 * Whether `to` holds every value of `from` unchanged. False for lists of another length and for a different struct.
 */
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

/**
 * Whether the engine shifts values. If the target type has a time zone other than UTC, the engine takes times and dates
 * without a zone as local times of that zone.
 */
function isShifted(from: DataType, to: DataType): boolean {
  if (DataType.isDictionary(from)) return isShifted(from.dictionary as DataType, to);
  if (DataType.isTimestamp(to)) {
    const isLocal = DataType.isDate(from) || (DataType.isTimestamp(from) && !from.timezone);
    return isLocal && !!to.timezone && !utcNames.test(to.timezone);
  }
  return (to.children ?? []).some((field: Field, index) => {
    const child = DataType.isStruct(from)
      ? from.children.find(({ name }) => name === field.name)
      : (from.children?.[index] as Field | undefined);
    return child !== undefined && isShifted(child.type as DataType, field.type as DataType);
  });
}

const utcNames = /^(?:utc|etc\/utc|z|[+-]00:?00)$/i;

const isText = (type: DataType): boolean => /^(?:large_)?utf8(?:_view)?$/.test(typeText(type));
const isBytes = (type: DataType): boolean => /^(?:large_)?binary(?:_view)?$/.test(typeText(type));
const isList = (type: DataType): boolean => DataType.isList(type) || DataType.isLargeList(type);
const itemType = (type: DataType): DataType => (type.children[0] as Field).type as DataType;

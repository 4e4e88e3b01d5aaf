import { DataType, DateUnit } from '#arrow';
import { convertValue, isTypedArray } from '#catalog/arrow/convertValue.ts';
import { sqlType, sqlTimeUnits } from '#catalog/arrow/nullColumns.ts';
import { sqlLiteral } from '#catalog/sqlText.ts';
import { quotedText } from '#shared/sqlTokens.ts';
import { Decimal } from '#catalog/values/decimal.ts';

/**
 * Returns a JavaScript value as SQL for a column of this type. The value is first converted as in `add`, because the
 * engine would cast a literal of another type silently.
 * @param column the column of the value, for errors
 * @throws CatalogError SchemaValidation (20) for a value that `add` refuses, InvalidInput (13) for a value that SQL
 * can't express
 */
export function typedLiteral(type: DataType, value: unknown, column: string): string {
  // SQL has no literal for structs and maps. `sqlLiteral` accepts only null for them; its error names other ways.
  if (DataType.isStruct(type) || DataType.isMap(type)) return sqlLiteral(value, column);
  return convertedLiteral(type, convertValue(type, value, { column }), column);
}

/** @param value as `convertValue` returns it */
function convertedLiteral(type: DataType, value: unknown, column: string): string {
  if (value === null) return 'NULL';
  if (DataType.isDictionary(type)) return convertedLiteral(type.dictionary as DataType, value, column);
  if (DataType.isTimestamp(type)) {
    // The engine casts a time in UTC to the zone of the column without a change of its count. A time without a zone
    // would be shifted.
    return castLiteral(sqlLiteral(value, column), `Timestamp(${sqlTimeUnits[type.unit]}, Some("UTC"))`);
  }
  if (DataType.isDate(type) || DataType.isTime(type) || DataType.isDuration(type)) {
    const count = sqlLiteral(value, column);
    // The engine casts an integer to such a type only if both have the same width.
    const isShort = DataType.isDate(type) ? type.unit === DateUnit.DAY : DataType.isTime(type) && type.bitWidth === 32;
    return castLiteral(isShort ? castLiteral(count, 'Int32') : count, sqlType(type));
  }
  if (DataType.isDecimal(type))
    return castLiteral(`'${new Decimal(value as bigint, type.scale).toString()}'`, sqlType(type));
  if (DataType.isList(type) || DataType.isFixedSizeList(type) || DataType.isLargeList(type))
    return listLiteral(type, value as ArrayLike<unknown>, column);
  return sqlLiteral(value, column);
}

function listLiteral(type: DataType & { valueType: unknown }, value: ArrayLike<unknown>, column: string): string {
  const item = type.valueType as DataType;
  const isPlain = DataType.isInt(item) || DataType.isFloat(item) || DataType.isUtf8(item) || DataType.isBool(item);
  const items = Array.from<unknown>(value);
  // The short form `[…]` is fast for vectors. It can't contain null or function calls, and it can't be empty.
  const isShort = isTypedArray(value) || (isPlain && !items.some((each) => each === null || each === leastBigint));
  if (items.length > 0 && isShort) return sqlLiteral(items, column);
  const literals = items.map((each, position) =>
    each !== null && (DataType.isStruct(item) || DataType.isMap(item))
      ? sqlLiteral({}, `${column}[${position}]`)
      : convertedLiteral(item, each, `${column}[${position}]`),
  );
  return castLiteral(`make_array(${literals.join(', ')})`, sqlType(type));
}

/** The literal of this number is a function call. */
const leastBigint = -(2n ** 63n);

const castLiteral = (literal: string, type: string): string => `arrow_cast(${literal}, ${quotedText(type)})`;

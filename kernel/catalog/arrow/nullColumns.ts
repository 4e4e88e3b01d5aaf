import { DataType, DateUnit, TimeUnit, type Field } from '#arrow';
import { quotedText } from '#shared/sqlTokens.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { CatalogError } from '#shared/errors.ts';

// Columns of nulls on servers. The contract adds columns by SQL expression only, so this file writes null as an
// expression.

/**
 * Returns a SQL expression for null with the given type.
 * @throws CatalogError Unsupported (0) if SQL has no name for the type
 */
export const nullExpression = (type: DataType): string => `arrow_cast(NULL, ${quotedText(sqlType(type))})`;

/** The names of the units of time in the engine's SQL. */
export const sqlTimeUnits: Readonly<Record<TimeUnit, string>> = {
  [TimeUnit.SECOND]: 'Second',
  [TimeUnit.MILLISECOND]: 'Millisecond',
  [TimeUnit.MICROSECOND]: 'Microsecond',
  [TimeUnit.NANOSECOND]: 'Nanosecond',
};

/**
 * Returns the name of a type in the engine's SQL.
 * @throws CatalogError Unsupported (0) if SQL has no name for the type
 */
export function sqlType(type: DataType): string {
  if (DataType.isInt(type)) return `${type.isSigned ? 'Int' : 'UInt'}${type.bitWidth}`;
  if (DataType.isFloat(type)) return ['Float16', 'Float32', 'Float64'][type.precision] ?? unsayable(type);
  if (DataType.isBool(type)) return 'Boolean';
  if (DataType.isUtf8(type)) return 'Utf8';
  if (DataType.isLargeUtf8(type)) return 'LargeUtf8';
  if (DataType.isBinary(type)) return 'Binary';
  if (DataType.isLargeBinary(type)) return 'LargeBinary';
  if (DataType.isFixedSizeBinary(type)) return `FixedSizeBinary(${type.byteWidth})`;
  if (DataType.isDate(type)) return type.unit === DateUnit.DAY ? 'Date32' : 'Date64';
  if (DataType.isTime(type)) return `Time${type.bitWidth}(${sqlTimeUnits[type.unit]})`;
  if (DataType.isDuration(type)) return `Duration(${sqlTimeUnits[type.unit]})`;
  if (DataType.isTimestamp(type)) {
    const zone = type.timezone ? `Some("${named(type.timezone, type)}")` : 'None';
    return `Timestamp(${sqlTimeUnits[type.unit]}, ${zone})`;
  }
  if (DataType.isDecimal(type)) return `Decimal${type.bitWidth}(${type.precision}, ${type.scale})`;
  if (DataType.isFixedSizeList(type)) return `FixedSizeList(${type.listSize}, ${sqlType(itemOf(type))})`;
  if (DataType.isList(type)) return `List(${sqlType(itemOf(type))})`;
  if (DataType.isLargeList(type)) return `LargeList(${sqlType(itemOf(type))})`;
  if (DataType.isStruct(type))
    return `Struct(${type.children.map((each: Field) => `"${named(each.name, type)}": ${sqlType(each.type)}`).join(', ')})`;
  return unsayable(type);
}

const itemOf = (type: DataType): DataType => (type.children[0] as Field).type;

const named = (name: string, type: DataType): string => (/["\\]/.test(name) ? unsayable(type) : name);

function unsayable(type: DataType): never {
  throw new CatalogError(
    'Unsupported',
    `Can't add a column of type ${typeText(type)} on a server: SQL can't express this type.`,
    'Create the table with this column, or connect to the directory of the table and add the column there.',
  );
}

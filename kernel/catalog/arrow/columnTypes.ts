import { DataType, type FixedSizeList, Precision, type Schema } from '#arrow';
import { propertyName } from '#shared/literals.ts';
import type { ColumnType } from '#shared/protocol/languageMessages.ts';
import type { RowOptions } from './rowValues.ts';

type Int64 = NonNullable<RowOptions['int64']>;

/**
 * Maximum number of columns, and of characters in all their names and types. Code that uses a larger table is not worth
 * checking.
 */
const maxColumns = 1000;
const maxCharacters = 100_000;

/**
 * Returns the TypeScript types of the values that `readRows` gives for each column; `undefined` for a table that
 * exceeds these maximums, or has two columns of one name, which rows can't hold. Names in the types are written as
 * string literals.
 */
export function columnTypes({ fields }: Schema): ColumnType[] | undefined {
  const columns = fields.map(({ name, type, nullable }): ColumnType => {
    const text = (int64: Int64) => withNull(typeText(type, int64), nullable);
    const [usual, withBigints] = [text('number'), text('bigint')];
    return { name, type: usual, bigintType: withBigints === usual ? null : withBigints };
  });
  const isUnique = new Set(fields.map(({ name }) => name)).size === fields.length;
  const characters = columns.reduce((sum, { name, type }) => sum + name.length + type.length, 0);
  return isUnique && columns.length <= maxColumns && characters <= maxCharacters ? columns : undefined;
}

const withNull = (text: string, nullable: boolean): string =>
  nullable && text !== 'any' && text !== 'null' ? `${text} | null` : text;

const own = (name: string): string => `import("lance-catalog").${name}`;

function typeText(type: DataType, int64: Int64): string {
  if (DataType.isNull(type)) return 'null';
  if (DataType.isBool(type)) return 'boolean';
  if (DataType.isInt(type)) return type.bitWidth === 64 ? int64 : 'number';
  if (DataType.isFloat(type)) return 'number';
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) return 'string';
  if (DataType.isBinary(type) || DataType.isLargeBinary(type) || DataType.isFixedSizeBinary(type)) return 'Uint8Array';
  // `Timestamp`, the class for values with finer digits, extends `Date`.
  if (DataType.isTimestamp(type) || DataType.isDate(type)) return 'Date';
  if (DataType.isTime(type)) return own('Time');
  if (DataType.isDuration(type)) return own('Duration');
  if (DataType.isDecimal(type)) return own('Decimal');
  if (DataType.isFixedSizeList(type)) return vectorText(type, int64) ?? listText(type, int64);
  if (DataType.isList(type) || DataType.isLargeList(type)) return listText(type, int64);
  if (DataType.isStruct(type)) return structText(type, int64);
  if (DataType.isMap(type)) {
    const [keys, values] = type.childType.children;
    if (!keys || !values) return 'any';
    return `Map<${typeText(keys.type as DataType, int64)}, ${withNull(typeText(values.type as DataType, int64), values.nullable)}>`;
  }
  if (DataType.isUnion(type)) {
    const texts = type.children.map((child) => withNull(typeText(child.type as DataType, int64), child.nullable));
    return texts.length === 0 || texts.includes('any') ? 'any' : `(${[...new Set(texts)].join(' | ')})`;
  }
  if (DataType.isDictionary(type)) return typeText(type.dictionary as DataType, int64);
  // Views of strings and bytes, intervals, and types that a later version of the format adds are as Arrow gives them.
  return 'any';
}

function listText(type: DataType, int64: Int64): string {
  const [item] = type.children;
  if (!item) return 'any';
  const text = withNull(typeText(item.type as DataType, int64), item.nullable);
  return text.includes(' | ') ? `(${text})[]` : `${text}[]`;
}

const integers: Partial<Record<number, string>> = { 8: 'Int8Array', 16: 'Int16Array', 32: 'Int32Array' };

/**
 * Returns the type of a vector, a typed array; `undefined` if the items are not numbers of a typed array. A vector that
 * has a null is an array; the type leaves this rare case out.
 */
function vectorText(type: FixedSizeList, int64: Int64): string | undefined {
  const item = type.valueType as DataType;
  if (DataType.isFloat(item)) return item.precision === Precision.DOUBLE ? 'Float64Array' : 'Float32Array';
  if (!DataType.isInt(item)) return undefined;
  if (item.bitWidth < 64) return item.isSigned ? integers[item.bitWidth] : `Ui${integers[item.bitWidth]?.slice(1)}`;
  return int64 === 'bigint' ? `Big${item.isSigned ? 'Int' : 'Uint'}64Array` : undefined;
}

const structText = (type: DataType, int64: Int64): string =>
  `{ ${type.children.map((child) => `${propertyName(child.name)}: ${withNull(typeText(child.type as DataType, int64), child.nullable)};`).join(' ')} }`;

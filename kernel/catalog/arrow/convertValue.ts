import { DataType, DateUnit, Precision, type TimeUnit } from '#arrow';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import { inUnit, unitName } from './timestamps.ts';

/** Position of a value, for errors. Without `row` the value is the new value of a whole column. */
export type Place = { row?: number | undefined; column: string };

/** The class name of an object of any realm, because a notebook cell may run in a realm with another `Date` class. */
export const builtinTag = (value: object): string => Object.prototype.toString.call(value).slice(8, -1);

type TypedArray = ArrayLike<number | bigint> & ArrayBufferView;

export const isTypedArray = (value: unknown): value is TypedArray =>
  ArrayBuffer.isView(value) && builtinTag(value) !== 'DataView';

/** @throws CatalogError SchemaValidation (20), always */
export function fail(place: Place, problem: string, hint: string): never {
  const where =
    place.row === undefined ? `The value for "${place.column}"` : `Column "${place.column}" of row ${place.row}`;
  throw new CatalogError('SchemaValidation', `${where} ${problem}.`, hint);
}

/**
 * Converts a value to the form that the builder of its Arrow type accepts (for timestamps, the builder of the storage
 * type; see timestamps.ts). Values of a wrong type are rejected here, because the builders would silently write wrong
 * data.
 * @throws CatalogError SchemaValidation (20) naming row and column
 */
export function convertValue(type: DataType, value: unknown, place: Place): unknown {
  if (value === null || value === undefined) return null;
  if (DataType.isDictionary(type) && !DataType.isTimestamp(type.dictionary)) {
    return convertValue(type.dictionary, value, place);
  }
  if (DataType.isInt(type)) return toInt(type.bitWidth, type.isSigned, value, place);
  if (DataType.isFloat(type)) return toFloat(type.precision, value, place);
  if (DataType.isBool(type)) return typeof value === 'boolean' ? value : misfit(type, value, place);
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) {
    return typeof value === 'string' ? value : misfit(type, value, place);
  }
  if (DataType.isBinary(type) || DataType.isLargeBinary(type) || DataType.isFixedSizeBinary(type)) {
    if (!isTypedArray(value) || builtinTag(value) !== 'Uint8Array') return misfit(type, value, place);
    if (DataType.isFixedSizeBinary(type) && value.length !== type.byteWidth) {
      return fail(place, `has ${value.length} bytes`, `Pass ${type.byteWidth} bytes.`);
    }
    return value;
  }
  if (DataType.isTimestamp(type)) return toTimestamp(type.unit, value, place);
  if (DataType.isDate(type)) {
    const time = timeOf(value, place);
    if (type.unit === DateUnit.DAY && time % 86_400_000 !== 0) {
      return fail(place, 'is not midnight UTC', 'Pass a whole day.');
    }
    return new Date(time);
  }
  if (DataType.isDecimal(type)) return toDecimal(type, value, place);
  if (DataType.isList(type) || DataType.isFixedSizeList(type)) {
    if (!Array.isArray(value) && !isTypedArray(value)) return misfit(type, value, place);
    const items: unknown[] = Array.from(value);
    if (DataType.isFixedSizeList(type) && items.length !== type.listSize) {
      return fail(place, `has ${items.length} elements`, `Pass ${type.listSize} elements.`);
    }
    const item: DataType = type.valueType;
    return items.map((element) => convertValue(item, element, place));
  }
  if (DataType.isStruct(type)) return toStruct(type, value, place);
  return fail(
    place,
    `has the type ${typeText(type)}, which objects can't be converted to`,
    'Pass an Arrow table instead.',
  );
}

const misfit = (type: DataType, value: unknown, place: Place): never =>
  fail(place, `is ${describe(value)} where ${typeText(type)} is expected`, 'Convert it, or change the schema.');

const describe = (value: unknown): string =>
  typeof value === 'object' && value !== null ? `a ${value.constructor?.name ?? 'object'}` : `a ${typeof value}`;

function toInt(bits: number, signed: boolean, value: unknown, place: Place): number | bigint {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return fail(place, `is ${value}, which a number can't hold exactly`, 'Use a bigint, for instance 123n.');
  }
  if (typeof value !== 'bigint' && !(typeof value === 'number' && Number.isSafeInteger(value))) {
    return fail(place, `is ${typeof value === 'number' ? value : describe(value)}`, 'Use a whole number or a bigint.');
  }
  const whole = BigInt(value);
  const fits = signed ? BigInt.asIntN(bits, whole) : BigInt.asUintN(bits, whole);
  if (fits !== whole)
    return fail(place, `is ${whole}, which ${signed ? 'Int' : 'Uint'}${bits} can't hold`, 'Use a wider type.');
  return bits === 64 ? whole : Number(whole);
}

/** Rounds fractions as floats do; rejects whole numbers that the type does not hold exactly. */
function toFloat(precision: Precision, value: unknown, place: Place): number {
  if (typeof value !== 'number' && typeof value !== 'bigint') {
    return fail(place, `is ${describe(value)}`, 'Use a number.');
  }
  const number = Number(value);
  if (typeof value === 'bigint' && BigInt(number) !== value) {
    return fail(place, `is ${value}, which a float can't hold exactly`, 'Use an integer type.');
  }
  if (Number.isInteger(number) && !holdsWhole(precision, number)) {
    const type = precision === Precision.HALF ? 'Float16' : 'Float32';
    return fail(place, `is ${value}, which a ${type} can't hold exactly`, 'Use a wider type.');
  }
  return number;
}

function holdsWhole(precision: Precision, whole: number): boolean {
  if (precision === Precision.DOUBLE) return true;
  if (precision === Precision.SINGLE) return Math.fround(whole) === whole;
  // A half has 11 significant bits and a largest value of 65,504.
  const size = Math.abs(whole);
  const step = 2 ** Math.max(0, Math.floor(Math.log2(size)) - 10);
  return size <= 65_504 && Number.isInteger(size / step);
}

const isDate = (value: unknown): boolean => typeof value === 'object' && value !== null && builtinTag(value) === 'Date';

function timeOf(value: unknown, place: Place): number {
  if (!isDate(value)) return fail(place, `is ${describe(value)}`, 'Use a Date.');
  const time = Date.prototype.getTime.call(value);
  return Number.isNaN(time) ? fail(place, 'is an invalid Date', 'Use a valid Date or null.') : time;
}

/**
 * Returns a timestamp as it is stored, counted in its unit. A bigint value is already this count. A bigint can be more
 * precise than a `Date`.
 */
function toTimestamp(unit: TimeUnit, value: unknown, place: Place): bigint {
  if (typeof value !== 'bigint' && !isDate(value)) {
    return fail(place, `is ${describe(value)}`, `Use a Date, or a bigint that counts ${unitName(unit)} since 1970.`);
  }
  const count = typeof value === 'bigint' ? value : inUnit(unit, timeOf(value, place));
  if (count === undefined) return fail(place, 'is not a whole second', 'Use a finer unit.');
  if (BigInt.asIntN(64, count) !== count) {
    const what = isDate(value) ? `the year ${new Date(timeOf(value, place)).getUTCFullYear()}` : `${count}`;
    return fail(place, `is ${what}, which 64 bits of ${unitName(unit)} can't hold`, 'Use a coarser unit.');
  }
  return count;
}

function toDecimal(
  type: { precision: number; scale: number; bitWidth: number },
  value: unknown,
  place: Place,
): Uint32Array {
  const text = typeof value === 'bigint' || typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  const parts = /^(-?)(\d+)(?:\.(\d*))?$/.exec(text);
  const fraction = parts?.[3] ?? '';
  if (!parts || fraction.length > type.scale) {
    return fail(
      place,
      `is ${text === '' ? describe(value) : text}`,
      `Use a number with at most ${type.scale} decimals.`,
    );
  }
  const digits = parts[2]! + fraction.padEnd(type.scale, '0');
  if (digits.replace(/^0+/, '').length > type.precision) {
    return fail(place, `is ${text}`, `Use at most ${type.precision} digits.`);
  }
  return decimalToWords(BigInt(digits) * (parts[1] ? -1n : 1n), type.bitWidth);
}

/** The unscaled value of a decimal as little-endian 32-bit words in two's complement. */
function decimalToWords(unscaled: bigint, bits: number): Uint32Array {
  const words = new Uint32Array(bits / 32);
  let rest = BigInt.asUintN(bits, unscaled);
  for (let i = 0; i < words.length; i++) {
    words[i] = Number(rest & 0xffff_ffffn);
    rest >>= 32n;
  }
  return words;
}

function toStruct(
  type: { children: readonly { name: string; type: DataType }[] },
  value: unknown,
  place: Place,
): unknown {
  if (!isRecord(value)) return fail(place, `is ${describe(value)}`, 'Use an object.');
  const members = value;
  const extra = Object.keys(members).find((name) => !type.children.some((child) => child.name === name));
  if (extra !== undefined)
    return fail({ ...place, column: `${place.column}.${extra}` }, 'is not in the schema', 'Leave it out.');
  return Object.fromEntries(
    type.children.map(({ name, type: inner }) => [
      name,
      convertValue(inner, members[name], { ...place, column: `${place.column}.${name}` }),
    ]),
  );
}
